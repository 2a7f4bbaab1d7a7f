"""Which collector stores the results of a batch.

The manager of a crawl is one job at a time, unless CRAWLER_COLLECTORS says more: then that many jobs store results side
by side, each for its own batches, in the order in which they arrived. The first one also recovers leases,
dispatches and finishes. All of them write under the lock of the crawl's row, one transaction after the other (rule R1):
what they do at the same time is to read, decode and compare, which is half of the work.
"""

from __future__ import annotations

from crawler.core.protocol.lanes import lane_of_batch

MAX_COLLECTORS = 4
"""More would wait for each other: a transaction takes more than a quarter of the time."""


def batch_id(unique: str, collector: int) -> str:
    """The id of a batch whose results this collector stores. The number is part of the id, so the id says which
    results list is meant. A worker of an earlier version leaves all results to collector 0."""
    return f"{unique}-{collector}" if collector else unique


def collector_of(batch: str) -> int:
    """The number of the collector that stores the results of the batch with this id."""
    _, _, suffix = batch.removeprefix(f"{lane_of_batch(batch).queue}-").partition("-")
    return int(suffix) if suffix.isdecimal() and int(suffix) < MAX_COLLECTORS else 0
