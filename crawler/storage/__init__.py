"""Tables of a crawl.

writer          the one writer of page rows (R1)
deaths          what it writes when a worker died
additions       a part of it: pages that users add or open again
counters        the counters of a crawl's row
sql             the statements of both, and the pages requested per user and day
page_rows       what capabilities store of pages
page_tables     their tables with a row for some pages
queries         reads of page rows
quarantine      pages kept out as an endless series
content         the content of pages, in Django's storage
response_cache  stored HTTP responses
database        whether the tables fit this version; timeouts of PostgreSQL sessions
bulk            one statement for many rows
fields          replaces extracted fields of closed pages
"""
