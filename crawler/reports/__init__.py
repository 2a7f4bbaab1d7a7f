"""Reports on a crawl, read-only.

receipt_parts     what capabilities add to it
crawl_parts       what capabilities show of a crawl besides
receipt           the totals of a crawl, for page, command line, export and notice
progress          state and progress of a crawl, its pages by depth and host
diagnosis         why a crawl is not finished; diagnosis_facts, diagnosis_text
explanation       the same, in sentences
cause_text        shortages, holds and waits of hosts, in sentences
end_text          why a crawl ended, as a sentence
hints             what is odd about a crawl as a whole, and what to do
host              the state of one host in all crawls
page_table        the table of pages: columns, filters, counts
page_detail       one page, as values and as text
page_parts        what capabilities tell of one page
host_load         the hosts that slow a crawl down, while it runs and in its receipt
links             inlinks, orphans, dead letters
catalogue/        reports on a site, one file each
comparison        differences of two crawls
graph             the graph of pages and links
traps             traps of a crawl
crawl_search      which crawls a list has
metrics           metrics for monitoring
scale             how many workers would be useful, and why
workforce         the workers at one moment, for all parts of a page
extraction_text   why a field could not be extracted, in words
slowdown_text     how a host responds and is slowed down, in words
text              numbers, outcomes, receipts, notices and confirmations as text
result_cache      computed results of finished crawls, in files
adding            replies to users who add or change pages
dead_letters      dead letters of many crawls
queue_figures     figures of a crawl's queue
"""
