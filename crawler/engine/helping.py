"""What a fetch job does beside its own batch while that is held up: what a free worker would do.

A slow host keeps a job busy for seconds in which it does nothing but wait. If meanwhile a tick or another batch waits
in RQ's queues, no worker is free for it. So the job takes it out of the queue and does it: one dead host among twenty
holds up nobody, and a lone worker collects, hands out and fetches at the same time. Should it die, both are found as
anything is that RQ loses: a tick by its mark, a batch by its lease (rules R4, R5).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self
from uuid import UUID

from django.db import DatabaseError, connection
from redis.exceptions import RedisError

from crawler import queues
from crawler.core.work import Batch

log = logging.getLogger(__name__)


class Helper:
    """Runs one tick at a time in a thread of its own, so that no page has to wait for it."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tick")
        self._tick: Future[None] | None = None
        self._waiting: list[str] = []  # jobs that waited when we last looked

    def is_busy(self) -> bool:
        return self._tick is not None and not self._tick.done()

    def look(self, *, wants_batch: bool) -> Iterator[Batch]:
        """Begin the tick that waits first, if any; the batch that waits first, if one is wanted. Only what waited at
        the last look already: a worker that is free would have taken it by now."""
        try:
            waited, self._waiting = self._waiting, queues.waiting_first()
            left_over = [job for job in waited if job in self._waiting]
            if left_over and not self.is_busy():
                crawl = queues.adopt_tick(left_over)
                if crawl is not None:
                    self._tick = self._thread.submit(_tick, crawl)
            if left_over and wants_batch and (batch := queues.adopt_batch(left_over)) is not None:
                yield batch
        except RedisError as error:
            log.warning("the queues could not be looked at: %s", error)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.shutdown()


def _tick(crawl: str) -> None:
    """A tick that fails leaves its mark, or somebody who looks again: see `manage`."""
    from crawler.engine.manage import manage  # seldom needed, and a third of a stock worker's time to begin a job

    try:
        manage(UUID(crawl))
    except (RedisError, DatabaseError) as error:
        log.warning("a tick of crawl %s came to nothing: %s", crawl, error)
    except Exception:
        log.exception("a tick of crawl %s failed", crawl)
    finally:
        connection.close()
