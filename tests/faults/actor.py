"""What a process on the stage does, and where it is struck: killed, stopped, or robbed of what Redis knew."""

import json
import mmap
import os
import signal
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.db import connection
from rq import Queue, SimpleWorker
from rq import Worker as ForkingWorker
from rq.job import Job
from rq.utils import now as rq_now
from rq.worker import BaseWorker

from crawler import clock as shared_clock
from crawler import crashpoints
from crawler.capabilities.browser import page_steps
from crawler.capabilities.scrapy import driver
from crawler.core.access.credentials import parse
from crawler.core.access.reach import OPERATOR
from crawler.core.extraction.rules import FieldRule
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.placement import placed
from crawler.core.urls.normalise import origin_of
from crawler.crawls import change, control, delete, kept_extraction, retry
from crawler.crawls.schedules import add_schedule, run_due
from crawler.crawls.start import start_crawl
from crawler.encryption import seal
from crawler.fetcher import result_buffer, robots_check
from crawler.fetcher.page import PageFetcher
from crawler.frontier.keys import CRAWLS
from crawler.frontier.results import Results
from crawler.manager import add, dispatch, idle_poller
from crawler.manager import tick as manage
from crawler.models import Crawl, Delivery, KeptExtraction, Page
from crawler.queueing import queues
from crawler.worker import DEQUEUE_TIMEOUT_S, Worker
from tests.faults import hooked
from tests.faults.given import GivenClock, live_by
from tests.rendering_twin import Browser, Crashed
from tests.scrapy_twin import Scrapy


class Actor:
    """`strikes` are [moment, its how-manieth time, what then happens]; see `_STRIKES`."""

    def __init__(self, clock: GivenClock, folder: Path, strikes: Sequence[tuple[str, int, str]]) -> None:
        live_by(clock)
        self._clock, self._folder, self._strikes = clock, folder, strikes
        self._queues, self._browser = ["crawl", "fetch"], Browser({})
        self._scrapy = Scrapy(lambda: self.reach("fetch: page in Scrapy"))
        self._reached = mmap.mmap(-1, max(1, len(strikes)))  # a byte a strike; shared with work-horses, which die
        crashpoints.arm(self.reach)
        self._look_inside()

    def play(self, steps: Sequence[Sequence[Any]]) -> None:
        for name, *given in steps:
            getattr(self, name)(*given)

    def _look_inside(self) -> None:
        """Moments inside a step have no crash point: a page, or a robots.txt, is about to be asked for."""
        self._before(PageFetcher, "fetch", "fetch: page to be asked for")
        self._before(robots_check, "fetch_robots", "fetch: robots.txt to be asked for")
        self._before(idle_poller, "reconcile", "watch: crawls to be looked at")
        self._before(Browser, "render", "fetch: page to be rendered")
        self._before(Results, "release_lock_if_clean", "tick: lock to be given back")
        self._before(hooked.Reading, "on_page", "hook: on_page called")  # in a thread of its own
        self._before(hooked.Noting, "on_closed", "hook: on_closed called")

    def _before(self, owner: Any, name: str, moment: str) -> None:
        step = getattr(owner, name)

        def reached(*given: Any, **named: Any) -> Any:
            self.reach(moment)
            return step(*given, **named)

        setattr(owner, name, reached)

    # What it does

    def start(self, url: str, options: dict[str, Any]) -> None:
        sealed = seal(parse(login_fields=["user=ann"])) if "login_url" in options else ""
        start_crawl([url], CrawlOptions.from_plain(options), allow_private=True, sealed=sealed)

    def scheduled_start(self, url: str, options: dict[str, Any]) -> None:
        """What the clock does when a schedule is due."""
        schedule = add_schedule([url], CrawlOptions.from_plain(options), "every 1h", allow_private=True)
        run_due(schedule.next_at)

    def work(self, worker: str, jobs: int | None = None) -> None:
        """Work RQ's queues until they are empty, or for some jobs."""
        _WORKERS[worker](self).work(burst=True, max_jobs=jobs, logging_level="WARNING")

    def render(self, shown: dict[str, str]) -> None:
        """From now on its workers render pages, too, in a browser that shows these."""
        self._queues, self._browser = ["crawl", "fetch", "render"], Browser(shown)
        page_steps.Renderer = self._browser  # type: ignore[misc, assignment]

    def run_scrapy(self) -> None:
        """From now on its workers run pages through Scrapy, too."""
        self._queues, driver.visit = ["crawl", "fetch", "scrapy"], self._scrapy.visit  # type: ignore[assignment]

    def hook(self, name: str) -> None:
        """From now on its settings name this class of `hooked`."""
        settings.CRAWLER_HOOKS = [f"{hooked.__name__}.{name}"]

    def leave_to_second(self) -> None:
        """From now on there are two collectors, and its batches are all the second's."""
        settings.CRAWLER_COLLECTORS = 2
        given = SimpleNamespace(randbelow=lambda number: number - 1, token_hex=dispatch.secrets.token_hex)
        dispatch.secrets = given  # type: ignore[assignment]

    def tick(self) -> None:
        manage.manage(_crawl())

    def report_often(self) -> None:
        """From now on a fetch job leaves a report after every other page."""
        result_buffer.FLUSH_PAGES = 2

    def look_after(self) -> None:
        """The project's worker with nothing to do: it has just looked at the crawls, and does so every few seconds."""
        self.wait(DEQUEUE_TIMEOUT_S)
        self.work("project")
        while not _all_is_done():
            self.wait(DEQUEUE_TIMEOUT_S)
            self.work("project")

    def wait(self, seconds: float) -> None:
        self._clock.pass_by(seconds)

    def pause(self) -> None:
        control.pause(_crawl())

    def resume(self) -> None:
        control.resume(_crawl())

    def finish(self) -> None:
        control.finish(_crawl())

    def change(self, values: dict[str, Any]) -> None:
        change.change(_crawl(), values, by=OPERATOR)

    def cancel(self) -> None:
        control.cancel(_crawl())

    def delete(self) -> None:
        delete.DELETE_ROWS_PER_TRANSACTION = 2
        delete.delete(_crawl())

    def retry_failed(self) -> None:
        retry.retry_failed(_crawl())

    def add(self, path: str, delay: float | None = None) -> None:
        """Add a page of the site."""
        crawl = Crawl.objects.get()
        url = f"{origin_of(crawl.start_urls[0])}{path}"
        add.add(crawl.id, [url], placed(None, delay, None, None, shared_clock.epoch_seconds()), by=OPERATOR)

    def again(self, path: str) -> None:
        page = Page.objects.get(url__endswith=path)
        add.ask_again(page.crawl_id, [page.id])

    def extract(self) -> None:
        """By a new rule, from kept HTML."""
        crawl = Crawl.objects.get()
        kept_extraction.start(crawl, [FieldRule(name="heading", selector="title")])
        kept_extraction.send(crawl.id)

    def release(self) -> None:
        retry.release(_crawl())

    def restore_database(self) -> None:
        """The database is again as it was when it was saved."""
        connection.ensure_connection()
        with closing(sqlite3.connect(self._folder / "saved.sqlite3")) as saved:
            saved.backup(connection.connection)

    # Where it is struck

    def reach(self, moment: str) -> None:
        """The process is at this moment now."""
        for number, (where, time, what) in enumerate(self._strikes):
            if where != moment or self._reached[number] == time:
                continue
            self._reached[number] += 1
            if self._reached[number] == time:
                for name in what.split(", "):
                    verb, _, given = name.partition(" ")
                    _STRIKES[verb](self, given)

    def kill(self, _: str) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def stop(self, _: str) -> None:
        """Until the test says that it may go on."""
        os.kill(os.getpid(), signal.SIGSTOP)

    def stop_worker(self, _: str) -> None:
        """To be done in a work-horse: from now on the worker that forked it does nothing, until it may go on."""
        os.kill(os.getppid(), signal.SIGSTOP)

    def crash(self, _: str) -> None:
        """The browser ends with the page it has; another one shows it."""
        crashed = Crashed("the browser crashed")
        self._browser.pages = {path: iter([crashed, shown]).__next__ for path, shown in self._browser.pages.items()}
        self._scrapy.dies_once = True

    def flush(self, _: str) -> None:
        queues.connection().flushall()

    def evict(self, pattern: str) -> None:
        redis = queues.connection()
        found = redis.keys(pattern)
        assert found, f"there is no key {pattern} to evict"
        redis.delete(*found)

    def save(self, _: str) -> None:
        """Keep what Redis holds now; see `theatre.restore`."""
        redis = queues.connection()
        keys = cast(list[bytes], redis.keys("*"))
        kept = [(key.hex(), max(0, redis.pttl(key)), cast(bytes, redis.dump(key)).hex()) for key in keys]
        (self._folder / "saved").write_text(json.dumps(kept))

    def save_database(self, _: str) -> None:
        """Make a backup, see `restore_database`."""
        with closing(sqlite3.connect(self._folder / "saved.sqlite3")) as saved:
            connection.connection.backup(saved)


_STRIKES: dict[str, Callable[[Actor, str], None]] = {
    "kill": Actor.kill,
    "stop": Actor.stop,
    "stop_worker": Actor.stop_worker,
    "crash": Actor.crash,
    "flush": Actor.flush,
    "evict": Actor.evict,
    "save": Actor.save,
    "save_database": Actor.save_database,
}


def _worker(kind: type[BaseWorker], *, is_up: bool) -> Callable[[Actor], BaseWorker]:
    """`is_up`: it has been there for a while, so that RQ's clean-up at a worker's start, and the worker's own first
    look, are over."""

    def made(actor: Actor) -> BaseWorker:
        class Struck(kind):  # type: ignore[misc, valid-type]
            def execute_job(self, job: Job, queue: Queue) -> None:
                """RQ has popped the job and noted nowhere that somebody has it."""
                actor.reach(f"popped: {str(job.func_name).rpartition('.')[2]}")
                super().execute_job(job, queue)

            def subscribe(self) -> None:
                """It is sent no orders, and RQ takes up to a second to stop listening for any."""

        redis = queues.connection()
        worker: BaseWorker = Struck([Queue(name, connection=redis) for name in actor._queues], connection=redis)
        if is_up:
            worker.last_cleaned_at = rq_now()  # type: ignore[assignment]  # RQ gives it no type but None
        return worker

    return made


_WORKERS: dict[str, Callable[[Actor], BaseWorker]] = {
    "at hand": _worker(SimpleWorker, is_up=True),
    "starting": _worker(SimpleWorker, is_up=False),
    "forking": _worker(ForkingWorker, is_up=False),
    "project": _worker(Worker, is_up=False),
}


def _crawl() -> UUID:
    found: UUID = Crawl.objects.values_list("id", flat=True).get()
    return found


def _all_is_done() -> bool:
    return not (
        Crawl.objects.filter(state="running").exists()
        or Delivery.objects.filter(state=Delivery.PENDING).exists()
        or KeptExtraction.objects.filter(done_at=None).exists()
        or queues.connection().exists(CRAWLS)
    )


def act(clock: GivenClock, folder: Path, line: str) -> None:
    """Do what one line of JSON says, then end."""
    given = json.loads(line)
    Actor(clock, folder, given["strikes"]).play(given["steps"])
    connection.close()
