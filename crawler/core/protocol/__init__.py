"""The decisions of the crawl protocol (docs/protocol.md).

messages      the messages between manager and fetch jobs
result_fields what capabilities add to the result of a page
fetch_policy  what a fetch job has to know of its crawl
discovery     which pages a result adds
lanes         the ways in which pages are fetched, each with workers of its own
page_readers  what capabilities read from pages
added_links   links of a result that are not in its HTML
retries       which pages are retried, when, and until when; pages that crashed a worker
collectors    which collector stores the results of a batch
counters      counts of pages by outcome
completion    states of a crawl, when it is finished, and why it ended
progress      speed, time left, its chart and event stream
flow          pages a minute into the queue and out of it
holds         why a paused crawl is paused
diagnosis     why a crawl is not finished
"""
