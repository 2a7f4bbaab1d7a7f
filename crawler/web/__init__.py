"""The web pages: each view loads, checks, calls one function and renders.

urls            addresses
crawl/          pages of a crawl
account/        pages of an account
forms/, tables/ shared parts of both
decorators      login, and the page for a service that is down
headers         headers of every response, HEAD requests
middleware      sessions and the audit log's actor
navigation      links between pages
context         what every page is given
uploads         limits of the bodies of requests
forwarded       headers of proxies
monitoring      health checks, and metrics for Prometheus
exposition      the text format of metrics
rq_permissions  permissions on RQ's pages of the admin
"""
