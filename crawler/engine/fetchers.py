"""Gives the requests of a crawl what they need beside the URL: its credentials, its own hosts, its proxy.

Apart from `equip`, so that a tick begins without the HTTP libraries.
"""

from __future__ import annotations

from crawler import conf, sealing
from crawler.core.addresses import EVERYTHING
from crawler.core.forms import WARC
from crawler.core.proxies import Proxy
from crawler.core.work import FetchPolicy
from crawler.fetching.fetcher import Limits
from crawler.fetching.guard import Guard
from crawler.fetching.http import HttpFetcher
from crawler.fetching.routes import Gateway

USUAL_SECONDS = Limits().total_seconds


def fetcher_for(policy: FetchPolicy, guard: Guard, seconds: float = USUAL_SECONDS) -> HttpFetcher:
    """A fetcher for one host, each of whose requests may take so many seconds. SealBroken when this process has another
    SECRET_KEY than the one that sealed."""
    credentials = sealing.opened(policy.sealed)
    return HttpFetcher(
        guard,
        policy.user_agent,
        Limits(max_body_bytes=policy.max_body_bytes, total_seconds=seconds),
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
    return Gateway(operators, Guard((EVERYTHING,))) if operators is not None else None
