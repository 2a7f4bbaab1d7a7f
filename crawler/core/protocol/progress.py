"""Progress of a crawl: how far it is, its speed, its remaining time, its chart and its server-sent events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

import msgspec

from crawler.core.pages.outcomes import Category
from crawler.core.protocol.counters import Tallies

Sample = Sequence[float]
"""[epoch seconds, pages discovered, pages closed, of those requested] at one moment, stored in a JSON column of the
crawl. Samples of earlier versions have no fourth number."""

CLOSED, ASKED = 2, 3  # places in a sample

MIN_SAMPLE_INTERVAL_S = 1.0
MAX_SAMPLES = 60
DENSE_SAMPLES = 20  # the newest, which are all kept; the older ones are thinned out
RATE_WINDOW_S = 10.0


class Completion(msgspec.Struct, frozen=True):
    """How far a crawl is: `done` of `total` pages; 0 <= done <= total."""

    done: int
    total: int
    at_most: bool  # `total` is the page limit: at least as many pages are known as may be requested

    @property
    def percent(self) -> int:
        """Rounded down: 100 only at the end."""
        return 100 * self.done // self.total if self.total else 0


def standing(tallies: Tallies, max_pages: int | None) -> Completion:
    """How far a crawl with these tallies is.

    Without a page limit every known page counts, and a cancelled one is not done. With one only requested pages count,
    because the limit counts those: a skipped page is not part of the total.
    """
    if max_pages is None:
        done = tallies.closed - tallies.in_category(Category.CANCELLED)
        return Completion(done, max(done, tallies.discovered), at_most=False)
    known = tallies.discovered - tallies.in_category(Category.SKIPPED)
    return Completion(tallies.asked, max(tallies.asked, min(known, max_pages)), at_most=known >= max_pages)


def ran_seconds(began: datetime, until: datetime, idle: float, paused_at: datetime | None) -> float:
    """The seconds from `began` to `until` in which a crawl ran: without `idle` seconds, and without the pause that
    began at `paused_at`, if it is paused. Clocks of several machines never make it negative."""
    pause = 0.0 if paused_at is None else max(0.0, (until - paused_at).total_seconds())
    return max(0.0, (until - began).total_seconds() - idle - pause)


def with_sample(samples: Sequence[Sample], now: float, discovered: int, closed: int, asked: int) -> list[Sample]:
    """The samples with this moment added, unless the last one is younger than MIN_SAMPLE_INTERVAL_S."""
    if samples and now - samples[-1][0] < MIN_SAMPLE_INTERVAL_S:
        return list(samples)
    return _thinned([*samples, (round(now, 2), discovered, closed, asked)])


def pace(samples: Sequence[Sample]) -> list[tuple[float, float]]:
    """(epoch seconds, pages closed a second since the sample before) for each sample but the first."""
    steps = pairwise(samples)
    return [(new[0], max(0.0, (new[2] - old[2]) / (new[0] - old[0]))) for old, new in steps if new[0] > old[0]]


def rate(samples: Sequence[Sample], now: float, number: int, what: int = CLOSED) -> float | None:
    """Pages per second over the last RATE_WINDOW_S: those that closed, or with `what` ASKED those that were requested.
    `number` is their number now. None without enough samples."""
    base = _base(samples, now, what)
    if base is None:
        return None
    return max(0.0, (number - base[what]) / (now - base[0]))


def eta(samples: Sequence[Sample], now: float, tallies: Tallies, max_pages: int | None = None) -> float | None:
    """Seconds until the crawl is done, or None when it cannot be estimated. With a page limit the end is known, so
    there is a figure as soon as there is a rate."""
    if tallies.open <= 0:
        return None
    ends = [_until_limit(samples, now, tallies.asked, max_pages), _until_closed(samples, now, tallies)]
    return min((end for end in ends if end is not None), default=None)


def _until_limit(samples: Sequence[Sample], now: float, asked: int, max_pages: int | None) -> float | None:
    pace_now = rate(samples, now, asked, ASKED)
    if max_pages is None or not pace_now:
        return None
    return max(0, max_pages - asked) / pace_now


def _until_closed(samples: Sequence[Sample], now: float, tallies: Tallies) -> float | None:
    """Seconds until every known page is closed.

    None while new pages are found faster than a fifth of the rate at which pages close: then the number of pages left
    is not known.
    """
    base = _base(samples, now)
    if base is None:
        return None
    found, done = tallies.discovered - base[1], tallies.closed - base[CLOSED]
    if done <= 0 or found > done / 5:
        return None
    return tallies.open * (now - base[0]) / (done - found)


def still_for(samples: Sequence[Sample], now: float, closed: int) -> float | None:
    """Seconds since a page closed last, to about a second; None without samples."""
    if not samples:
        return None
    if closed > samples[-1][2]:  # within MIN_SAMPLE_INTERVAL_S of that sample, or it would be one itself
        return now - samples[-1][0]
    rises = (new[0] for old, new in reversed(list(pairwise(samples))) if new[2] > old[2])
    return now - next(rises, samples[0][0])


def _thinned(samples: list[Sample]) -> list[Sample]:
    """At most MAX_SAMPLES: of the older ones, those with the closest neighbours are dropped, so that the rest is spread
    evenly over the crawl. The first is never dropped."""
    while len(samples) > MAX_SAMPLES:
        inner = range(1, len(samples) - DENSE_SAMPLES)
        del samples[min(inner, key=lambda at: samples[at + 1][0] - samples[at - 1][0])]
    return samples


def _base(samples: Sequence[Sample], now: float, what: int = CLOSED) -> Sample | None:
    """The oldest sample inside the window that is at least half a second old and has `what`."""
    usable = [sample for sample in samples if 0.5 <= now - sample[0] <= RATE_WINDOW_S and len(sample) > what]
    return usable[0] if usable else None


# The geometry of the charts.

WIDTH, HEIGHT = 600, 120  # of a line chart, in SVG units; the page scales it

_NICE = (1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0)


class ChartLine(msgspec.Struct, frozen=True):
    """A line over time, as the attributes of SVG shapes."""

    points: str  # "x,y x,y", from left to right
    area: str  # the same, closed along the axis
    top: float  # the value at the upper edge


def line(values: Sequence[tuple[float, float]]) -> ChartLine | None:
    """The line through (when, how much), with a round number at the upper edge; None for less than two."""
    if len(values) < 2 or values[-1][0] <= values[0][0]:
        return None
    begin, end = values[0][0], values[-1][0]
    top = round_axis(max(value for _, value in values))
    places = [(WIDTH * (when - begin) / (end - begin), HEIGHT * (1 - value / top)) for when, value in values]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return ChartLine(points, f"0,{HEIGHT} {points} {WIDTH},{HEIGHT}", top)


def round_axis(most: float) -> float:
    """The least round number that is not below this, and at least 1: 1, 1.5, 2, 3, 5, 7.5, 10, 15, 20 ..."""
    scale = 1.0
    while most > 10 * scale:
        scale *= 10
    return next(step * scale for step in _NICE if step * scale >= most)


def share(part: int, most: int) -> float:
    """The length of a bar in per cent of the longest one; at least visible."""
    if part <= 0 or most <= 0:
        return 0.0
    return max(0.5, round(100 * part / most, 1))


# Server-sent events (WHATWG HTML, 9.2).

HEARTBEAT = b": still here\n\n"


class ProgressState(msgspec.Struct, frozen=True):
    """A crawl at one moment. Its id is that of the last event sent for it."""

    state: str
    is_over: bool
    round: int
    discovered: int
    closed: int
    progress: Mapping[str, Any]  # sent while it runs
    receipt: Mapping[str, Any]  # sent when it is over

    @property
    def id(self) -> str:
        return f"{self.state}.{self.round}.{self.discovered}.{self.closed}"


def events_since(seen: ProgressState, last_id: str) -> Iterator[bytes]:
    """The events for a client whose last event had this id; "" = none yet. A client that reconnects with its last id
    gets what changed since then. Of several events only the last has the id: a client that misses it gets all again."""
    if seen.id == last_id:
        return
    if last_id.partition(".")[0] != seen.state:
        yield event("state", {"state": seen.state})
    yield event("finished", seen.receipt, seen.id) if seen.is_over else event("progress", seen.progress, seen.id)


def event(name: str, data: Mapping[str, Any], event_id: str = "") -> bytes:
    """One event; the JSON has no line ends, so its data is one line."""
    lines = [
        f"id: {event_id}\n" if event_id else "",
        f"event: {name}\n",
        f"data: {msgspec.json.encode(data).decode()}\n",
    ]
    return ("".join(lines) + "\n").encode()


def retry(milliseconds: int) -> bytes:
    """After how long a client whose stream has ended reconnects."""
    return f"retry: {milliseconds}\n\n".encode()
