"""How the throttle treats a host, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crawler.core.politeness.throttle import Slowdown, Throttle
from crawler.core.text.quantities import count, counted, duration

SHOWN = 3  # hosts in a receipt


def load_text(throttle: Throttle, connections: int) -> str:
    """ "responds in 2.0 s; 4 of 4 connections", or how it is slowed down, for a crawl that would use so many."""
    allowed, responds = throttle.allowed(connections), f"responds in {duration(throttle.seconds)}"
    if throttle.is_trial and not throttle.delay and allowed < connections:
        return f"{responds}; {counted(allowed, 'connection')} {'is' if allowed == 1 else 'are'} tried"
    if text := slowdown_text(Slowdown.of(throttle), connections):
        return text
    return f"{responds}; {count(allowed)} of {counted(connections, 'connection')}"


def slowdown_text(slowdown: Slowdown | None, connections: int) -> str:
    """ "slowed to 1 of 4 connections: 30 % of its responses were 503"; "" if it is not, for a crawl that would use so
    many."""
    if slowdown is None:
        return ""
    if slowdown.delay > 0:
        to = f"one request in {duration(slowdown.delay)}"
    elif slowdown.connections < connections:
        to = f"{count(slowdown.connections)} of {counted(connections, 'connection')}"
    else:
        return ""
    return f"slowed to {to}: {slowdown_reason(slowdown)}"


def slowdown_reason(slowdown: Slowdown) -> str:
    """ "30 % of its responses were 503"."""
    percent = round(100 * slowdown.failed_share)
    if percent == 0 and not slowdown.failures:
        return "more would slow its responses"
    of = f"the last {slowdown.failures}" if slowdown.failures else f"{percent} %"
    if slowdown.status is None:
        return f"{of} {'' if slowdown.failures else 'of the '}requests got no response"
    return f"{of} {'' if slowdown.failures else 'of its '}responses were {slowdown.status}"


def slowed_lines(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """The receipt's lines: the worst hosts, and how many more."""
    lines = [f"{each['host']}, {_slowdown_of(each)}" for each in found[:SHOWN]]
    return lines + ([f"and {count(len(found) - SHOWN)} more"] if len(found) > SHOWN else [])


def _slowdown_of(entry: Mapping[str, Any]) -> str:
    return slowdown_text(Slowdown.from_plain(entry), entry["of"])
