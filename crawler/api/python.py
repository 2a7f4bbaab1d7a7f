"""The public Python API: what code of your own, in the same Django project, can do with crawls. See docs/queue.md.

A crawl is named by its row or by its id. Permissions are not checked here: the calling code does that. With `by`,
the account of a user, what is added or changed reaches the addresses that this user may reach; without it, those that
the crawl may. `BadInput` says what cannot be used, `NoCrawl` that there is no such crawl; while Redis or the database
does not respond, their own errors are raised, and nothing was changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from crawler import clock
from crawler.accounts.permissions import namer
from crawler.core.access.reach import OPERATOR, Namer
from crawler.core.errors import BadInput, NoCrawl
from crawler.core.pages.placement import Added, AskedAgain, Refused, placed
from crawler.core.url_lists.wanted import of_item
from crawler.crawls import change as changing
from crawler.crawls import control
from crawler.crawls.change import Changed
from crawler.manager import add as adding
from crawler.models import Crawl

__all__ = ["Added", "AskedAgain", "BadInput", "Changed", "NoCrawl", "Refused", "add", "again", "change", "finish"]


def add(
    crawl: Crawl | UUID | str,
    urls: Iterable[str | Mapping[str, Any]],
    *,
    priority: int | None = None,
    delay: float | None = None,
    not_before: datetime | None = None,
    ttl: float | None = None,
    again: bool = False,
    by: User | None = None,
) -> Added:
    """Add pages to a crawl, 10,000 at most, all or none of them; what happened to each URL is counted in the answer.

    `priority` is 10 (first) to 0 (last). They are not requested before `delay` seconds have passed, or before the time
    `not_before` (aware), and not later than `ttl` seconds after that. A page that is open already gets the time and
    priority that are given; one that has its outcome is requested only if it is wanted `again`. A crawl that was over
    runs again.

    Instead of a URL there may be a mapping with the names of a list's columns: `url`, and `priority`, `ttl`,
    `not_before` in place of the arguments; all others are carried to the results of a new page as its `meta`.
    """
    now = clock.epoch_seconds()
    place = placed(priority, delay, _epoch(not_before), ttl, now)
    pages = [of_item(_with_epoch(item), place, now) for item in urls]
    return adding.add(_id_of(crawl), pages, by=_namer(crawl, by), again=again)


def again(
    crawl: Crawl | UUID | str,
    pages: Iterable[int],
    *,
    priority: int | None = None,
    delay: float | None = None,
    not_before: datetime | None = None,
    ttl: float | None = None,
) -> AskedAgain:
    """Request pages again that have their outcome, by their ids: `Page.objects.filter(...).values_list("id",
    flat=True)`. The other arguments are those of `add`."""
    place = placed(priority, delay, _epoch(not_before), ttl, clock.epoch_seconds())
    return adding.ask_again(_id_of(crawl), pages, place)


def finish(crawl: Crawl | UUID | str) -> bool:
    """Stop keeping a crawl open: it finishes once all open pages are done. False if it was not kept open, or is over
    already."""
    return control.finish(_id_of(crawl))


def change(crawl: Crawl | UUID | str, *, by: User | None = None, **options: Any) -> Changed:
    """Give a crawl other values of these options (`crawler.core.options.catalogue.CHANGEABLE`), all or none; None = the
    default. `login_fields` ("name=value" each) takes the place of all fields of its log-in."""
    return changing.change(_id_of(crawl), options, by=_namer(crawl, by))


def _namer(crawl: Crawl | UUID | str, user: User | None) -> Namer:
    if user is None:
        return OPERATOR
    row = crawl if isinstance(crawl, Crawl) else Crawl.objects.filter(id=_id_of(crawl)).first()
    if row is None:
        raise NoCrawl
    return namer(user, row)


def _id_of(crawl: Crawl | UUID | str) -> UUID:
    try:
        return crawl.id if isinstance(crawl, Crawl) else UUID(str(crawl))
    except ValueError:
        raise NoCrawl(f"There is no crawl {crawl!r}.") from None


def _epoch(moment: datetime | None) -> float | None:
    if moment is not None and moment.tzinfo is None:
        raise BadInput("not_before", "The time must have a time zone, such as datetime.UTC.")
    return None if moment is None else moment.timestamp()


def _with_epoch(item: str | Mapping[str, Any]) -> str | Mapping[str, Any]:
    """The item with its time, if that is a `datetime`, in epoch seconds."""
    at = None if isinstance(item, str) else item.get("not_before")
    return {**item, "not_before": _epoch(at)} if isinstance(at, datetime) and not isinstance(item, str) else item
