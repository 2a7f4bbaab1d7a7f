"""Asking servers for pages.

- `fetcher`: what a fetcher can be asked and answers (`Fetcher`, `Fetched`, `Limits`)
- `http`: the fetcher for HTTP/1.1 (`HttpFetcher`)
- `robots`: how a robots.txt is had (`fetch_robots`)
- `guard`: which addresses may be asked (`Guard`); its rules are `crawler.core.addresses`
- `connections`: connections that keep to the guard and to the time limit
- `headers`, `encodings`: what a response's headers say, and its body undone
- `trouble`: which outcome each exception stands for, and what to tell a person
"""
