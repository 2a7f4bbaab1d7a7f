"""The crawl's state in Redis. All of it can be lost and rebuilt from the tables.

frontier            one crawl's keys behind one object
keys                names of the keys
scripts, lua/       Lua scripts, each wrapped by one Python method
ready_queue         open pages waiting per host, with due times; pages handed out
queue_changes       changes of it that users ask for
leases              fetch jobs' claims on their batches, and their renewal
results             results list, dirty mark, tick lock
seen_set            URLs that are certainly in the table; dead letters (failed pages)
slots               the workers of slot lanes, and how many pages they take at a time
host_limiter        slots and delay of a host, over all workers and crawls
host_state          state of hosts: Crawl-delay, throttle, response time; those that do not respond
host_throttle       the throttle of a host: what responses say, and what follows from it, over all workers and crawls
robots              cached robots.txt files
proxy_health        proxies of a crawl that cannot be connected to
capacity            free capacity of Redis
inspect             read-only snapshot of a crawl and of hosts
workload            what running crawls could request soon, by host
autoscalers         the autoscalers that run; which workers are whose
metrics             gauges over all crawls, durations of ticks
rate_limit          counters for logins and API calls
"""
