"""The crawl's working memory in Redis. All of it can be lost and rebuilt from the tables.

frontier            one crawl's keys behind one object
keys                names of the keys
scripts, lua/       Lua scripts, each wrapped by one Python method
ready_queue         open pages waiting per host, with due times; what is handed out
leases, heartbeat   fetch jobs' claims on their batches, and their renewal
results             results list, dirty mark, tick lock
seen_set            URLs that are surely stored
dead_letters        pages given up
host_limiter        connections and delay of a host, over all workers and crawls
host_state          what is known of hosts: Crawl-delay, throttle, whether they answer
unresponsive_hosts  hosts of a crawl that do not answer
robots              remembered robots.txt files
capacity            room in Redis
inspect             read-only snapshot of a crawl and of hosts
metrics             gauges over all crawls, durations of ticks
rate_limit          counters for logins and API calls
"""
