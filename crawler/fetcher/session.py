"""One batch being fetched: its lease, what its slices share, and their reports."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from redis.exceptions import RedisError

from crawler.clock import Clock
from crawler.core.installation.backpressure import Shortage
from crawler.core.politeness.host_rules import MAX_SLICES_PER_BATCH, chosen_delay
from crawler.core.protocol.collectors import collector_of
from crawler.core.protocol.messages import Batch, PageTask, SliceReport
from crawler.crashpoints import crash_point
from crawler.crawls.holds import note_shortage, retry_on_outage
from crawler.fetcher.host_slot import HostSlot
from crawler.fetcher.job_work import JobWork
from crawler.fetcher.pool import ConnectionPool
from crawler.fetcher.result_buffer import ResultBuffer
from crawler.fetcher.robots_check import cache_for
from crawler.fetcher.slice import SliceRun
from crawler.frontier.frontier import Frontier
from crawler.frontier.host_limiter import HostLimiter, HostPolicy
from crawler.frontier.host_state import HostStates
from crawler.frontier.inspect import holder_name
from crawler.frontier.leases import LEASE_TTL_S, CurrentSuspect, this_process
from crawler.frontier.proxy_health import ProxyHealth
from crawler.http.client import HttpFetcher, fetcher_for
from crawler.http.guard import guard_of
from crawler.logs import about
from crawler.queueing import queues
from crawler.queueing.wakeups import wake

log = logging.getLogger(__name__)

MIN_WAITING_BATCHES = 2  # queued batches of a crawl and collector below which the end of a batch sends a tick
MAX_BATCH_S = 20.0  # no page is begun after this; the rest of the batch is handed back


class FetchSession:
    """The batch must have been claimed, see `claimed`."""

    def __init__(self, batch: Batch, frontier: Frontier, now: Clock, pool: ConnectionPool, job: JobWork) -> None:
        self.id, self.now, self.batch, self.frontier, self.job = batch.id, now, batch, frontier, job
        self.pool = pool.for_crawl(batch.crawl)
        self.robots_cache = cache_for(frontier.redis, batch.crawl, batch.policy)
        on_full = partial(note_shortage, Shortage.STORAGE_FULL)
        self.result_buffer = ResultBuffer(batch, job, self._push_reports, on_full, self._has_few_pages)
        self.guard = guard_of(batch.policy.private_hosts)
        self.proxy_health = ProxyHealth(frontier.redis, frontier.keys, now)
        self.shared: dict[str, Any] = {}  # see `page_step.SliceContext`
        self._lost, self._deadline = False, time.monotonic() + MAX_BATCH_S
        self.slices = [SliceRun(self, number) for number in range(len(batch.slices))]
        self._open = set(range(len(self.slices)))

    @classmethod
    def claimed(cls, batch: Batch, now: Clock, pool: ConnectionPool, job: JobWork) -> FetchSession | None:
        """None when another job has claimed the batch, or its lease is gone."""
        frontier = Frontier(queues.connection(), batch.crawl, collector=collector_of(batch.id))
        crash_point("fetch: begun")
        if not frontier.leases.claim(batch.id, batch.token, frontier.now(), this_process()):
            return None
        return cls(batch, frontier, now, pool, job)

    @property
    def is_over(self) -> bool:
        """Whether all slices have ended."""
        return not self._open

    def may_continue(self) -> bool:
        """Whether another page may be begun."""
        return not self._lost and self.result_buffer.has_room and time.monotonic() <= self._deadline

    def holder(self, number: int) -> str:
        """The name under which a slice holds its host's slot."""
        return holder_name(self.batch.crawl, self.id, number)

    def host_slot(self, number: int) -> HostSlot:
        """The slot of a slice's host, not taken yet."""
        policy, redis = self.batch.policy, self.frontier.redis
        delay = chosen_delay(policy.delay, policy.per_minute)
        host_policy = HostPolicy(self.batch.crawl, delay, policy.concurrency, policy.throttle)
        host, holder = self.batch.slices[number].host, self.holder(number)
        limiter, states = HostLimiter(redis, LEASE_TTL_S), HostStates(redis)
        return HostSlot(limiter, states, host, holder, host_policy, self.now, time.monotonic, self.job.grants)

    def open_fetcher(self) -> HttpFetcher:
        return fetcher_for(self.batch.policy, self.guard, health=self.proxy_health)

    def note_suspect(self, task: PageTask | None) -> bool:
        """Note the suspect that is about to be fetched, or that there is none; False when the lease is lost."""
        suspect = CurrentSuspect(task.id, task.attempt) if task is not None else None
        return self.frontier.leases.note_suspect(self.id, self.batch.token, suspect)

    def step(self, number: int, is_cut_off: Callable[[], bool]) -> float | None:
        """Work on one slice, see `SliceRun.step`; called in a task of its own."""
        with about(**self.ids):
            return self.slices[number].step(lambda: self.may_continue() and not is_cut_off())

    @property
    def ids(self) -> dict[str, str]:
        """Context of its log lines."""
        return {"crawl": self.batch.crawl, "batch": self.id}

    def renew(self) -> None:
        """Renew the lease and the hosts' slots; called in the heartbeat's thread."""
        if self.is_over:
            return
        with self.frontier.redis.pipeline(transaction=False) as pipe:
            asked = [(part.slot, at) for part in self.slices if (at := part.slot.renew(pipe)) is not None]
            for (slot, asked_at), answer in zip(asked, pipe.execute(), strict=True):
                slot.note_renewed(asked_at, answer)
        for part in self.slices:
            part.renew()
        is_ours = self.frontier.leases.renew(self.id, self.batch.token, self.now())
        self._lost = not is_ours or self.frontier.is_paused()

    def abort_invalid(self) -> None:
        """Abort the requests of slices whose slot is about to expire; called in the watch's thread."""
        for part in self.slices:
            part.abort_if_invalid()

    def end_all(self) -> None:
        """End every slice."""
        for number in tuple(self._open):
            self.end_slice(number)

    def end_slice(self, number: int) -> None:
        """End a slice; its pages without a result were not fetched."""
        part = self.slices[number]
        requests = 0
        try:
            requests = part.end()
        except RedisError as error:  # its slot expires by itself
            log.warning("Redis did not record that a slice of batch %s is over: %s", self.id, error, extra=self.ids)
        self.result_buffer.end(number, part.slot.next_at, requests)
        self._open.discard(number)
        if self.is_over:
            crash_point("fetch: pages asked")
            self.result_buffer.flush()

    def wake_for_more(self) -> None:
        """Its job has free connections: send a tick if few batches wait, and more hosts may be asked now than a batch
        has slices. With slow hosts the tick that the end of a batch sends would come late."""
        if self.frontier.ready_queue.due_lanes(self.now()) > MAX_SLICES_PER_BATCH and self._has_few_waiting():
            wake(Frontier(self.frontier.redis, self.batch.crawl), self.batch.site)

    def _push_reports(self, reports: Sequence[SliceReport]) -> None:
        """The end of a batch sends no tick while MIN_WAITING_BATCHES others of its collector are queued, or its hosts
        are slow and the job has enough other slices: the end of the next one does. A crawl that is over has none,
        whatever is still in RQ's queue, so a tick deletes late results. A worker that is shutting down always sends a
        tick."""

        def push() -> None:
            is_urgent = not self.is_over or queues.stop_request.is_set() or self._is_awaited()
            wake(self.frontier, self.batch.site, reports, is_urgent=is_urgent)

        retry_on_outage(push)

    def _is_awaited(self) -> bool:
        """Whether the end of the batch sends a tick."""
        if self.result_buffer.is_of_slow_hosts:
            return len(self.job.sessions) <= 1 or self.result_buffer.is_awaited
        return self._has_few_waiting()

    def ending(self, pages: int) -> int:
        """Slices that have at most so many pages left, or have ended and are not reported."""
        about_to_end = sum(self.slices[number].is_ending(pages) for number in self._open)
        return about_to_end + self.result_buffer.ended

    def _has_few_pages(self) -> bool:
        """Whether fewer pages wait in the ready queue than connections would ask for within two response times."""
        try:
            return self.frontier.ready_queue.size() < 2 * self.batch.policy.concurrency
        except RedisError:
            return True  # to push the reports is tried for longer

    def _has_few_waiting(self) -> bool:
        own = self.frontier.keys.collector
        waiting = [batch for batch in self.frontier.leases.unclaimed() if collector_of(batch) == own]
        return len(waiting) < MIN_WAITING_BATCHES
