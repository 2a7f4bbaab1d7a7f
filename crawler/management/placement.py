"""The arguments that say where pages stand in the queue of a crawl: `add` and `again` take them."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from datetime import UTC, datetime
from typing import Any

from crawler import clock
from crawler.core.pages.placement import Placement, placed
from crawler.management.numbers import span, whole


def add_place(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("when to request them")
    group.add_argument("--priority", type=whole, metavar="N", help="10 first, 0 last (default for new pages: 5)")
    group.add_argument("--delay", type=span, metavar="TIME", help="not before TIME has passed, such as 90s or 2h")
    group.add_argument("--not-before", type=instant, metavar="WHEN", help="not before: 2026-12-01T08:00 (UTC)")
    group.add_argument("--ttl", type=span, metavar="TIME", help="give up a page TIME after its earliest request")


def place_of(typed: dict[str, Any]) -> Placement:
    """BadInput if it cannot be used."""
    return placed(typed["priority"], typed["delay"], typed["not_before"], typed["ttl"], clock.epoch_seconds())


def instant(typed: str) -> float:
    """An argparse type: a date and time, in UTC unless it names a zone; as epoch seconds."""
    try:
        moment = datetime.fromisoformat(typed)
    except ValueError:
        raise ArgumentTypeError(f"{typed!r} is not a time such as 2026-12-01T08:00 or 2026-12-01T08:00+01:00") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
