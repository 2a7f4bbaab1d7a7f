"""How running crawls share the workers."""

from __future__ import annotations

from collections.abc import Sequence

USUAL_WEIGHT = 5
MOST_WEIGHT = 10


def batches_ahead(alone: int, weight: int, weights: Sequence[int]) -> int:
    """How many batches a crawl of this weight may have waiting in the queue, at least 1. `alone`: how many it may when
    it is the only crawl. `weights`: those of all running crawls, itself among them.

    Workers take batches in the order in which they were queued, and each crawl refills its own. So crawls get batches
    in proportion to those they have waiting, and these are shared by weight: n crawls have `alone` each on average, as
    they do if all weights are equal.
    """
    return max(1, int(alone * len(weights) * weight / sum(weights) + 0.5))
