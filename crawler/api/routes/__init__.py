"""The operations of the API: each loads, checks, calls one function and returns a schema.

crawls           list, start, change, delete
control          pause, resume, cancel, finish, retry, share, keep
queue            add pages, request pages again
pages            pages with filters, orphans, traps
dead_letters     dead letters of all crawls
progress         event stream and figures
reports          graph, reports, comparisons
exports          exports and kept content
extraction       try extraction rules on a page
kept_extraction  extract again from kept HTML
notices          notice channels and deliveries
schedules        crawls that start again and again
scale            useful workers, for autoscalers
tokens           the caller and their tokens
"""
