"""Decisions as functions of values. No Django, Redis, network or clock: the caller passes them in.

urls/         normalisation, crawl scope, query parameters, addresses
html/         reading a page: links, metadata, directives, text
robots/       robots.txt (RFC 9309)
sitemaps/     XML, text and feed sitemaps
extraction/   extraction rules and how they are applied
url_lists/    lists of URLs that a user uploads
text/         patterns, numbers and durations, escaping, gzip
options/      what a user can choose, schedules, events
pages/        outcomes, fields and queries of pages
protocol/     messages, discovery, retries, counters, completion, diagnosis
politeness/   how often a host may be requested; priorities, shares, scaling
channels/     notice channels: a file for each kind
access/       permissions, quotas, credentials, client addresses
installation/ deployment checks, back-pressure, shutdown
composed      structs whose fields belong to several capabilities
errors        every error raised on purpose
"""
