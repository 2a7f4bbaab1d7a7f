"""The workers at one moment, seen once for all parts of a page, so that these do not disagree."""

from __future__ import annotations

from dataclasses import dataclass

from redis import RedisError

from crawler import clock
from crawler.core.errors import ServiceDown
from crawler.frontier.autoscalers import has_autoscaler
from crawler.queueing import queues
from crawler.queueing.workers import live_workers
from crawler.reports.scale import FRESH_S, wanted_now


@dataclass(frozen=True)
class Workforce:
    """The workers of this installation."""

    has_redis: bool = True  # whether Redis responds; the other fields say nothing if not
    live: int = 0  # that listen to both queues and, as far as is known, are alive
    wanted: int = 0  # that would be useful
    is_autoscaled: bool = False  # an autoscaler runs, which starts workers


def workforce(since: float) -> Workforce:
    """What is seen now. The number of useful workers is none of before `since` (epoch seconds), when a crawl began: it
    knew nothing of that."""
    age = max(0.0, clock.epoch_seconds() - since)
    try:
        return Workforce(
            live=live_workers(), wanted=wanted_now(min(FRESH_S, age)), is_autoscaled=has_autoscaler(queues.connection())
        )
    except (ServiceDown, RedisError):
        return Workforce(has_redis=False)
