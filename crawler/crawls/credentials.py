"""The credentials of a crawl: whether they can be decrypted, and which hosts may get them.

`core.access.credentials` has the rules, `encryption` how they are stored and shown.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence

from crawler import encryption, logs
from crawler.core.access import credentials
from crawler.core.errors import BadInput, SealBroken
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.text.controls import by_surface
from crawler.core.urls.addresses import Proxy
from crawler.crawls import control
from crawler.crawls.crawl_checks import with_checks
from crawler.http.guard import Guard, check_host
from crawler.models import Crawl, Page

log = logging.getLogger(__name__)

HOSTS = by_surface(command="--host", page="“Further hosts”", api="`hosts`")

OTHER_HOSTS_MESSAGE = (
    "They were entered for other hosts than this crawl would send them to. Leave this out, and enter them again."
)
UNREADABLE_MESSAGE = "They can no longer be read, because SECRET_KEY was changed. Leave this out, and enter them again."


def check_usable(guard: Guard, sealed: str) -> None:
    """BadInput if the credentials cannot be decrypted, or a proxy may not be used."""
    try:
        proxies = encryption.opened(sealed).proxies
    except SealBroken as error:
        raise BadInput("credentials", str(error)) from None
    for where in map(Proxy.parse, proxies):
        check_host(guard, where.host, where.port, f"The proxy {where}", "proxy")


def resealed(crawl: Crawl, options: CrawlOptions, typed: Mapping[str, Iterable[str]], field: str) -> str:
    """The crawl's credentials, encrypted again for other options, with what a user typed in place of what it has of
    these kinds. BadInput for `field` if they cannot be decrypted, or if what was typed cannot be used."""
    try:
        known = encryption.opened(crawl.sealed)
    except SealBroken as error:
        raise BadInput(field, str(error)) from None
    sealed = encryption.seal(credentials.changed(known, typed))
    with_checks(options, sealed, own_hosts_of(crawl))
    return sealed


def how_many(sealed: str, names: Iterable[str]) -> dict[str, int]:
    """How many values there are of these kinds of credentials. Raises SealBroken."""
    known = encryption.opened(sealed)
    return {name: len(tuple(credentials.KINDS[name].masked(known))) for name in names}


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
    if credentials.is_for_own_hosts(known) and not set(hosts) <= set(own_hosts_of(earlier)):
        raise BadInput("same_credentials", OTHER_HOSTS_MESSAGE)
    return earlier.sealed
