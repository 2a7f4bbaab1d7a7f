"""Gives the requests of a crawl what they need beside the URL: its credentials, its own hosts, its proxy.

Apart from `equip`, so that a tick begins without the HTTP libraries.
"""

from __future__ import annotations

from crawler import conf, encryption
from crawler.core.crawl.messages import FetchPolicy
from crawler.core.crawl.options import WARC
from crawler.core.urls.addresses import Proxy
from crawler.http.client import HttpFetcher
from crawler.http.connector import Gateway
from crawler.http.fetcher import Limits
from crawler.http.guard import Guard

SILENCE = 1 / 3  # of the time a request may take: so long it may wait for the next byte


def fetcher_for(policy: FetchPolicy, guard: Guard, seconds: float | None = None) -> HttpFetcher:
    """A fetcher for one host, each of whose requests may take so many seconds, or as many as the settings say.
    SealBroken when this process has another SECRET_KEY than the one that sealed."""
    credentials = encryption.opened(policy.sealed)
    total = conf.page_seconds() if seconds is None else seconds
    return HttpFetcher(
        guard,
        policy.user_agent,
        Limits(
            max_body_bytes=policy.max_body_bytes,
            total_seconds=total,
            read_seconds=min(total, conf.page_seconds() * SILENCE),
        ),
        credentials=credentials,
        own_hosts=policy.own_hosts,
        gateway=gateway_of(credentials.proxy, guard),
        records=WARC in policy.keep,
    )


def gateway_of(proxy: str | None, guard: Guard) -> Gateway | None:
    """The crawl's own proxy, which must be allowed like any other address; else the operator's, which always is."""
    if proxy is not None:
        return Gateway(Proxy.parse(proxy), guard)
    operators = conf.proxy()
    return Gateway(operators, Guard((operators.where,))) if operators is not None else None
