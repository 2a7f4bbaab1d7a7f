"""The credentials of a crawl: whether they can be decrypted, and which hosts may get them.

`core.access.credentials` has the rules, `encryption` what is stored and shown.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence

from crawler import encryption, logs
from crawler.core.access import credentials
from crawler.core.crawl.options import CrawlOptions
from crawler.core.errors import BadInput, SealBroken
from crawler.core.urls.addresses import Proxy
from crawler.crawls import control
from crawler.http.guard import Guard, check_host
from crawler.models import Crawl, Page

log = logging.getLogger(__name__)

OTHER_HOSTS_MESSAGE = (
    "They were given for other hosts than this crawl would send them to. Leave this out, and give them again."
)
UNREADABLE_MESSAGE = (
    "They cannot be read any more, because SECRET_KEY was changed. Leave this out, and give them again."
)


def check_usable(guard: Guard, sealed: str) -> None:
    """BadInput if the credentials cannot be decrypted, or a proxy may not be used."""
    try:
        proxies = encryption.opened(sealed).proxies
    except SealBroken as error:
        raise BadInput("credentials", str(error)) from None
    for where in map(Proxy.parse, proxies):
        check_host(guard, where.host, where.port, f"The proxy {where}", "proxy")


def own_hosts(start_urls: Sequence[str], options: CrawlOptions, *, listed: bool = False) -> tuple[str, ...]:
    """The hosts that may get the credentials of a crawl from these URLs; `listed`: over a list of URLs."""
    return credentials.own_hosts(start_urls, options.hosts, subdomains=options.subdomains, listed=listed)


def own_hosts_of(crawl: Crawl) -> tuple[str, ...]:
    """The hosts that may get the crawl's credentials; empty if it has none."""
    if not crawl.sealed:
        return ()
    return own_hosts(crawl.start_urls, crawl.chosen, listed=bool(crawl.source))


def check_credentials(crawl: Crawl) -> bool:
    """Whether the crawl's credentials can be decrypted. Otherwise it is paused: no page is fetched without them, and
    the crawl's diagnosis says what to do."""
    if encryption.is_readable(crawl.sealed) or not Page.objects.filter(crawl=crawl, status=Page.OPEN).exists():
        return True
    if control.pause(crawl.id):
        log.warning(
            "crawl %s is paused: its credentials were stored under another SECRET_KEY",
            crawl.id,
            extra=logs.of(crawl.id),
        )
    return False


def taken_over(earlier: Crawl, hosts: Collection[str]) -> str:
    """The encrypted credentials of an earlier crawl, for one that sends them to these hosts.

    BadInput ("same_credentials") if a host would get them that did not get them before: a user who changes the start
    URL may have forgotten the credentials.
    """
    try:
        known = encryption.opened(earlier.sealed)
    except SealBroken:
        raise BadInput("same_credentials", UNREADABLE_MESSAGE) from None
    if credentials.request_headers(known) and not set(hosts) <= set(own_hosts_of(earlier)):
        raise BadInput("same_credentials", OTHER_HOSTS_MESSAGE)
    return earlier.sealed
