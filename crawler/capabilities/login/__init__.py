"""Logging in: one form, sent once for all workers.

options     its options
hints       that a site asks for a log-in
credentials the values for the form
crawl_keys  its keys in Redis
crawl_checks whether a crawl can log in, before it starts and while it runs
page_steps  requests pages within the session
sessions    the session in Redis, with its cookies, for all workers
logout      links that end the session
keeper      keeps a crawl logged in
forms       the forms of a page, and which one asks for a log-in
form        requests, fills in and sends the log-in form
"""

SEAMS = ("options", "credentials", "crawl_keys", "crawl_checks", "hints", "page_steps")
