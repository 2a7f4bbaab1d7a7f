"""RQ.

queues   queue names, job names, jobs of each kind
job_guard  which jobs are run, and which of their fields are read
workers  live workers, registration
wakeups  enqueues ticks; keeps at least one job queued for each running crawl (R5, R8)
end_signal  wakes commands that wait for a crawl
liveness finds running crawls without a sign of life, and wakes them
duties   what a scan gives to its duties, and gets from them
startup  waits for Redis and the database when a process starts
installation  whose Redis it is: that of one database
alive    a file whose age says whether a process is alive
processes     what capabilities do at the start of a process, and around each job
"""
