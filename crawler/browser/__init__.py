"""Pages rendered by Chromium.

proxy           the proxy that all of Chromium's traffic goes through
admission       what a page may do by it: credentials, limits, counters, turns at a host
proxy_relay     one connection: bytes both ways, or one request and its response
proxy_request   the heads of requests and responses that pass it
"""
