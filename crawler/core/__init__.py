"""Decisions as functions of values. No Django, Redis, network or clock: the caller passes them in.

urls/         normalisation, crawl scope, query parameters, addresses
html/         what is read from a page: links, metadata, directives, text
robots/       robots.txt (RFC 9309)
sitemaps/     XML, text and feed sitemaps
extraction/   extraction rules and how they are applied
url_lists/    lists of URLs that a user uploads
text/         patterns, numbers and durations, escaping, gzip
crawl/        the rules of a crawl: options, outcomes, politeness, completion, traps, diagnosis
channels/     notice channels: a file for each kind
access/       permissions, quotas, credentials, client addresses
installation/ deployment checks, back-pressure, shutdown
errors        every error raised on purpose
"""
