"""The pages of a crawl.

outcomes      how a page can close: one entry for each outcome
page_field    the description of a page's field
page_fields   the fields of a page: one entry each, for exports, API, table and docs
page_query    filters, sorting and keyset cursors of the page table
placement     priority and time of pages that users add
content_formats  the formats in which content is kept
code_calls    calls of users' own code, as results and tables have them
graph         pages and links as a graph, redirect chains
traps         why pages are kept out as an endless series
cache_policy  which responses may be used again (RFC 9111)
"""
