"""Finds endless series of pages, and sets them aside.

options        its option
page_filters   decides about pages that were found, in the transaction that inserts them
branches       branches of a site, what is counted of them, and which of them say nothing new
bounds         bounds of URLs
novelty        what a page says, as hashes
page_steps     reads it
result_fields  what a page says, in its result
crawl_keys     its keys in Redis
memory         what the crawl has read, in Redis
"""

SEAMS = ("options", "crawl_keys", "page_filters", "page_steps", "result_fields")
