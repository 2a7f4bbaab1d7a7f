"""What workers, people, Redis and time may do next, in any order and in the middle of each other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

import pytest
from rq.job import Job

from crawler.capabilities.login.crawl_keys import SESSION
from crawler.core.protocol.messages import SliceReport
from crawler.crawls import reconcile
from crawler.fetcher import loop
from crawler.frontier.frontier import Frontier
from crawler.frontier.keys import CrawlKeys
from crawler.manager import tick
from crawler.queueing import wakeups
from tests.manager.machine import memory
from tests.manager.machine.hooked import ON_PAGE
from tests.manager.machine.ledger import Ledger
from tests.manager.machine.machine import MAX_ATTEMPTS
from tests.manager.machine.people import People
from tests.manager.machine.stage import Moment, Process, crash_points
from tests.manager.machine.workers import QUEUES
from tests.manager.machine.world import PAGES, World

STEPS = {
    "manage": 60,
    "fetch": 20,
    "watch": 36,
    "notify": 14,
    "begin": 25,
    "pause": 3,
    "resume": 12,
    "cancel": 40,
    "delete": 60,
    "send again": 25,
    "release traps": 25,
    "add pages": 30,
    "ask again": 30,
    "finish": 15,
    "change options": 25,
    "give the password": 25,
}
"""Job or verb -> how many steps it takes, about (see `stage`)."""

REACHED_BY = {
    "tick": "manage",
    "collect": "manage",
    "repair": "manage",
    "expire": "manage",
    "refill": "manage",
    "dispatch": "manage",
    "conclude": "manage",
    "end": "manage",
    "fetch": "fetch",
    "watch": "watch",
    "notify": "notify",
    "start": "begin",
    "resume": "resume",
    "cancel": "cancel",
    "delete": "delete",
    "retry": "send again",
    "add": "add pages",
    "again": "ask again",
    "finish": "finish",
    "change": "change options",
    "hook": "notify",
    "on_page": "fetch",
    "login": "fetch",
}
"""First word of a crash point, or of a moment in a hook, -> the job or verb that comes there."""

OF_SOME = ("login",)  # crash points that only some varieties come to


def _reached_by(actor: str) -> list[str]:
    firsts = [(name.partition(":")[0], name) for name in crash_points()]
    return [name for first, name in firsts if REACHED_BY.get(first) == actor and first not in OF_SOME]


NAMED = {actor: _reached_by(actor) for actor in STEPS}

BATCHES_WITHOUT_HOOK = 3  # in a row: redirects and errors

VERBS = {
    "somebody pauses": "pause",
    "somebody resumes": "resume",
    "somebody cancels": "cancel",
    "somebody sends again": "send again",
    "somebody releases traps": "release traps",
    "somebody adds": "add pages",
    "somebody asks again": "ask again",
    "somebody changes options": "change options",
    "somebody finishes": "finish",
    "somebody deletes": "delete",
    "somebody gives the password": "give the password",
}
"""What people do -> the verb, by which it is named where it happens in the middle of something else."""


@dataclass(frozen=True)
class Variety:
    """What may happen, and how often it does; `meanwhile` is what may happen in the middle of something else."""

    happenings: Mapping[str, int]
    meanwhile: Sequence[str]
    options: Sequence[Mapping[str, Any]] = ({},)  # of each crawl, one of these
    collectors: int = 1  # of each crawl
    shells: frozenset[str] = frozenset()  # pages that only a browser can read
    hooks: tuple[str, ...] = ()  # as the setting names them
    members: frozenset[str] = frozenset()  # pages behind a log-in

    @property
    def moments(self) -> list[str]:
        """What only its fetch jobs come to."""
        of_logins = [name for name in crash_points() if name.startswith("login:")] if self.members else []
        return [*of_logins, *([ON_PAGE] if self.hooks else [])]


class Happenings(People):
    """Each is a method, which a variety names with spaces between the words; what people do is in the table."""

    def __init__(self, world: World, variety: Variety, chance: Random) -> None:
        super().__init__(world, chance, variety.collectors, variety.shells, variety.hooks, variety.members)
        self.variety = variety

    def something_happens(self, jobs: int, what: str) -> None:
        """Work goes on for some jobs; then this."""
        self.tell(f"after {jobs} jobs: {what}")
        self._work(jobs)
        self._let(what)

    # Workers

    def a_worker_dies(self) -> None:
        """In the middle of a job; when the moment has a name, in the next one that comes there."""
        job = self._next_job()
        moment = None if job is None else self._moment_in(_name(job))
        for _ in range(6):
            if job is None or self.workers.run(job, Process(moment)).is_dead or isinstance(moment, int):
                return
            job = self.workers.pop()

    def a_worker_dies_before_it_asks(self) -> None:
        """It has claimed its batch, and no page is in hand."""
        job = self.workers.pop_batch()
        if job is not None:
            self.workers.run(job, Process("fetch: batch claimed"))

    def a_browser_crashes(self) -> None:
        """With the next pages that are rendered; its worker goes on with another one."""
        self.browser.crashes_to_come = self.chance.randint(1, 4)
        self.tell(f"    with {self.browser.crashes_to_come} pages")

    def a_page_crashes_browsers(self) -> None:
        """Fewer than it has attempts, all of them, or one more, when it is sent again."""
        name, times = self.chance.choice(sorted(self.world.shells) or PAGES), self.chance.randint(2, MAX_ATTEMPTS + 1)
        self.browser.deadly[name] = times
        self.tell(f"    {name}, {times}")

    def a_hook_kills_its_worker(self) -> None:
        """In the middle of `on_page`, with the page in hand."""
        for _ in range(BATCHES_WITHOUT_HOOK):
            job = self.workers.pop_batch()
            if job is None or self.workers.run(job, Process(ON_PAGE)).is_dead:
                return

    def scrapy_dies(self) -> None:
        """The process of Scrapy, with the next page it gets; its worker goes on."""
        self.scrapy.dies_once = True

    def a_manager_is_held_up(self) -> None:
        """In the middle of its tick, for longer than a lease lasts, while others work and report."""
        ledger = self._some_crawl()
        if ledger is None:
            return
        batches, seconds = self.chance.randint(1, 2), self.chance.choice((11.0, 15.0))

        def others_work() -> None:
            for _ in range(batches):
                self.a_batch()
            self.clock.sleep(seconds)

        moment = self.chance.choice(("tick: reports taken in", self._moment_in("manage")))
        with self.stage.process(Process(moment, others_work)):
            tick.manage(ledger.id)

    def something_happens_meanwhile(self) -> None:
        job = self._next_job()
        if job is not None:
            self.workers.run(job, Process(self._moment_in(_name(job)), self._others_act(job)))

    def a_job(self) -> None:
        self.workers.run_next()

    def a_batch(self) -> None:
        job = self.workers.pop_batch()
        if job is not None:
            self.workers.run(job)

    def a_batch_is_delivered_twice(self) -> None:
        job = self.workers.pop_batch()
        if job is not None:
            self.workers.run(job)
            self.workers.run(job)

    def a_batch_is_slow_to_report(self) -> None:
        """Its worker is stopped between its last page and its report."""
        job = self.workers.pop_batch()
        if job is None:
            return

        def withhold(frontier: Frontier, site: str, reports: Sequence[SliceReport] = ()) -> bool:
            if reports:
                self.withheld.append((frontier, site, reports))
                return False
            return wakeups.wake(frontier, site)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(loop, "wake", withhold)
            self.workers.run(job, seems_dead=True)

    def a_late_report_arrives(self) -> None:
        if self.withheld:
            wakeups.wake(*self.withheld.pop(0))

    def a_tick(self) -> None:
        """Of a crawl, at a time when another one may be at work."""
        if ledger := self._some_crawl():
            tick.manage(ledger.id, self._some_collector())

    def a_tick_past_the_lock(self) -> None:
        """The one at work was held up for longer than its lock lasts."""
        if ledger := self._some_crawl():
            collector = self._some_collector()
            self.redis.delete(CrawlKeys(str(ledger.id), collector).lock)
            tick.manage(ledger.id, collector)

    def _some_collector(self) -> int:
        return self.chance.randrange(self.collectors) if self.collectors > 1 else 0

    def a_worker_starts(self) -> None:
        self.workers.start_one()

    def rq_loses_a_job(self) -> None:
        self.workers.lose_next(self.chance.choice(QUEUES))

    # The site

    def the_site_ends_its_sessions(self) -> None:
        self.world.door.end_sessions()
        self.excuses.session_ended_in_a_job |= self.stage.is_at_work

    def redis_evicts_the_session(self) -> None:
        if ledger := self._some_crawl():
            self.redis.delete(CrawlKeys(str(ledger.id)).of(SESSION))

    # Time

    def time_passes(self) -> None:
        seconds = self.chance.choice((0.5, 3.0, 6.0, 12.0, 20.0, 40.0))
        self.tell(f"    {seconds} s")
        self.clock.sleep(seconds)

    def somebody_looks(self) -> None:
        reconcile.scan()

    # Redis

    def redis_forgets_everything(self) -> None:
        self._lose(self.redis.flushall)

    def redis_evicts_some_keys(self) -> None:
        if ledger := self._some_crawl():
            names = self.chance.sample((*memory.EVICTED, "lease", "queue"), self.chance.randint(1, 3))
            self.tell(f"    {names}")
            self.excuses.redis_evicted_keys = True
            self._lose(partial(memory.evict, self.redis, str(ledger.id), names))

    def redis_writes_what_it_knows(self) -> None:
        self.snapshot = memory.taken(self.redis, self.clock)

    def redis_comes_back_as_it_was(self) -> None:
        if self.snapshot is not None:
            self._lose(partial(memory.bring_back, self.redis, self.clock, self.snapshot))

    # People

    def another_crawl_begins(self) -> None:
        if sum(not ledger.is_over for ledger in self.ledgers) < 2:
            self.begin_a_crawl(self._fate_of("begin"))

    def begin_a_crawl(self, process: Process | None = None) -> None:
        options = self.chance.choice(self.variety.options)
        self.tell(f"    a crawl begins, {options}")
        self.begin(options, process)

    def _govern(self, verb: str) -> None:
        if ledger := self._some_crawl():
            self._act_on(ledger, verb, self._fate_of(verb))

    def _act_on(self, ledger: Ledger, verb: str, process: Process) -> None:
        act: Callable[[Ledger, Process], None] = getattr(self, verb.replace(" ", "_"))
        act(ledger, process)

    # How

    def _let(self, what: str) -> None:
        if what in VERBS:
            self._govern(VERBS[what])
            return
        happening: Callable[[], None] = getattr(self, what.replace(" ", "_"))
        happening()

    def _work(self, jobs: int) -> None:
        for _ in range(jobs):
            if self.workers.run_next() is None:
                self.clock.sleep(6.0)
                reconcile.scan()

    def _next_job(self) -> Job | None:
        """What waits, or the next batch, which another worker may take before the ticks that wait."""
        batch = self.workers.pop_batch() if self.chance.random() < 0.4 else None
        return batch or self.workers.pop()

    def _moment_in(self, actor: str) -> Moment:
        moment: Moment = self.chance.randint(1, STEPS[actor])
        named = [*NAMED[actor], *(self.variety.moments if actor == "fetch" else ())]
        if named and self.chance.random() < 0.5:
            moment = self.chance.choice(named)
        self.tell(f"    {actor} at {moment!r}")
        return moment

    def _fate_of(self, verb: str) -> Process:
        """Nothing befalls it, it dies, or something happens meanwhile."""
        match self.chance.randrange(3):
            case 0:
                return Process()
            case 1:
                return Process(self._moment_in(verb))
            case _:
                return Process(self._moment_in(verb), self._others_act())

    def _others_act(self, job: Job | None = None) -> Callable[[], None]:
        """One or two things, perhaps in the middle of this job."""
        acts = self.chance.sample(self.variety.meanwhile, self.chance.randint(1, 2))
        self.tell(f"    meanwhile {', then '.join(acts)}")

        def act() -> None:
            self.tell("    (it came to that)")
            if job is not None and not self.clock.pulses:
                self.workers.seem_dead(job)  # it has not begun to show that it is alive, or has ceased to
            for what in acts:
                self._act(what)

        return act

    def _act(self, what: str) -> None:
        if what not in VERBS.values():
            self._let(what)
        elif ledger := self._some_crawl():
            self._act_on(ledger, what, Process())

    def _some_crawl(self) -> Ledger | None:
        there = [ledger for ledger in self.ledgers if not ledger.is_gone]
        return self.chance.choice(there) if there else None

    def _lose(self, how: Callable[[], object]) -> None:
        self.excuses.redis_lost_something = self.needs_help = True
        how()


def _name(job: Job) -> str:
    return str(job.func_name).rpartition(".")[2]
