"""The crawl's working memory in Redis. All of it can be lost and rebuilt from the table.

keys      how the keys are named
script    loads the Lua files of `lua/`
window    open pages waiting to be fetched, per host, with due times; what is handed out
leases    fetch jobs' claims on their batches
results   the results list, the dirty mark and the tick's lock
seen      the seen-set: URLs that are surely stored
gate      one host's connections and delay, kept over all workers and crawls
memory    small caches shared by workers (robots.txt) and the clock all of them agree on
"""
