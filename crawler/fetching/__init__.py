"""Asking servers for pages.

- `fetcher`: what a fetcher can be asked and answers (`Fetcher`, `Fetched`, `Limits`)
- `http`: the fetcher for HTTP/1.1 (`HttpFetcher`)
- `robots`: how a robots.txt is had (`fetch_robots`)
- `guard`: which addresses may be asked (`Guard`); its rules are `crawler.core.addresses`
- `routes`: how a connection gets to a host, straight or through a proxy
- `connections`, `exchange`: connections that keep to the route and to the time limit
- `outgoing`: what requests say beside the URL, and which hosts are sent credentials
- `headers`, `encodings`: what a response's headers say, and its body undone
- `trouble`: which outcome each exception stands for, and what to tell a person
"""
