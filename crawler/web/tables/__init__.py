"""Tables of the web pages.

page_table  the table of all pages of a crawl
rows        rows of other lists
paging      their paging
"""
