"""A site that does everything to a crawler that a hostile one can, and one crawl of it.

    python -m tests.hostile [--port N]    serve it, to be looked at or crawled by something else

- `server`: threads and raw sockets; counts every byte it gets rid of, and who knocks at the canary
- `traps`: the table: each trap, what it does, and what must come of it
- `saying`: how traps say what they say
- `secure`: the hosts that are asked by https, and their certificates
"""
