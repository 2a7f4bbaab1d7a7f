"""The arguments that choose dead letters: `dead-letters` and `retry-failed` take them."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.db.models import QuerySet

from crawler import clock
from crawler.core.text.quantities import seconds_of
from crawler.management.crawls import crawl_of
from crawler.management.placement import instant
from crawler.models import Crawl, Page
from crawler.reports import dead_letters


def add_filters(parser: ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", metavar="ID", help="a crawl, by its ID, site or @last; without it, all crawls")
    group = parser.add_argument_group("filters; a page must match all of them")
    group.add_argument("--outcome", default="", metavar="OUTCOME", help="pages with this outcome: timeout, 5xx, ...")
    group.add_argument("--host", default="", metavar="HOST", help="pages of this host")
    group.add_argument("--since", type=_moment, metavar="WHEN", help="failed since 2h (ago), or 2026-12-01T08:00")


def chosen_of(typed: dict[str, Any]) -> dead_letters.LetterFilter:
    """BadInput if there is no such crawl, or a filter cannot be used."""
    crawl = None if typed["id"] is None else crawl_of(typed["id"]).id
    return dead_letters.checked(typed["outcome"], typed["host"], crawl, typed["since"])


def letters_of(chosen: dead_letters.LetterFilter) -> QuerySet[Page]:
    """Of all crawls, the newest first; of one, in the order of their discovery."""
    letters = dead_letters.letters_of(Crawl.objects.all(), chosen)
    return letters if chosen.crawl is None else letters.order_by("id")


def _moment(typed: str) -> float:
    """An argparse type: a time, or how long ago it was; as epoch seconds."""
    ago = seconds_of(typed)
    if ago is not None and ago >= 0:
        return clock.epoch_seconds() - ago
    try:
        return instant(typed)
    except ArgumentTypeError:
        raise ArgumentTypeError(
            f"{typed!r} is neither a duration such as 2h nor a time such as 2026-12-01T08:00"
        ) from None
