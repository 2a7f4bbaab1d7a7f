"""How fast a crawl goes and went, and when it may be done: from a short list of samples kept on the crawl row."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

Sample = Sequence[float]
"""[epoch seconds, pages discovered, pages closed] at one moment; plain so that it can live in a JSON column."""

SPACING = 1.0  # seconds between two samples, at least
KEPT = 60  # samples kept
DENSE = 20  # of those, the newest, which stay as they are; the others are thinned out over the rest of the crawl
WINDOW = 10.0  # seconds a rate is measured over


def with_sample(samples: Sequence[Sample], now: float, discovered: int, closed: int) -> list[Sample]:
    """The samples with this moment added, unless the last one is younger than SPACING."""
    if samples and now - samples[-1][0] < SPACING:
        return list(samples)
    return _thinned([*samples, (round(now, 2), discovered, closed)])


def pace(samples: Sequence[Sample]) -> list[tuple[float, float]]:
    """(epoch seconds, pages closed a second since the sample before) for each sample but the first."""
    steps = pairwise(samples)
    return [(new[0], max(0.0, (new[2] - old[2]) / (new[0] - old[0]))) for old, new in steps if new[0] > old[0]]


def rate(samples: Sequence[Sample], now: float, closed: int) -> float | None:
    """Pages closed a second over the last WINDOW seconds; None while there is too little to measure."""
    base = _base(samples, now)
    if base is None:
        return None
    return max(0.0, (closed - base[2]) / (now - base[0]))


def eta(samples: Sequence[Sample], now: float, discovered: int, closed: int) -> float | None:
    """Seconds until every known page is closed, or None when no honest figure can be given.

    While new pages turn up faster than a fifth of the pace at which pages close, the end is not in sight: the number
    of pages left is not known, so no figure is shown.
    """
    base = _base(samples, now)
    if base is None or discovered == closed:
        return None
    found, done = discovered - base[1], closed - base[2]
    if done <= 0 or found > done / 5:
        return None
    return (discovered - closed) * (now - base[0]) / (done - found)


def _thinned(samples: list[Sample]) -> list[Sample]:
    """At most KEPT: of the older ones, the one goes whose neighbours are closest, so that what stays is spread evenly
    over the crawl. The first is never dropped."""
    while len(samples) > KEPT:
        inner = range(1, len(samples) - DENSE)
        del samples[min(inner, key=lambda at: samples[at + 1][0] - samples[at - 1][0])]
    return samples


def _base(samples: Sequence[Sample], now: float) -> Sample | None:
    """The oldest sample inside the window that is at least half a second old."""
    usable = [sample for sample in samples if 0.5 <= now - sample[0] <= WINDOW]
    return usable[0] if usable else None
