"""Gauges over many crawls, read in one round trip, and durations of ticks: for monitoring."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, cast

import msgspec
from redis import Redis
from redis.client import Pipeline

from crawler.frontier import keys, scripts
from crawler.frontier.keys import CrawlKeys


class QueueMetrics(msgspec.Struct, frozen=True):
    """Sums over crawls."""

    reports: int = 0  # left by fetch jobs and not processed yet
    leases: int = 0  # batches handed out
    overdue_leases: int = 0  # of them, those to be checked
    handed_out: int = 0  # pages
    waiting: int = 0  # pages, those that are due included
    past_due: int = 0  # pages that are due and not handed out
    hosts: int = 0  # with pages that wait
    hosts_held: int = 0  # of them, those that may not be asked yet
    longest_hold: float = 0.0  # seconds until the last of those may be asked


def read_queue_metrics(redis: Redis, crawls: Sequence[str], now: float) -> QueueMetrics:
    """`now` in epoch seconds, by Redis's clock."""
    if not crawls:
        return QueueMetrics()
    with redis.pipeline(transaction=False) as pipe:
        for crawl in crawls:
            keys = CrawlKeys(crawl)
            where = [keys.leases, keys.taken, keys.of_suffix().known_hosts, keys.of_suffix().hosts]
            where += [each.results for each in keys.of_all_collectors()]
            scripts.run(pipe, "queue_metrics", where, [keys.queue(""), now])
        answers = pipe.execute()
    columns = list(zip(*answers, strict=True))
    numbers: list[int] = [sum(column) for column in columns[:-1]]
    reports, leases, overdue, handed_out, waiting, past_due, hosts, held = numbers
    longest = max(map(float, columns[-1]))
    return QueueMetrics(reports, leases, overdue, handed_out, waiting, past_due, hosts, held, longest)


# How long ticks take, over all crawls: a histogram in one hash, updated by each tick in the step that notes its end.

BUCKET_BOUNDS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # a tick hands over after ten


class TickTimes(msgspec.Struct, frozen=True):
    """Since Redis was last flushed."""

    last: float  # seconds
    total: float  # seconds
    buckets: tuple[int, ...]  # ticks that took at most each of BOUNDS and longer than the one before; last, the others

    @property
    def count(self) -> int:
        return sum(self.buckets)


def record_tick(pipe: Pipeline, seconds: float) -> None:
    """Add one tick, in a pipeline."""
    pipe.hincrby(keys.TICKS, f"bucket:{bisect_left(BUCKET_BOUNDS_S, seconds)}", 1)
    pipe.hincrbyfloat(keys.TICKS, "total", round(seconds, 6))
    pipe.hset(keys.TICKS, "last", f"{seconds:.6f}")


def read_tick_times(redis: Redis) -> TickTimes:
    fields = cast(dict[bytes, Any], redis.hgetall(keys.TICKS))
    buckets = tuple(int(fields.get(f"bucket:{place}".encode(), 0)) for place in range(len(BUCKET_BOUNDS_S) + 1))
    return TickTimes(float(fields.get(b"last", 0)), float(fields.get(b"total", 0)), buckets)
