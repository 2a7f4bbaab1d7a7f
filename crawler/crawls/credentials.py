"""Whether a crawl's credentials can be read, and where they may be sent."""

from __future__ import annotations

import logging
from collections.abc import Collection

from crawler import encryption, logs
from crawler.core.access.credentials import own_hosts, request_headers
from crawler.core.errors import BadInput, SealBroken
from crawler.crawls import control
from crawler.models import Crawl, Page

log = logging.getLogger(__name__)

OTHER_HOSTS_MESSAGE = (
    "They were given for other hosts than this crawl would send them to. Leave this out, and give them again."
)
UNREADABLE_MESSAGE = (
    "They cannot be read any more, because SECRET_KEY was changed. Leave this out, and give them again."
)


def own_hosts_of(crawl: Crawl) -> tuple[str, ...]:
    """The hosts that may get the crawl's credentials; empty if it has none."""
    if not crawl.sealed:
        return ()
    options = crawl.chosen
    return own_hosts(crawl.start_urls, options.hosts, subdomains=options.subdomains, listed=bool(crawl.source))


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


def taken_over(earlier: Crawl, own_hosts: Collection[str]) -> str:
    """The encrypted credentials of an earlier crawl, for one with these own hosts. BadInput ("same_credentials") if a
    new host would get them: a user who changes the start URL may have forgotten the credentials."""
    try:
        known = encryption.opened(earlier.sealed)
    except SealBroken:
        raise BadInput("same_credentials", UNREADABLE_MESSAGE) from None
    if request_headers(known) and not set(own_hosts) <= set(own_hosts_of(earlier)):
        raise BadInput("same_credentials", OTHER_HOSTS_MESSAGE)
    return earlier.sealed
