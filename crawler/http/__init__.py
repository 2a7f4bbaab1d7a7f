"""The guarded HTTP client.

fetcher          the `Fetcher` protocol, `FetchResult`, `Limits`, response headers
client           the fetcher (`HttpFetcher`), a crawl's credentials
transport        how it sends requests: HTTP/1.1 over its own connections
curl_transport   the same by libcurl: `curl_transfer` for a request, `curl_lines` for connections, trust and errors
guard            which addresses may be connected to
connector        opens connections, directly or through a proxy
proxies          which proxy a host is requested through
connection       one connection, plain or TLS
resettable       sockets whose connection another thread can end
event_loop       many transfers in one thread
request          the current request: headers, time limit
response_parser  status line, headers, framing; header repair
body, encodings  reading and decoding bodies within limits
memory_budget    limits the memory for large bodies in one process
robots           fetches robots.txt
warc_record      request and response for an archive
with_timeout     runs a call with a timeout
errors           exceptions, their outcomes and texts
cookies          cookies of a crawl that logs in
curl_errors      errors of libcurl as those of this package
curl_trust       the certificates libcurl trusts
requests_transport  how the package requests sends them
socks            SOCKS5 proxies (RFC 1928, RFC 1929)
"""
