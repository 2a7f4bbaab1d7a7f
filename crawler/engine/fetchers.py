"""Gives the requests of a crawl what they need beside the URL: its credentials, its own hosts, its proxy.

Apart from `equip`, so that a tick begins without the HTTP libraries.
"""

from __future__ import annotations

from crawler import conf, sealing
from crawler.core.forms import WARC
from crawler.core.proxies import Proxy
from crawler.core.work import FetchPolicy
from crawler.fetching.fetcher import Limits
from crawler.fetching.guard import Guard
from crawler.fetching.http import HttpFetcher
from crawler.fetching.routes import Gateway

SILENCE = 1 / 3  # of the time a request may take: so long it may wait for the next byte


def fetcher_for(policy: FetchPolicy, guard: Guard, seconds: float | None = None) -> HttpFetcher:
    """A fetcher for one host, each of whose requests may take so many seconds, or as many as the settings say.
    SealBroken when this process has another SECRET_KEY than the one that sealed."""
    credentials = sealing.opened(policy.sealed)
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
