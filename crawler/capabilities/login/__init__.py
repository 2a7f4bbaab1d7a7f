"""Logging in: one form, sent once for all workers.

options     its options
page_steps  requests pages within the session
keeper      keeps a crawl logged in
form        requests, fills in and sends the log-in form
"""
