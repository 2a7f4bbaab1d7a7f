"""What is told about a crawl, read-only.

receipt           the sum of a crawl: behind page, command line, export and notice
progress          where a crawl stands, how deep its pages lie and on which hosts
diagnosis         why a crawl is not finished; diagnosis_facts, diagnosis_text
host              one host over all crawls
page_table        the table of pages: columns, filters, counts
page_detail       all that is known of one page, as values and as text
links             inlinks, orphans, dead letters
catalogue/        reports on a site, one file each
comparison        two crawls side by side
graph             pages and links as a picture
traps             traps of a crawl
metrics           figures for monitoring
text              numbers, outcomes, receipts, notices and confirmations as text
result_cache      computed results of finished crawls, in files
"""
