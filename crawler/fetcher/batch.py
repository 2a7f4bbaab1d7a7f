"""One batch at work: its lease, its slices, and what is reported of them."""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable, Sequence
from functools import partial

from redis.exceptions import RedisError

from crawler.clock import Clock
from crawler.core.crawl.messages import Batch, PageTask, SliceReport
from crawler.core.crawl.politeness import chosen_delay
from crawler.core.installation.backpressure import Shortage
from crawler.crashpoints import crash_point
from crawler.crawls.holds import note
from crawler.crawls.outages import patiently
from crawler.fetcher.host_slot import Turns
from crawler.fetcher.pool import Keep
from crawler.fetcher.result_buffer import Reporter
from crawler.fetcher.slice import SliceRun
from crawler.frontier.frontier import Frontier
from crawler.frontier.host_limiter import Gate, Wish
from crawler.frontier.host_state import HostBook
from crawler.frontier.inspect import holder_name
from crawler.frontier.leases import LEASE_SECONDS, InHand
from crawler.frontier.robots import RobotsMemory
from crawler.http.factory import fetcher_for
from crawler.http.guards import guard_of
from crawler.logs import about
from crawler.queueing import queues
from crawler.queueing.wakeups import wake

log = logging.getLogger(__name__)

ENOUGH = 2  # batches that wait, so that a worker finds one even while another collects
BATCH_SECONDS = 20.0  # a page is begun no later than this; the rest of the batch is handed back


class BatchRun:
    """The batch must have been claimed, see `claimed`."""

    def __init__(self, batch: Batch, frontier: Frontier, now: Clock, keep: Keep) -> None:
        self.id, self.now, self.frontier, self._keep = batch.id, now, frontier, keep.of(batch.crawl)
        self._batch, self._lost = batch, False
        self._deadline = time.monotonic() + BATCH_SECONDS
        self.reporter = Reporter(batch, self._leave, on_full=partial(note, Shortage.STORAGE_FULL))
        self._guard = guard_of(batch.policy.private_hosts)
        self.slices = [self._slice(number) for number in range(len(batch.slices))]
        self._open = set(range(len(self.slices)))

    @classmethod
    def claimed(cls, batch: Batch, now: Clock, keep: Keep) -> BatchRun | None:
        """None when the batch is in other hands."""
        frontier = Frontier(queues.connection(), batch.crawl)
        crash_point("fetch: begun")
        holder = f"{socket.gethostname()}:{os.getpid()}"
        if not frontier.leases.claim(batch.id, batch.token, frontier.now(), holder):
            return None
        return cls(batch, frontier, now, keep)

    @property
    def is_over(self) -> bool:
        """Whether all slices have ended."""
        return not self._open

    def may_go_on(self) -> bool:
        """Whether another page may be begun."""
        return not self._lost and self.reporter.has_room and time.monotonic() <= self._deadline

    def step(self, number: int, is_cut_off: Callable[[], bool]) -> float | None:
        """Work on one slice, see `SliceRun.step`; from a thread of its own."""
        with about(**self.ids):
            return self.slices[number].step(lambda: self.may_go_on() and not is_cut_off())

    @property
    def ids(self) -> dict[str, str]:
        """What its lines in the log are about."""
        return {"crawl": self._batch.crawl, "batch": self.id}

    def renew(self) -> None:
        """Keep the lease and the hosts' connections, from the heartbeat's thread."""
        if self.is_over:
            return
        with self.frontier.redis.pipeline(transaction=False) as pipe:
            for part in self.slices:
                part.turns.renew(pipe)
            pipe.execute()
        for part in self.slices:
            part.renew()
        is_ours = self.frontier.leases.renew(self.id, self._batch.token, self.now())
        self._lost = not is_ours or self.frontier.is_held()

    def abort(self) -> None:
        """Give up the pages that are being asked for at this moment: they get no result."""
        for number in self._open:
            self.slices[number].abort()

    def end_all(self) -> None:
        """End every slice, those too that a thread is still busy with: what it comes to find is dropped."""
        for number in tuple(self._open):
            self.end_slice(number)

    def end_slice(self, number: int) -> None:
        """A slice is over: pages without a result were not asked for."""
        part = self.slices[number]
        requests = 0
        try:
            requests = part.end()
        except RedisError as error:  # its connection runs out by itself
            log.warning("Redis could not be told that a slice of batch %s is over: %s", self.id, error, extra=self.ids)
        self.reporter.end(number, part.turns.next_at, requests)
        self._open.discard(number)
        if self.is_over:
            crash_point("fetch: pages asked")
            self.reporter.flush()

    def _leave(self, reports: Sequence[SliceReport]) -> None:
        """A batch that is over sends no tick while enough others of its crawl wait: the end of the next one does. Of a
        crawl that is over none waits, whatever is still in RQ's queue, so that what comes late is cleared away. What is
        handed back by a worker that ends waits for nobody."""

        def left() -> None:
            is_urgent = not self.is_over or queues.ends_soon.is_set() or self.frontier.leases.waiting() < ENOUGH
            wake(self.frontier, self._batch.site, reports, is_urgent=is_urgent)

        patiently(left)

    def _slice(self, number: int) -> SliceRun:
        policy, part = self._batch.policy, self._batch.slices[number]
        holder = holder_name(self._batch.crawl, self.id, number)
        redis = self.frontier.redis
        delay = chosen_delay(policy.delay, policy.per_minute)
        wish = Wish(self._batch.crawl, delay, policy.concurrency, policy.throttle)
        turns = Turns(Gate(redis, LEASE_SECONDS), HostBook(redis), part.host, holder, wish, self.now)
        memory = RobotsMemory.of(redis, self._batch.crawl, sealed=policy.sealed, private_hosts=policy.private_hosts)
        take_in_hand, add = self._take_in_hand, partial(self.reporter.add, number)
        silences = self.frontier.silences
        open_fetcher = partial(fetcher_for, policy, self._guard)
        return SliceRun(
            part, policy, turns, open_fetcher, self._keep, memory, silences, holder, self.now, take_in_hand, add
        )

    def _take_in_hand(self, task: PageTask | None) -> bool:
        suspect = InHand(task.id, task.attempt) if task is not None else None
        return self.frontier.leases.take_in_hand(self.id, self._batch.token, suspect)
