"""How running crawls share the workers, and browser workers the pages that wait for them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

USUAL_WEIGHT = 5
MOST_WEIGHT = 10


def batches_ahead(alone: int, weight: int, weights: Sequence[int]) -> int:
    """How many batches a crawl of this weight may have waiting in the queue, at least 1. `alone`: how many it may when
    it is the only crawl. `weights`: of all running crawls, this one included.

    Workers take batches in the order in which they were queued, and each crawl refills its own. So crawls get batches
    in proportion to those they have waiting, and these are shared by weight: n crawls have `alone` each on average, as
    they do if all weights are equal.
    """
    return max(1, int(alone * len(weights) * weight / sum(weights) + 0.5))


class SlotLoad(msgspec.Struct, frozen=True):
    """The slots of one worker of a slot lane."""

    taken: int
    slots: int


def batches_of_least_busy(own: SlotLoad, others: Sequence[SlotLoad], waiting: int) -> int:
    """How many of the batches that wait a worker of a slot lane takes, if each of them goes to the one that then has
    the smallest part of its slots taken. Of equals it is this one: each decides so, and the first gets it."""
    shares = [own, *(other for other in others if other.taken < other.slots)]
    for _ in range(waiting):
        free = [number for number, share in enumerate(shares) if share.taken < share.slots]
        if not free:
            break
        least = min(free, key=lambda number: (shares[number].taken + 1) / shares[number].slots)
        shares[least] = SlotLoad(shares[least].taken + 1, shares[least].slots)
    return shares[0].taken - own.taken
