"""The guarded HTTP client.

fetcher          the `Fetcher` protocol, `FetchResult`, `Limits`, response headers
client           the fetcher (`HttpFetcher`), a crawl's credentials
layers           what it is made of: cookies over trust over proxies
exchange_sender  below them: reads the responses of one transport
transports       how requests are sent
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
socks            SOCKS5 proxies (RFC 1928, RFC 1929)
"""
