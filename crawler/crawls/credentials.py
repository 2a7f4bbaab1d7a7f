"""The credentials of a crawl: whether they can be decrypted, and which hosts may get them.

`core.access.credentials` has the rules, `encryption` how they are stored and shown.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

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

LOGIN_URL = by_surface(command="--login-url", page="“Log-in form”", api="`login_url`")
HOSTS = by_surface(command="--host", page="“Further hosts”", api="`hosts`")

OTHER_HOSTS_MESSAGE = (
    "They were given for other hosts than this crawl would send them to. Leave this out, and give them again."
)
NO_LOGIN_MESSAGE = (
    f"This crawl does not log in. Leave it out, or start a crawl with the page of a log-in form ({LOGIN_URL})."
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


def resealed_login(crawl: Crawl, options: CrawlOptions, field: str, typed: Iterable[str] | None) -> str:
    """The crawl's credentials, encrypted anew for other options of its log-in, so that workers can tell what is
    outdated; with the log-in fields that a user typed ("name=value"), None = those it has. BadInput for `field` if the
    crawl does not log in, or its credentials cannot be decrypted; or if the fields cannot be used."""
    if not options.login_url:
        raise BadInput(field, NO_LOGIN_MESSAGE)
    try:
        known = encryption.opened(crawl.sealed)
    except SealBroken as error:
        raise BadInput(field, str(error)) from None
    if typed is not None:
        known = replace(known, login_fields=credentials.parse(login_fields=typed).login_fields)
    sealed = encryption.seal(known)
    with_checks(options, sealed, own_hosts_of(crawl))
    return sealed


def login_fields_of(sealed: str) -> int:
    """How many fields of a log-in form there are values for. Raises SealBroken."""
    return len(encryption.opened(sealed).login_fields)


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
    if (credentials.request_headers(known) or known.login_fields) and not set(hosts) <= set(own_hosts_of(earlier)):
        raise BadInput("same_credentials", OTHER_HOSTS_MESSAGE)
    return earlier.sealed
