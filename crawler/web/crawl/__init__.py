"""Pages of a crawl.

crawls         list, start, crawl page
status         where a crawl stands, for template and JSON
crawl_summary  statuses, reasons, notices, receipt
charts         speed, outcomes, depths and hosts
control        pause, resume, cancel, delete, retry, share
page_detail    one page of a crawl, and its kept content
lists          dead letters, orphans, traps
reports        reports and comparisons
graph          the link graph
diagnosis      why a crawl is not finished
exports        downloads
notices        log of deliveries
schedules      crawls that are started again and again
"""
