"""The fetch job.

loop           one fetch job: its batch, many hosts at a time
job_work       what it does at the moment, as its batches see it
schedule       slices that wait for a moment or a connection
session        the batch: its lease, slices and reports
slice          pages of one host, one after the other
page           one page: request, parse, result
page_step      what capabilities do with it
page_result    what a response says about its page
sitemap        what a sitemap names
robots_check   whether robots.txt allows a page
connection_slot  a slice's right to one of a host's connections
host_slot      with the grants of its requests: a slice's client of the host limiter
slot_watch     ends requests whose slot is about to expire
xpath          XPath of extraction rules, in a process of its own
preview        extraction rules tried on one page
result_buffer  gathers results and leaves them for the manager
summary        the return value of the job
pool           keep-alive connections for the next slice of a host
work_stealing  takes other jobs while the batch is blocked
job_signal     wakes a job with idle connections when a job is sent
hand_back      batches of a newer version are handed back
"""
