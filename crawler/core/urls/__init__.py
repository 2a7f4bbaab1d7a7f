"""URLs.

normalise     the one normal form of a URL (WHATWG), and keys made from it
crawl_scope   which URLs belong to a crawl
site_entries  hosts and beginnings of paths, as people type them
query_params  tracking parameters that are dropped
variants      which part of a URL makes no difference to the page
addresses     network addresses, ports and proxies that may be used
"""
