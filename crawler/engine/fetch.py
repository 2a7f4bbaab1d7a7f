"""One fetch job: ask for the pages of a batch, slice by slice, and leave what came of it for the manager."""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from django.db import DatabaseError
from redis.exceptions import RedisError
from rq.timeouts import BaseTimeoutException

from crawler import queues
from crawler.core.outcomes import Outcome
from crawler.core.work import Batch, PageResult, PageTask, Slice, SliceReport
from crawler.crashpoints import crash_point
from crawler.engine.ask import Asker
from crawler.engine.heartbeat import Heartbeat
from crawler.engine.patience import patiently
from crawler.engine.permission import Permission
from crawler.engine.reconcile import reconcile
from crawler.engine.reporter import Reporter
from crawler.engine.turns import Turns
from crawler.engine.wake import wake
from crawler.fetching.fetcher import Fetcher, Limits
from crawler.fetching.guard import Guard
from crawler.fetching.http import HttpFetcher
from crawler.frontier.frontier import Frontier
from crawler.frontier.gate import Gate
from crawler.frontier.leases import LEASE_SECONDS
from crawler.frontier.robots import RobotsMemory

log = logging.getLogger(__name__)

BATCH_SECONDS = 5.0  # a page is begun no later than this; the rest of the batch is handed back


def fetch(batch: Batch) -> str:
    """Work on a batch; one line saying what came of it, for the dashboard.

    1. Claim the lease: of two jobs with the same batch only one works.
    2. If nothing else waits in RQ's queues, send the tick our results would send anyway: should this worker die, the
       next one finds it.
    3. Ask for the pages, a thread a slice, while a heartbeat renews the lease and the hosts' connections.
    4. Leave the results, and see whether another crawl needs to be woken.
    """
    frontier = Frontier(queues.connection(), batch.crawl)
    crash_point("fetch: begun")
    if not frontier.leases.claim(batch.id, batch.token, frontier.now(), f"{socket.gethostname()}:{os.getpid()}"):
        _look_around()
        return "the batch is in other hands"
    crash_point("fetch: batch claimed")
    if queues.is_idle():
        wake(frontier, batch.site)

    def leave(reports: Sequence[SliceReport]) -> None:
        patiently(lambda: wake(frontier, batch.site, reports))

    reporter = Reporter(batch, leave)
    job = _Job(batch, frontier, reporter)
    with Heartbeat(job.renew) as heartbeat:
        job.run(heartbeat)
    crash_point("fetch: pages asked")
    reporter.flush()
    crash_point("fetch: reports left")
    _look_around()
    return ", ".join(f"{pages} x {outcome}" for outcome, pages in sorted(reporter.outcomes.items())) or "nothing asked"


def _look_around() -> None:
    """See whether another crawl needs to be woken; a database that is away must not make this job a failed one."""
    try:
        reconcile()
    except DatabaseError as error:
        log.warning("the crawls could not be looked at: %s", error)


class _Job:
    """What the threads of one fetch job share."""

    def __init__(self, batch: Batch, frontier: Frontier, reporter: Reporter) -> None:
        self._batch, self._frontier, self._reporter = batch, frontier, reporter
        self._guard = Guard(batch.policy.private_hosts)
        self._gate = Gate(frontier.redis, LEASE_SECONDS)
        self._turns = [self._turns_at(number, part.host) for number, part in enumerate(batch.slices)]
        self._permissions: list[Permission] = []
        self._deadline = time.monotonic() + BATCH_SECONDS

    def _turns_at(self, number: int, host: str) -> Turns:
        policy = self._batch.policy
        holder = f"{self._batch.id}:{number}"
        return Turns(self._gate, host, holder, policy.concurrency, policy.delay, self._frontier.now)

    def renew(self) -> bool:
        for turns in self._turns:
            turns.renew()
        for permission in list(self._permissions):
            permission.renew()
        return self._frontier.leases.renew(self._batch.id, self._batch.token, self._frontier.now())

    def run(self, heartbeat: Heartbeat) -> None:
        if len(self._batch.slices) == 1:
            self._run_slice(0, heartbeat)
            return
        with ThreadPoolExecutor(max_workers=len(self._batch.slices)) as pool:
            running = [pool.submit(self._run_slice, number, heartbeat) for number in range(len(self._batch.slices))]
        for done in running:
            done.result()

    def _run_slice(self, number: int, heartbeat: Heartbeat) -> None:
        part, turns = self._batch.slices[number], self._turns[number]
        requests = 0
        try:
            try:
                if turns.begin():
                    requests = self._ask_all(number, part, turns, heartbeat)
            finally:
                turns.end()
        except RedisError as error:  # what was found by now is left once Redis is back; the rest is handed back
            log.warning("batch %s ends early, because Redis does not answer: %s", self._batch.id, error)
        self._reporter.end(number, turns.next_at, requests)

    def _ask_all(self, number: int, part: Slice, turns: Turns, heartbeat: Heartbeat) -> int:
        """Ask page by page, until all are done, the batch's time is up, the host wants peace or the lease is lost.
        Answers how many requests were made for robots.txt and are told in no result."""
        policy = self._batch.policy
        with HttpFetcher(self._guard, policy.user_agent, Limits(max_body_bytes=policy.max_body_bytes)) as fetcher:
            permission = self._permission(number, fetcher, turns) if policy.obey_robots else None
            asker = Asker(fetcher, permission, turns)
            for task in part.pages:
                if heartbeat.lost.is_set() or time.monotonic() > self._deadline:
                    break
                if task.expires_at is not None and self._frontier.now() >= task.expires_at:
                    continue  # it is closed in the table by now, or will be at the next tick
                result = _asked(asker, task)
                if result is None:
                    break
                self._reporter.add(number, result)
            return permission.counted() if permission else 0

    def _permission(self, number: int, fetcher: Fetcher, turns: Turns) -> Permission:
        memory = RobotsMemory(self._frontier.redis)
        permission = Permission(fetcher, memory, turns, f"{self._batch.id}:{number}")
        self._permissions.append(permission)
        return permission


def _asked(asker: Asker, task: PageTask) -> PageResult | None:
    """Ask for one page. A fault of ours that it brings to light costs this page, and not the others of its batch."""
    try:
        return asker.ask(task)
    except (RedisError, BaseTimeoutException):
        raise  # Redis is away, or RQ ends this job: no page's fault
    except Exception as error:
        log.exception("page %s of this batch could not be worked on: %s", task.id, task.url)
        what = f"{type(error).__name__} while working on this page; please report it"
        return PageResult(id=task.id, attempt=task.attempt, outcome=Outcome.CRASHED, error=what)
