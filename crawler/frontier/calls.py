"""How many calls of the API somebody made within the minute that began with the first of them."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from redis import Redis

from crawler.frontier import keys, script

WINDOW = 60  # seconds


class Calls(NamedTuple):
    """What was counted."""

    made: int  # this one among them
    ends_in: int  # whole seconds, rounded up, until the count begins anew


def count_call(redis: Redis, who: str) -> Calls:
    """Count one call; `who` is whoever shares the limit."""
    made, left = script.run(redis, "call", [keys.calls_of(who)], [WINDOW * 1000])
    return Calls(made, max(1, ceil(left / 1000)))
