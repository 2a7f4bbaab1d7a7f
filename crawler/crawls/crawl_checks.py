"""What capabilities check of a crawl: before it is started, and before its pages are handed out."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from uuid import UUID

import msgspec

from crawler import registry
from crawler.core.errors import BadInput
from crawler.core.options.catalogue import CrawlOptions
from crawler.http.guard import Guard
from crawler.models import Crawl


class CrawlCheck(msgspec.Struct, frozen=True):
    """One capability's."""

    options: Callable[[CrawlOptions, str, Collection[str], Guard | None], CrawlOptions]
    """Called before a crawl is started, with its options, its credentials, encrypted, and its own hosts, which alone
    get them; returns the options as they are stored. With a guard, addresses are judged, too. Raises BadInput."""

    change: Callable[[CrawlOptions, Collection[str]], None]
    """Called with a crawl's options and the names of options and credentials that a user may change, or changes to
    these values. Raises BadInput if a crawl with these options has no use for one."""

    resealed: Collection[str]
    """Options whose change encrypts the credentials again, so that workers can tell that what they know is outdated."""

    failure: Callable[[Crawl], str]
    """Why none of its pages can be requested until a user resumes it, for users; "" = they can."""

    resumed: Callable[[UUID], None]
    """Called when a user resumes the crawl, before its pages are handed out. Raises RedisError."""

    credentials_changed: Callable[[UUID, str], None]
    """Called with the crawl and the credentials, encrypted, that it had before. Raises RedisError."""


@cache
def crawl_checks() -> tuple[CrawlCheck, ...]:
    return registry.entries("crawl_checks", CrawlCheck)


def with_checks(options: CrawlOptions, sealed: str, own: Collection[str], guard: Guard | None = None) -> CrawlOptions:
    """See `CrawlCheck.options`."""
    for check in crawl_checks():
        options = check.options(options, sealed, own, guard)
    return options


def check_use(options: CrawlOptions, names: Collection[str]) -> None:
    """See `CrawlCheck.change`."""
    for check in crawl_checks():
        check.change(options, names)


def has_use(options: CrawlOptions, name: str) -> bool:
    """Whether a crawl with these options has a use for this option, or this kind of credential."""
    try:
        check_use(options, (name,))
    except BadInput:
        return False
    return True
