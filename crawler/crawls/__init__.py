"""What a user can do with a crawl.

start        validate, insert the rows, wake the manager
credentials  whether a crawl's credentials may be sent, and where
import_urls  start a crawl over a list of URLs of any length
control      pause, resume, cancel; sharing and keeping
holds        pause crawls whose owner's quota is exhausted, or while disk or memory is low; resume them
retry        ask again for failed pages and for those of traps, in a further round
finalize     what every end of a crawl needs: audit of counters, clean-up
delete       delete a crawl, and those past retention
schedules    crawls that are started again and again
outages      retry while Redis or the database is away
"""
