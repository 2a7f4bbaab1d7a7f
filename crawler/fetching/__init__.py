"""Asking servers for pages.

- `fetcher`: what a fetcher can be asked and answers (`Fetcher`, `Fetched`, `Limits`)
- `http`: the fetcher for HTTP/1.1 (`HttpFetcher`)
- `robots`: how a robots.txt is had (`fetch_robots`)
- `guard`: which addresses may be asked (`Guard`); its rules are `crawler.core.addresses`
- `routes`: how a connection gets to a host, straight or through a proxy
- `exchange`: the request a fetcher is busy with, and its time limit
- `connecting`, `connection`, `tls`: connections on that route, plain and through TLS
- `kept`, `trust`: those kept for the next request, whose certificates count
- `adapter`, `answer`: what requests sends through, and what comes back
- `reading`, `mending`: a response as far as it has arrived, and heads a strict parser does not take
- `recorded`: both heads of an exchange, for an archive
- `body`, `room`: whether a body is worth reading, and how much of it; how much of all bodies at a time
- `memory`: what was freed goes back to the system
- `outgoing`: what requests say beside the URL, and which hosts are sent credentials
- `headers`, `encodings`: what a response's headers say, and its body undone
- `tls_words`: what went wrong with TLS
- `trouble`: which outcome each exception stands for, and what to tell a person
"""
