"""Logging in: one form, sent once for all workers.

options     its options
hints       that a site asks for a log-in
page_steps  requests pages within the session
keeper      keeps a crawl logged in
forms       the forms of a page, and which one asks for a log-in
form        requests, fills in and sends the log-in form
"""

SEAMS = ("options", "hints", "page_steps")
