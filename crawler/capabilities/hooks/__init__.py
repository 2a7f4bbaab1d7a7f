"""Hooks: the operator's own Python classes, named in CRAWLER_HOOKS, that see each page and the end of each crawl.

Such a class imports its names from `crawler.hooks`. docs/hooks.md says what its methods may do.

counts    how often they were called, and the fields they found
conf      their settings
loading   the classes that the settings name
calls     calls a method with a time limit, and contains its errors
subscribers  calls `on_closed` and `on_finished`, after the commit
page_readers  gives kept HTML to them
page_rows   counts the calls with pages that are closed
crawl_parts    counts of calls, on the page of a crawl and as metrics
receipt_parts  the calls with pages, in the receipt
page_steps  gives pages to them
on_page   the hooks of a crawl on one page
"""

SEAMS = ("page_steps", "page_rows", "page_readers", "subscribers", "receipt_parts", "crawl_parts")
