"""The credentials of a crawl: whether they can be decrypted, whether they log in, and which hosts may get them.

`core.access.credentials` has the rules, `encryption` how they are stored and shown.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import msgspec

from crawler import encryption, logs
from crawler.core.access import credentials
from crawler.core.errors import BadInput, SealBroken
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.text.controls import by_surface
from crawler.core.urls.addresses import Proxy
from crawler.core.urls.normalise import origin_of, parse_user_url
from crawler.crawls import control
from crawler.frontier.frontier import Frontier
from crawler.http.guard import Guard, check_host
from crawler.models import Crawl, Page
from crawler.queueing import queues

log = logging.getLogger(__name__)

_LOGIN_URL = by_surface(command="--login-url", page="“Log-in form”", api="`login_url`")
_LOGIN_FIELDS = by_surface(
    command="such as --login-field user=ann --login-field password=env:PASSWORD",
    page="“Fields of the log-in form”",
    api="`login_fields`",
)
HOSTS = by_surface(command="--host", page="“Further hosts”", api="`hosts`")

OTHER_HOSTS_MESSAGE = (
    "They were given for other hosts than this crawl would send them to. Leave this out, and give them again."
)
NO_LOGIN_MESSAGE = (
    f"This crawl does not log in. Leave it out, or start a crawl with the page of a log-in form ({_LOGIN_URL})."
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


def with_login(options: CrawlOptions, sealed: str, own: Collection[str]) -> CrawlOptions:
    """The options with the page of the log-in form as a normalised URL. BadInput if the crawl cannot log in: its page,
    or the values of its fields, are missing, or it is not on one of the crawl's own hosts, which alone get them."""
    has_fields = bool(encryption.opened(sealed).login_fields)
    if has_fields and not options.login_url:
        raise BadInput("login_url", f"There are values for a log-in form: give the page it is on, too ({_LOGIN_URL}).")
    if options.login_check and not options.login_url:
        raise BadInput("login_check", f"There is no log-in to check: give the page of its form, too ({_LOGIN_URL}).")
    if not options.login_url:
        return options
    if not has_fields:
        raise BadInput(
            "login_fields",
            f"Give the names and values of the log-in form's fields, too ({_LOGIN_FIELDS}).",
        )
    url = parse_user_url(options.login_url)
    if not credentials.is_own(url, own):
        raise BadInput(
            "login_url",
            f"{origin_of(url)} is not one of the crawl's own hosts, which alone get passwords. If it belongs to the "
            f"site, add it as a further host ({HOSTS}).",
        )
    return msgspec.structs.replace(options, login_url=url)


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
    with_login(options, sealed, own_hosts_of(crawl))
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


def check_login(crawl: Crawl) -> bool:
    """Whether the crawl is logged in, or can be. Otherwise it is paused with the reason, which a fetch job left."""
    why = Frontier(queues.connection(), str(crawl.id)).logins.failure() if crawl.chosen.login_url else ""
    if not why:
        return True
    if control.pause(crawl.id, why):
        log.warning("crawl %s is paused: %s", crawl.id, why, extra=logs.of(crawl.id))
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
