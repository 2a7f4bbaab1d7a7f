"""What a user can do with a crawl.

start        validate, insert the rows, wake the manager
crawl_checks  what capabilities check of a crawl before it starts and while it runs
credentials  whether a crawl's credentials may be sent, and where
import_urls  start a crawl over a list of URLs of any length
actions      what a user can do with a crawl's state, each once, for page, API and commands
control      pause, resume, cancel, finalize; sharing and retention
holds        pause crawls while the owner's quota is exhausted or disk or memory is low; retry during outages
change       change the options of a crawl under way
retry        request failed pages and pages of traps again, in a further round (pages that users add: manager.add)
delete       delete a crawl, and those past retention
kept_extraction  extract fields again from kept HTML
reconcile    do the work that is due for unfinished crawls, duty by duty (R7)
schedules    crawls that are started again and again
"""
