"""Gives the requests of a crawl what they need beside the URL: its credentials, its own hosts, its proxy."""

from __future__ import annotations

import logging
from collections.abc import Callable

from crawler import conf, sealing
from crawler.core.addresses import EVERYTHING
from crawler.core.belonging import own_hosts
from crawler.core.proxies import Proxy
from crawler.core.work import FetchPolicy
from crawler.engine import control
from crawler.fetching.fetcher import Limits
from crawler.fetching.guard import Guard
from crawler.fetching.http import HttpFetcher
from crawler.fetching.routes import Gateway
from crawler.models import Crawl, Page

log = logging.getLogger(__name__)


def fetcher_for(policy: FetchPolicy, guard: Guard, on_sent: Callable[[], None]) -> HttpFetcher:
    """A fetcher for one slice. SealBroken when this process has another SECRET_KEY than the one that sealed."""
    credentials = sealing.opened(policy.sealed)
    return HttpFetcher(
        guard,
        policy.user_agent,
        Limits(max_body_bytes=policy.max_body_bytes),
        credentials=credentials,
        own_hosts=policy.own_hosts,
        gateway=gateway_of(credentials.proxy, guard),
        on_sent=on_sent,
    )


def gateway_of(proxy: str | None, guard: Guard) -> Gateway | None:
    """The crawl's own proxy, which must be allowed like any other address; else the operator's, which always is."""
    if proxy is not None:
        return Gateway(Proxy.parse(proxy), guard)
    operators = conf.proxy()
    return Gateway(operators, Guard((EVERYTHING,))) if operators is not None else None


def own_hosts_of(crawl: Crawl) -> tuple[str, ...]:
    """Where the crawl's credentials may go; none when it has none."""
    if not crawl.sealed:
        return ()
    options = crawl.chosen
    return own_hosts(crawl.start_urls, options.hosts, subdomains=options.subdomains, listed=bool(crawl.source))


def is_equipped(crawl: Crawl) -> bool:
    """Whether the crawl's credentials can be read. One whose cannot is paused: nothing is asked for without them, and
    `why` says what to do."""
    if sealing.is_readable(crawl.sealed) or not Page.objects.filter(crawl=crawl, status=Page.OPEN).exists():
        return True
    if control.pause(crawl.id):
        log.warning("crawl %s is paused: its credentials were stored under another SECRET_KEY", crawl.id)
    return False
