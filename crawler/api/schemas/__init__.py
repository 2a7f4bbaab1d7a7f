"""What the API takes and returns.

fields    what a schema takes from a row
start     what starts a crawl
crawl     crawls, receipts, diagnosis, traps
page      pages, and the filters of a list
progress  figures of a crawl
reports   reports, comparisons, the graph
scale     useful workers
account   channels, deliveries, tokens, quotas
"""
