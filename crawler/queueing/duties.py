"""What a scan by `reconcile` gives to each of its duties, and gets from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import msgspec
from redis import Redis

from crawler import clock
from crawler.models import NOT_OVER, Crawl
from crawler.queueing import queues

STEPS_PER_SCAN = 10  # of deletions that were left unfinished, about a second of work
SCAN_COLUMNS = ("id", "start_urls", "source", "discovered", "state", "options", "held_until")  # a row may be large


@dataclass(frozen=True)
class Scan:
    """One look at everything that is not over."""

    redis: Redis = field(default_factory=queues.connection)
    now: float = field(default_factory=clock.epoch_seconds)

    @cached_property
    def crawls(self) -> list[Crawl]:
        """Those that are not over, read when they are first asked for."""
        return list(Crawl.objects.filter(state__in=NOT_OVER).only(*SCAN_COLUMNS))


class DutyResult(msgspec.Struct, frozen=True):
    """What a duty did, and when it is due again."""

    moments: Sequence[float] = ()  # epoch seconds
    woken: int = 0  # crawls
    pending: int = 0  # deliveries


NOTHING = DutyResult()
