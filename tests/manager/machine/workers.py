"""Stands in for RQ's workers, by hand: what they pop, run, lose and leave behind when they die."""

import traceback
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import django_rq
from django.core.exceptions import ObjectDoesNotExist
from django.db import IntegrityError
from redis import Redis
from rq.exceptions import NoSuchJobError
from rq.job import Job
from rq.registry import clean_registries
from rq.utils import current_timestamp

from crawler import jobs
from crawler.core.protocol.messages import Batch, PageTask, SliceReport
from crawler.fetcher.slice import SliceRun
from crawler.frontier.frontier import Frontier
from crawler.manager.idle_poller import poll_while_idle
from crawler.queueing import queues
from tests.manager.machine.clock import Clock
from tests.manager.machine.stage import Process, Stage

Plain = dict[str, Any]
"""A batch as RQ stores it."""

BELIEVED_ALIVE = 90  # seconds for which RQ calls a job started although its worker has died
QUEUES = (queues.CRAWL, *queues.batch_queues())
BATCHES = tuple(f"{name}-".encode() for name in queues.batch_queues())  # ids of jobs begin so
LISTED = 3  # workers that RQ lists, so that several batches go out at once


@dataclass
class AtWork:
    """The job a worker is at."""

    helped: list[Batch] = field(default_factory=list)  # batches it has taken out of the queue beside its own
    begun: set[int] = field(default_factory=set)  # pages it has begun to ask for
    seems_dead: bool = False


class Workers:
    def __init__(self, redis: Redis, stage: Stage, clock: Clock) -> None:
        self._redis, self._stage, self._clock = redis, stage, clock
        self.deaths: Counter[int] = Counter()  # page -> workers that died after they began to ask for it, or seemed to
        self.suspects: set[int] = set()  # pages of batches whose worker died, or seemed to
        self.is_lifeline_lost = False  # with the worker that had it, before it could leave another one
        self._at_work: list[AtWork] = []  # the innermost is the one at work
        self.failures: list[str] = []  # tracebacks of jobs that RQ would list as failed
        self.withheld: list[tuple[Frontier, str, Sequence[SliceReport]]] = []  # by workers that were stopped
        self.ran = deque[str](maxlen=20)  # descriptions of the last jobs

    def come(self) -> None:
        """RQ lists some, of all queues."""
        for queue in queues.batch_queues():
            self._redis.sadd(f"rq:workers:{queue}", *(f"worker{number}" for number in range(LISTED)))

    def start_one(self) -> None:
        """What RQ does when a worker starts: it looks for abandoned jobs."""
        for name in QUEUES:
            clean_registries(django_rq.get_queue(name, connection=self._redis))

    @property
    def has_lifeline(self) -> bool:
        return bool(self._redis.zcount(f"rq:wip:{queues.CRAWL}", 1, 1))

    @property
    def is_idle(self) -> bool:
        """Whether nothing at all waits."""
        return not self._redis.exists(*(f"rq:queue:{name}" for name in QUEUES))

    @property
    def has_work(self) -> bool:
        """Whether anything but watches waits."""
        waiting = [job for name in QUEUES for job in self._redis.lrange(f"rq:queue:{name}", 0, -1)]
        return not all(job.startswith(b"watch-") for job in waiting)

    def pop_batch(self) -> Job | None:
        """The next batch, while other workers have what waits before it."""
        for queue in queues.batch_queues():
            for raw in self._redis.lrange(f"rq:queue:{queue}", 0, -1):
                if raw.startswith(BATCHES) and self._redis.exists(Job.key_for(raw.decode())):
                    self._redis.lrem(f"rq:queue:{queue}", 1, raw)
                    return Job.fetch(raw.decode(), connection=self._redis)
        return None

    def pop(self) -> Job | None:
        """What a worker takes next from its queues; a job whose data is gone is passed over."""
        self.come()  # workers register again and again; without any, pages wait for a browser for ever
        for name in QUEUES:
            while raw := self._redis.lpop(f"rq:queue:{name}"):
                try:
                    return Job.fetch(raw.decode(), connection=self._redis)
                except NoSuchJobError:
                    continue
        return None

    def is_for_last_queues(self) -> bool:
        return any(self._redis.llen(f"rq:queue:{name}") for name in queues.batch_queues()[1:])

    def lose_next(self, queue: str) -> None:
        """A worker is killed between popping a job and starting it."""
        lost = self._redis.lpop(f"rq:queue:{queue}")
        self.is_lifeline_lost |= lost is not None and b"lifeline" in lost

    def run_next(self) -> Process | None:
        job = self.pop()
        return None if job is None else self.run(job)

    def run(self, job: Job, process: Process | None = None, *, seems_dead: bool = False) -> Process:
        """Run a job to its end or its death. RQ calls it started until then; after a death for longer."""
        process = process or Process()
        self.ran.append(str(job.description))
        registry, member = f"rq:wip:{job.origin}", f"{job.id}:by-hand"
        self._redis.zadd(registry, {member: current_timestamp() + BELIEVED_ALIVE})
        self._at_work.append(AtWork(seems_dead=seems_dead))
        with self._stage.process(process):
            self._perform(job)
        if process.is_dead or self._at_work[-1].seems_dead:
            self.seem_dead(job)
        self._at_work.pop()
        if process.is_dead:
            self.is_lifeline_lost |= "lifeline" in job.id
        else:
            self._redis.zrem(registry, member)
            self._redis.delete(Job.key_for(job.id))
        return process

    def seem_dead(self, job: Job) -> None:
        """The worker of this job, which is the one at work, is stopped, or dead; nobody can tell which."""
        at_work = self._at_work[-1]
        at_work.seems_dead = True
        if job.func_name == "crawler.jobs.fetch":
            batches = [Batch.from_plain(job.args[0]), *at_work.helped]
            self.suspects.update(task.id for batch in batches for part in batch.slices for task in part.pages)
            self.deaths.update(at_work.begun)

    def withheld_pages(self, crawl: UUID) -> int:
        """How many pages the reports that are yet to arrive are about."""
        mine = [reports for frontier, _, reports in self.withheld if frontier.keys.crawl == str(crawl)]
        return sum(len(report.results) for reports in mine for report in reports)

    def beginning(self, take_in_hand: Callable[[SliceRun, PageTask], bool]) -> Callable[[SliceRun, PageTask], bool]:
        """Notes which pages a fetch job begins to ask for."""

        def noted(run: SliceRun, task: PageTask) -> bool:
            self._at_work[-1].begun.add(task.id)
            return take_in_hand(run, task)

        return noted

    def adopting(
        self, adopt: Callable[[Sequence[str], str], Plain | None]
    ) -> Callable[[Sequence[str], str], Plain | None]:
        """Notes what a fetch job takes out of the queue."""

        def noted(among: Sequence[str], queue: str) -> Plain | None:
            plain = adopt(among, queue)
            if plain is not None:
                self._at_work[-1].helped.append(Batch.from_plain(plain))
            return plain

        return noted

    def _await_job(self, seconds: float) -> None:
        """No time passes when a job was sent: whoever sent it signalled it."""
        if not self.has_work:
            self._clock.sleep(seconds)

    def _perform(self, job: Job) -> None:
        name = str(job.func_name).rpartition(".")[2]
        try:
            if name == "watch":
                poll_while_idle(wait=self._await_job, clock=self._clock.time, sleep=self._clock.sleep)
            else:
                door: Callable[..., Any] = getattr(jobs, name)
                door(*job.args)
        except (ObjectDoesNotExist, IntegrityError):  # of a crawl that was deleted meanwhile, or else a fault
            self.failures.append(traceback.format_exc())
