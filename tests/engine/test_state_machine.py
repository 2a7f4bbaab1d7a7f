"""Whatever happens, in whatever order, a crawl ends finished, once, with every page it could reach.

Hypothesis drives the real verbs over a real Redis and database and a small site: jobs run, are lost, are delivered
twice or late, die at any step, two ticks work at once, Redis forgets everything, the clock stands still or jumps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from rq.job import Job

from crawler import conf, jobs, pages, queues
from crawler.core.options import CrawlOptions
from crawler.core.tallies import adds_up
from crawler.core.work import SliceReport
from crawler.engine import announce, ask, collect, conclude, dispatch, fetch, manage, reconcile, repair, wake
from crawler.engine.control import pause, resume
from crawler.engine.start import start_crawl
from crawler.frontier import frontier as frontier_module
from crawler.frontier import keys
from crawler.frontier.frontier import Frontier
from crawler.frontier.gate import Gate
from crawler.frontier.leases import Leases
from crawler.frontier.results import LOCK_SECONDS, Results
from crawler.frontier.seen import SeenSet
from crawler.frontier.window import Window
from crawler.models import Crawl, Notice, Page
from crawler.reports.receipt import receipt_of
from tests.site import Reply, Site, moved, page

PAGES = {
    "/": page("/a", "/b", "/gone"),
    "/a": page("/c", "/"),
    "/b": page("/old", "/d"),
    "/c": page("/e"),
    "/d": page("/busy"),
    "/e": page("/a"),
    "/old": moved("/new"),
    "/new": page("/f"),
    "/f": page(),
    "/busy": lambda before: Reply(page("/late"), status=200 if before else 503),
    "/late": page(),
}
REACHABLE = {*PAGES, "/gone"}

Step = tuple[Any, str]

TICK_STEPS: list[Step] = [
    (pages, "apply"),
    (SeenSet, "add"),
    (Leases, "settle"),
    (Results, "clear_mark"),
    (Results, "acknowledge"),
    (Results, "release"),
    (Window, "put"),
    (Window, "move_cursor"),
    (Window, "take"),
    (Frontier, "clear"),
    (queues, "send_batches"),
    (conclude, "finish"),
    (manage, "repair"),
]
FETCH_STEPS: list[Step] = [(Leases, "claim"), (Results, "leave"), (Gate, "enter"), (ask, "result_of")]
"""The places where a process may die: just before or just after each of these."""

EVICTED = ["hosts", "cursor", "taken", "leases", "active", "seen", "mark", "known_hosts"]


def dying_at(steps: list[Step]) -> st.SearchStrategy[tuple[Step, bool]]:
    return st.tuples(st.sampled_from(steps), st.booleans())


class Killed(BaseException):
    """Stands for kill -9: nothing catches it, and what is in `finally` does nothing while the process is dead."""


class Machine(RuleBasedStateMachine):
    site: ClassVar[Site]

    def __init__(self) -> None:
        super().__init__()
        self.redis = queues.connection()
        self.redis.flushall()
        self.time = 1_000_000.0
        self.dead = False
        self.withheld: list[tuple[Frontier, str, Sequence[SliceReport]]] = []
        self.closed: dict[int, str] = {}
        self.patches = pytest.MonkeyPatch()
        self._take_over()
        with self.site._lock:
            self.site.requests.clear()
        self.crawl = start_crawl([f"{self.site.url}/"], CrawlOptions(), allow_private=True)

    def _take_over(self) -> None:
        """One clock for all, and no last words of processes that are dead."""
        given = lambda redis: lambda: self.time  # noqa: E731
        self.patches.setattr(frontier_module, "redis_clock", given)
        self.patches.setattr(reconcile, "redis_clock", given)
        self.patches.setattr(conf, "max_attempts", lambda: 99)  # none is given up, so the page set is always the same
        for owner, name in ((Results, "drop_lock"), (Gate, "leave"), (manage, "stay_awake"), (fetch, "reconcile")):
            self.patches.setattr(owner, name, self._unless_dead(getattr(owner, name)))

    def _unless_dead(self, act: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **kwargs: None if self.dead else act(*args, **kwargs)

    # What can happen

    @rule(jobs=st.integers(1, 6))
    def work_goes_on(self, jobs: int) -> None:
        for _ in range(jobs):
            if not (self._run_next(queues.CRAWL) or self._run_next(queues.FETCH)):
                self.time_passes(6.0)
                reconcile.survey()

    @precondition(lambda self: self._waits(queues.CRAWL))
    @rule(crash=dying_at(TICK_STEPS))
    def a_worker_dies_in_a_tick(self, crash: tuple[Step, bool]) -> None:
        self._run_next(queues.CRAWL, crash)

    @precondition(lambda self: self._waits(queues.FETCH))
    @rule(crash=dying_at(FETCH_STEPS))
    def a_worker_dies_in_a_batch(self, crash: tuple[Step, bool]) -> None:
        self._run_next(queues.FETCH, crash)

    @precondition(lambda self: self._waits(queues.FETCH))
    @rule()
    def only_a_batch_is_run(self) -> None:
        self._run_next(queues.FETCH)

    @rule(queue=st.sampled_from([queues.CRAWL, queues.FETCH]))
    def rq_loses_a_job(self, queue: str) -> None:
        self.redis.lpop(f"rq:queue:{queue}")

    @precondition(lambda self: self._waits(queues.FETCH))
    @rule()
    def a_batch_is_delivered_twice(self) -> None:
        job = self._pop(queues.FETCH)
        if job is not None:
            self._run(job)
            self._run(job)

    @precondition(lambda self: self._waits(queues.FETCH))
    @rule()
    def a_batch_is_slow_to_report(self) -> None:
        """Its worker is stopped between its last page and its report."""
        job = self._pop(queues.FETCH)
        if job is None:
            return

        def withhold(frontier: Frontier, site: str, reports: Sequence[SliceReport] = ()) -> bool:
            if reports:
                self.withheld.append((frontier, site, reports))
            return False

        with self._patched(fetch, "wake", withhold):
            self._run(job)

    @precondition(lambda self: self.withheld)
    @rule()
    def a_late_report_arrives(self) -> None:
        wake.wake(*self.withheld.pop(0))

    @rule(step=st.sampled_from([(pages, "apply"), (Results, "acknowledge"), (Leases, "settle")]))
    def two_ticks_work_at_once(self, step: Step) -> None:
        """The first is held up past its lock just before this step."""
        owner, name = step
        act, crawl = getattr(owner, name), self.crawl.id
        nested: list[bool] = []

        def held_up(*args: Any, **kwargs: Any) -> Any:
            if not nested:
                nested.append(True)
                self.redis.delete(f"crawler:{crawl}:lock")
                manage.manage(crawl)
            return act(*args, **kwargs)

        with self._patched(owner, name, held_up):
            manage.manage(crawl)

    @rule()
    def redis_forgets_everything(self) -> None:
        self.redis.flushall()

    @rule(names=st.lists(st.sampled_from(EVICTED), min_size=1, max_size=3))
    def redis_evicts_some_keys(self, names: list[str]) -> None:
        self.redis.delete(*(f"crawler:{self.crawl.id}:{name}" for name in names))

    @rule(seconds=st.sampled_from([0.5, 3.0, 6.0, 12.0, 40.0]))
    def time_passes(self, seconds: float) -> None:
        self.time += seconds
        if seconds >= LOCK_SECONDS:  # what Redis itself would forget by then
            self.redis.delete(f"crawler:{self.crawl.id}:lock")
        if seconds >= 1:
            self.redis.delete(keys.RECONCILED)
        if seconds >= 12:
            self.redis.delete(keys.NOTIFY_COMING)

    @rule()
    def somebody_reconciles(self) -> None:
        reconcile.survey()

    @rule()
    def somebody_pauses_and_resumes(self) -> None:
        pause(self.crawl.id)
        manage.manage(self.crawl.id)
        resume(self.crawl.id)

    # What must hold after each of them

    @invariant()
    def a_closed_page_stays_as_it_is(self) -> None:
        now = dict(Page.objects.filter(crawl=self.crawl, status=Page.CLOSED).values_list("id", "outcome"))
        assert self.closed.items() <= now.items()
        self.closed = now

    @invariant()
    def while_a_page_is_missing_one_is_open(self) -> None:
        if not pages.has_open(self.crawl.id):
            assert self._found() == REACHABLE

    @invariant()
    def counters_equal_rows(self) -> None:
        self.crawl.refresh_from_db()
        assert self.crawl.tallies == pages.count_rows(self.crawl.id)

    @invariant()
    def finished_is_told_once_and_only_then(self) -> None:
        self.crawl.refresh_from_db()
        notices = Notice.objects.filter(crawl=self.crawl)
        assert notices.count() == int(self.crawl.is_over)
        if self.crawl.is_over:
            assert not pages.has_open(self.crawl.id)
            assert adds_up(receipt_of(self.crawl))

    def teardown(self) -> None:
        """Left alone, with one worker and somebody who looks now and then, the crawl comes to its end."""
        try:
            self._come_to_rest()
            assert self.crawl.is_over, "the crawl never ended"
            assert self._found() == REACHABLE
            outcomes = set(Page.objects.filter(crawl=self.crawl).values_list("outcome", flat=True))
            assert outcomes == {"2xx", "3xx", "4xx"}
        finally:
            self.patches.undo()
            Crawl.objects.all().delete()

    def _come_to_rest(self) -> None:
        for _ in range(120):
            self.crawl.refresh_from_db()
            if self.crawl.is_over:
                return
            self.time_passes(6.0)
            self.redis.delete(f"crawler:{self.crawl.id}:lock")
            reconcile.survey()
            while self._run_next(queues.CRAWL) or self._run_next(queues.FETCH):
                pass

    # How

    def _found(self) -> set[str]:
        urls = Page.objects.filter(crawl=self.crawl).values_list("url", flat=True)
        return {url.removeprefix(self.site.url) for url in urls}

    def _pop(self, queue: str) -> Job | None:
        """What a worker pops; watches are left out, they only wait."""
        while raw := self.redis.lpop(f"rq:queue:{queue}"):
            if not raw.startswith((b"watch-", b"notify-")):
                return Job.fetch(raw.decode(), connection=self.redis)
        return None

    def _waits(self, queue: str) -> bool:
        return bool(self.redis.llen(f"rq:queue:{queue}"))

    def _run_next(self, queue: str, crash: tuple[Step, bool] | None = None) -> bool:
        job = self._pop(queue)
        if job is None:
            return False
        if crash is None:
            self._run(job)
        else:
            self._run_and_die(job, *crash)
        return True

    def _run(self, job: Job) -> None:
        door = getattr(jobs, str(job.func_name).rpartition(".")[2])
        door(*job.args)

    def _run_and_die(self, job: Job, step: Step, afterwards: bool) -> None:
        owner, name = step
        act = getattr(owner, name)

        def die(*args: Any, **kwargs: Any) -> Any:
            if self.dead:  # another thread of the process that is dead
                raise Killed
            if afterwards:
                act(*args, **kwargs)
            self.dead = True
            raise Killed

        try:
            with self._patched(owner, name, die):
                self._run(job)
        except Killed:
            pass
        finally:
            self.dead = False

    @contextmanager
    def _patched(self, owner: Any, name: str, act: Callable[..., Any]) -> Iterator[None]:
        """For a while, `name` is `act`, also where it was imported by name."""
        with pytest.MonkeyPatch.context() as patch:
            original = getattr(owner, name)
            patch.setattr(owner, name, act)
            for module in (collect, conclude, dispatch, fetch, manage, repair, announce):
                if getattr(module, name, None) is original:
                    patch.setattr(module, name, act)
            yield


def test_whatever_happens_a_crawl_ends_finished_once_with_every_page() -> None:
    with Site(PAGES).serving() as site:
        Machine.site = site
        run_state_machine_as_test(
            Machine,
            settings=settings(
                max_examples=30,
                stateful_step_count=25,
                deadline=None,
                derandomize=True,  # the same examples each time; raise max_examples to look further
                database=None,
                phases=[Phase.generate],  # a shorter example would take minutes to find; the steps are printed
                suppress_health_check=list(HealthCheck),
            ),
        )
