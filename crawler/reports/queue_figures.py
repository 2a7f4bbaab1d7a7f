"""The figures of a crawl's queue: pages in and out a minute, dead letters, and the age of the oldest page that is due.

Each comes from the crawl's row or from an index; no figure reads all pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from msgspec.structs import asdict
from redis import RedisError

from crawler.core.errors import ServiceDown
from crawler.core.protocol.completion import State
from crawler.core.protocol.flow import WINDOWS_S, Flow, per_minute
from crawler.core.text.quantities import DASH, count, duration
from crawler.frontier.frontier import Frontier
from crawler.models import Crawl, Page
from crawler.queueing import queues
from crawler.reports.links import dead_letters

PAGES_PER_QUERY = 1000  # of those that are handed out, while the first that is not is looked for


@dataclass(frozen=True)
class QueueFigures:
    """What a crawl's queue does. Rates are of a crawl that is not over."""

    open: int  # pages
    dead_letters: int
    minute: Flow | None  # pages a minute, of the last minute; None = it is too early to say, or it is over
    five_minutes: Flow | None  # the same of the last five
    oldest_due_seconds: (
        float | None
    )  # since when the oldest page is due that is not handed out; None = none, or unknown


def queue_figures(crawl: Crawl, now: float) -> QueueFigures:
    """`now` in epoch seconds."""
    minute, five = (None if crawl.is_over else per_minute(crawl.flow or (), now, window) for window in WINDOWS_S)
    letters = dead_letters(crawl).count()
    return QueueFigures(crawl.tallies.open, letters, minute, five, oldest_due(crawl, now))


def oldest_due(crawl: Crawl, now: float) -> float | None:
    """For how many seconds the oldest page is due that is not handed out to a worker. None if no page is, if the crawl
    is over or still reads its list, and if Redis does not respond."""
    if crawl.is_over or crawl.state == State.LOADING or not crawl.tallies.open:
        return None
    try:
        frontier = Frontier(queues.connection(), str(crawl.id))
        for since in _due_and_waiting(frontier, crawl, now):
            # Rows of an earlier version do not say since when; none is due since before the round began.
            return max(0.0, now - max(since, crawl.round_began_at.timestamp()))
    except (ServiceDown, RedisError):
        pass
    return None


def _due_and_waiting(frontier: Frontier, crawl: Crawl, now: float) -> Iterator[float]:
    """Since when pages are due that are not handed out, the oldest first: of one page more than are handed out, so
    that there is one if any waits."""
    at_most = frontier.ready_queue.handed_out() + 1
    due = Page.objects.filter(crawl=crawl, status=Page.OPEN, due_since__range=(0, now)).order_by("due_since")
    rows = due.values_list("id", "priority", "due_since")[:at_most]
    found = rows.iterator(chunk_size=PAGES_PER_QUERY)
    while some := list(islice(found, PAGES_PER_QUERY)):
        out = frontier.queue_changes.handed_out_among((page, priority) for page, priority, _ in some)
        yield from (since for page, _, since in some if page not in out)


# How they are shown.

NAMES: Mapping[str, str] = {"pages_in": "In", "pages_out": "Out", "retried": "Retried", "dead": "Dead letters"}
"""Rate -> its label."""


def plain(figures: QueueFigures) -> dict[str, Any]:
    """For JSON; rates to a tenth of a page."""
    rates = {"last_minute": figures.minute, "last_five_minutes": figures.five_minutes}
    oldest = figures.oldest_due_seconds
    return {
        "open": figures.open,
        "dead_letters": figures.dead_letters,
        "oldest_due_seconds": None if oldest is None else round(oldest, 1),
        "per_minute": {name: rate and _rounded(rate) for name, rate in rates.items()},
    }


def _rounded(flow: Flow) -> dict[str, float]:
    return {name: round(value, 1) for name, value in asdict(flow).items()}


def lines(figures: QueueFigures) -> list[tuple[str, str, str]]:
    """(label, pages a minute over the last minute, over the last five) of each rate."""
    return [(label, _pages(figures.minute, name), _pages(figures.five_minutes, name)) for name, label in NAMES.items()]


def oldest(figures: QueueFigures) -> str:
    """The age of the oldest due page in words."""
    seconds = figures.oldest_due_seconds
    return DASH if seconds is None else duration(seconds)


def line(figures: QueueFigures) -> str:
    """The last minute as one line of a terminal; "" when it is too early, or the crawl is over."""
    if figures.minute is None:
        return ""
    rates = ", ".join(f"{_pages(figures.minute, name)} {label.lower()}" for name, label in NAMES.items())
    due = "" if figures.oldest_due_seconds is None else f"; the oldest page that is due waits for {oldest(figures)}"
    return f"Pages a minute: {rates}{due}"


def _pages(flow: Flow | None, name: str) -> str:
    if flow is None:
        return DASH
    value: float = getattr(flow, name)
    return f"{value:.1f}" if 0 < value < 9.95 else count(round(value))
