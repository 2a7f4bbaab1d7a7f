"""How the project is started on one machine: what `bin/crawl`, `bin/up` and `bin/test` do after their first lines.

install       .venv and the pinned packages (runs before any of them is there)
redis_server  the Redis to use: one that is there, or an embedded one
children      processes that end with the one that started them; `guardian` sees to it
database      migrations, when there are any to apply
workers       RQ workers for as long as one command runs
crawl, up     the two commands
worker        `bin/worker`: RQ's worker with the settings of `.env`
rq_dashboard  RQ's dashboard on loopback, behind a password
chromium      the browser the tests need
"""
