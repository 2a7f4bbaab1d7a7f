"""How many pages come into a crawl's queue and leave it: counts at a few moments, and from these the pages a minute.

The counts only grow, unlike a crawl's counters: a page that is opened again has come in twice.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

Moment = Sequence[float]
"""[epoch seconds, pages in, out, retried, dead letters since the first moment], stored in a JSON column of the crawl.
The last moment is the newest change, after which nothing has changed."""

WINDOWS_S = (60.0, 300.0)
MIN_INTERVAL_S = 10.0  # between two moments of the last minute
LATER_INTERVAL_S = 30.0  # between older ones
MIN_SPAN_S = 5.0  # a crawl that is younger has no rate


class Flow(msgspec.Struct, frozen=True):
    """Pages that came or went: in one transaction, or in a minute."""

    pages_in: float = 0  # discovered, added, or opened again
    pages_out: float = 0  # closed
    retried: float = 0  # attempts beyond the first, and pages that users asked for again
    dead: float = 0  # became dead letters


def with_change(moments: Sequence[Moment], began: float, now: float, change: Flow) -> list[Moment]:
    """The moments after this change. `began`: when the crawl did, in epoch seconds, for its first moment."""
    known = list(moments) or [(min(began, now), 0, 0, 0, 0)]
    last = known[-1]
    added = (change.pages_in, change.pages_out, change.retried, change.dead)
    newest = (round(max(now, last[0]), 2), *(old + new for old, new in zip(last[1:], added, strict=True)))
    if len(known) > 1 and last[0] - known[-2][0] < MIN_INTERVAL_S:
        known.pop()
    return _thinned([*known, newest], newest[0])


def _thinned(moments: list[Moment], now: float) -> list[Moment]:
    """Those that the windows need: of moments beyond the longest only the last, and few beyond the shortest."""
    beyond = [at for at, moment in enumerate(moments) if moment[0] <= now - WINDOWS_S[1]]
    kept = moments[beyond[-1] if beyond else 0 :]
    at = 1
    while at < len(kept) - 1 and kept[at + 1][0] <= now - WINDOWS_S[0]:
        if kept[at + 1][0] - kept[at - 1][0] < LATER_INTERVAL_S:
            del kept[at]
        else:
            at += 1
    return kept


def per_minute(moments: Sequence[Moment], now: float, window: float) -> Flow | None:
    """Pages a minute over the last `window` seconds, to the interval of the moments; over the crawl's life when it is
    younger. None in its first seconds."""
    if not moments:
        return None
    base = next((moment for moment in reversed(moments) if moment[0] <= now - window), moments[0])
    seconds = now - base[0]
    if seconds > window + LATER_INTERVAL_S:  # nothing happened from then on until the window began
        seconds = window
    if seconds < MIN_SPAN_S:
        return None
    counts = (60 * (new - old) / seconds for old, new in zip(base[1:], moments[-1][1:], strict=True))
    return Flow(*counts)
