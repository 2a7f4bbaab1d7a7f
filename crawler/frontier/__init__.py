"""The crawl's working memory in Redis. All of it can be lost and rebuilt from the table.

keys      how the keys are named
script    loads the Lua files of `lua/`
window    open pages waiting to be fetched, per host, with due times; what is handed out
leases    fetch jobs' claims on their batches
results   the results list, the dirty mark and the tick's lock
seen      the seen-set: URLs that are surely stored
dead      the dead letters: pages given up lately
members   how a page is written in a queue
gate      one host's connections and delay, kept over all workers and crawls
manners   what all crawls know of hosts: Crawl-delay, throttle, whether they answer
hosts     who uses a host's connections, whose pages wait for it, and the end of that wait
silence   hosts of a crawl that do not answer
robots    what is remembered of robots.txt files
glance    what people may want to see of all that, at one moment
crowd     what monitors want to see of many crawls at once
ticks     how long ticks take
clock     the clock all workers agree on
"""
