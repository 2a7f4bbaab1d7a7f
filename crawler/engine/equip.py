"""Whether a crawl's credentials can be read, and where they may be sent."""

from __future__ import annotations

import logging

from crawler import logs, sealing
from crawler.core.belonging import own_hosts
from crawler.engine import control
from crawler.models import Crawl, Page

log = logging.getLogger(__name__)


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
        log.warning(
            "crawl %s is paused: its credentials were stored under another SECRET_KEY",
            crawl.id,
            extra=logs.of(crawl.id),
        )
    return False
