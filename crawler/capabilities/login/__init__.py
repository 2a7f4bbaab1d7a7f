"""Logging in: one form, sent once for all workers.

options     its options
hints       that a site asks for a log-in
credentials  the values for the form
crawl_checks  whether a crawl can log in, before it starts and while it runs
page_steps  requests pages within the session
sessions    the session in Redis, with its cookies, for all workers
keeper      keeps a crawl logged in
forms       the forms of a page, and which one asks for a log-in
form        requests, fills in and sends the log-in form
"""

SEAMS = ("options", "credentials", "crawl_checks", "hints", "page_steps")
