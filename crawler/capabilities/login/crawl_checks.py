"""Whether a crawl can log in: before it is started, and while it runs."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

import msgspec

from crawler import encryption
from crawler.capabilities.login.credentials import NAME, LoginCredentials
from crawler.capabilities.login.options import LoginOptions
from crawler.capabilities.login.sessions import Logins
from crawler.core.access.credentials import is_own
from crawler.core.errors import BadInput
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.text.controls import by_surface
from crawler.core.urls.normalise import origin_of, parse_user_url
from crawler.crawls.crawl_checks import CrawlCheck
from crawler.crawls.credentials import HOSTS
from crawler.frontier.keys import CrawlKeys
from crawler.http.guard import Guard, check_web_address
from crawler.models import Crawl
from crawler.queueing import queues

_LOGIN_URL = by_surface(command="--login-url", page="“Log-in form”", api="`login_url`")
_LOGIN_FIELDS = by_surface(
    command="such as --login-field user=ann --login-field password=env:PASSWORD",
    page="“Fields of the log-in form”",
    api="`login_fields`",
)


def _checked(options: CrawlOptions, sealed: str, own: Collection[str], guard: Guard | None) -> CrawlOptions:
    """The page of the log-in form becomes a normalised URL. BadInput if it or the values of its fields are missing, or
    if it is not on one of the crawl's own hosts."""
    chosen = LoginOptions.of(options)
    has_fields = bool(LoginCredentials.of(encryption.opened(sealed)).login_fields)
    if has_fields and not chosen.login_url:
        raise BadInput("login_url", f"The log-in form's fields need its page; enter it, too ({_LOGIN_URL}).")
    if chosen.login_check and not chosen.login_url:
        raise BadInput("login_check", f"The sign of being logged in needs a log-in page; enter it, too ({_LOGIN_URL}).")
    if not chosen.login_url:
        return options
    if not has_fields:
        raise BadInput(
            "login_fields",
            f"Enter the names and values of the log-in form's fields, too ({_LOGIN_FIELDS}).",
        )
    url = parse_user_url(chosen.login_url)
    if not is_own(url, own):
        raise BadInput(
            "login_url",
            f"{origin_of(url)} is not one of the crawl's own hosts, which alone get passwords. If it belongs to the "
            f"site, add it as a further host ({HOSTS}).",
        )
    if guard is not None:
        check_web_address(guard, url, "login_url")
    return msgspec.structs.replace(options, login_url=url)


def _change(options: CrawlOptions, names: Collection[str]) -> None:
    if LoginOptions.of(options).login_url:
        return
    for name in names:
        if name in (NAME, "login_check"):
            raise BadInput(
                name,
                "This crawl does not log in. Leave it out, or start a crawl with the page of a log-in form "
                f"({_LOGIN_URL}).",
            )


def _logins(crawl: UUID) -> Logins:
    return Logins(queues.connection(), CrawlKeys(str(crawl)))


def _failure(crawl: Crawl) -> str:
    return _logins(crawl.id).failure() if LoginOptions.of(crawl.chosen).login_url else ""


CRAWL_CHECKS = (
    CrawlCheck(
        options=_checked,
        change=_change,
        resealed=("login_check",),
        failure=_failure,
        resumed=lambda crawl: _logins(crawl).retry(),
        credentials_changed=lambda crawl, sealed: _logins(crawl).forget(sealed),
    ),
)
