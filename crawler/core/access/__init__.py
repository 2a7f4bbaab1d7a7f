"""Who may do what.

permissions     rights on crawls and schedules; scopes of API tokens
reach           who may name private addresses for a crawl, and hosts for a list
quotas          how much a user may crawl
credential_kinds  what describes a kind of credential on all surfaces
credentials     what a crawl sends besides its URLs, and to which hosts
client_address  the address of a client behind proxies
body_limits     how large the body of a request may be
request_reading when a request is complete, and how long a server waits for it
"""
