"""The guarded HTTP client.

fetcher          the `Fetcher` protocol, `Fetched`, `Limits`
client           the fetcher for HTTP/1.1 (`HttpFetcher`)
factory          a crawl's client: credentials, proxy
guards           the installation's guard, and addresses checked with it beforehand
guard            which addresses may be connected to
connector        opens connections, directly or through a proxy
connection, tls  one connection, plain or TLS
adapter          the transport under requests
request          the current request: headers, time limit
response_parser  status line, headers, framing; header repair
body, encodings  reading and decoding bodies within limits
headers          response headers
memory_budget    how much of large bodies one process holds
robots           fetches robots.txt
warc_record      request and response for an archive
with_timeout     runs a call with a timeout
errors           what can go wrong, as outcomes
"""
