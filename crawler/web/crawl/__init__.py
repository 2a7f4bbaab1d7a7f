"""Pages of a crawl.

crawls         list, start, crawl page
status         the state of a crawl, for template and JSON
crawl_summary  statuses, reasons, notices, receipt; charts of speed, outcomes, depths and hosts
control        pause, resume, cancel, delete, retry, share
pages          one page and its kept content; dead letters, orphans, traps; downloads
reports        reports and comparisons
graph          the link graph
gallery        the screenshots
diagnosis      why a crawl is not finished
notices        log of deliveries
schedules      crawls that are started again and again
dead_letters   dead letters of all crawls
queue          add pages, request pages again, change options
"""
