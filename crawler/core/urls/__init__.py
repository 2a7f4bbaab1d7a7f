"""URLs.

normalise     the one normal form of a URL (WHATWG), keys made from it, hosts as users type them
typed         web addresses as users type them, before they are normalised
crawl_scope   which URLs belong to a crawl
query_params  tracking parameters that are dropped
addresses     network addresses, ports and proxies that may be used
special_addresses blocks of addresses that are not public, from IANA's registries
"""
