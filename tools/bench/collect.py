"""`bin/bench collect`: what a page costs the crawl manager when it stores results, in statements, CPU and time.

The generated site is crawled without workers: its pages are parsed as a fetch job parses them, their reports are left
in Redis, and only the step of the tick that stores them is measured.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import django

from tools.bench.generated import Site
from tools.bench.reports import database, migrate
from tools.bench.services import own_redis

if TYPE_CHECKING:
    from crawler.manager.context import TickContext
    from crawler.models import Crawl
    from crawler.storage.queries import OpenPage  # models can be imported once Django is set up
    from crawler.storage.writer import ApplyResult

HOST = "http://127.0.0.1"
RESULTS_PER_REPORT = 16
HEADERS = 'Server: nginx\nContent-Type: text/html; charset=utf-8\nCache-Control: max-age=60\nETag: "6543-21"'
BATCHES_EACH = 8  # transactions of each of several collectors, between two stops in which pages are parsed
NS_PER_S = 1_000_000_000


@dataclass
class Cost:
    """Of all measured pages together; times in seconds."""

    pages: int = 0
    links: int = 0
    statements: int = 0
    server_cpu: float = 0.0  # of PostgreSQL's process for this connection; SQLite has none
    own_cpu: float = 0.0  # of this process: the manager, and SQLite
    wall: float = 0.0
    locked: float = 0.0  # of it, in transactions of this process: other collectors wait meanwhile

    def line(self) -> str:
        milliseconds = [
            f"{1000 * seconds / self.pages:.3f}" for seconds in (self.server_cpu, self.own_cpu, self.wall, self.locked)
        ]
        figures = (f"{self.links / self.pages:.0f}", f"{self.statements / self.pages:.2f}", *milliseconds)
        return _ROW.format(f"{self.pages:,}", *figures, f"{self.pages / self.wall:,.0f}")


_ROW = "{:>8} {:>8} {:>14} {:>14} {:>14} {:>10} {:>10} {:>9}"
_HEAD = _ROW.format(
    "pages", "links", "SQL a page", "server ms CPU", "manager ms CPU", "ms a page", "ms locked", "pages/s"
)


def main(chosen: Namespace) -> int:
    """1. Redis and a database of its own. 2. A crawl of so many pages. 3. Tell what they cost."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name, ExitStack() as services:
        work = Path(name)
        os.environ |= {"CRAWLER_DATA_DIR": str(work), "REDIS_URL": services.enter_context(own_redis(work))}
        os.environ["DATABASE_URL"] = database(chosen, work, services)
        os.environ["DJANGO_SETTINGS_MODULE"] = "crawler.settings.development"
        django.setup()
        migrate()
        cost = crawled(chosen.pages, chosen.batch, chosen.collectors)
    print(_HEAD, cost.line(), sep="\n")
    if chosen.json:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        chosen.json.write_text(json.dumps(asdict(cost), indent=1) + "\n")
    return 0


def crawled(pages: int, batch: int, collectors: int = 1) -> Cost:
    """Crawl the generated site, so many results a transaction, by as many processes as there are collectors."""
    from crawler.core.options.catalogue import CrawlOptions
    from crawler.crawls.start import start_crawl
    from crawler.manager.context import context_of
    from crawler.storage import queries

    site, cost, last = Site(pages), Cost(), 0
    context = context_of(start_crawl([f"{HOST}/"], CrawlOptions(), allow_private=True))
    at_most = batch if collectors == 1 else batch * collectors * BATCHES_EACH
    with _helpers(context.crawl, collectors) as helpers:
        while rows := queries.next_open(context.id, 5, last, at_most, None):
            last = rows[-1].id
            for number, at in enumerate(range(0, len(rows), RESULTS_PER_REPORT)):
                keys = context.frontier.keys.of_all_collectors()[number % collectors]
                context.frontier.redis.rpush(keys.results, report_of(site, rows[at : at + RESULTS_PER_REPORT], cost))
            with _measured(cost):
                for helper in helpers:
                    helper.send(True)
                _store_all(context)
                for helper in helpers:
                    helper.recv()
    context.crawl.refresh_from_db()
    if (context.crawl.discovered, context.crawl.tallies.open) != (pages, 0):
        raise SystemExit(f"{context.crawl.tallies.open} of {context.crawl.discovered} pages were not stored")
    return cost


def _store_all(context: TickContext) -> None:
    from crawler.manager.collect import collect

    while collect(context):
        pass


@contextmanager
def _helpers(crawl: Crawl, collectors: int) -> Iterator[list[Connection]]:
    """A process for each collector but the first; each stores its share whenever it is called."""
    from django.db import connection

    from crawler.queueing import queues

    connection.close()
    queues.connection().connection_pool.disconnect()
    forking, ends = get_context("fork"), list[Connection]()
    processes = []
    for number in range(1, collectors):
        here, there = forking.Pipe()
        processes.append(forking.Process(target=_help, args=(crawl, number, there), daemon=True))
        processes[-1].start()
        ends.append(here)
    try:
        yield ends
    finally:
        for end in ends:
            end.send(False)
        for process in processes:
            process.join()


def _help(crawl: Crawl, number: int, end: Connection) -> None:
    from crawler.manager.context import context_of

    context = context_of(crawl, number)
    while end.recv():
        _store_all(context)
        end.send(True)


def report_of(site: Site, rows: Sequence[OpenPage], cost: Cost) -> bytes:
    """The report of a fetch job for these pages."""
    from crawler.core.pages.outcomes import Outcome
    from crawler.core.protocol.messages import PageTask, SliceReport, encode_report
    from crawler.fetcher.page_result import result_of
    from crawler.http.fetcher import FetchResult

    results = []
    for row in rows:
        body = site.html(site.page_at(row.url.removeprefix(HOST)) or 0)
        fetched = FetchResult(
            outcome=Outcome.SUCCESS,
            http_status=200,
            content_type="text/html",
            content_type_header="text/html; charset=utf-8",
            headers=HEADERS,
            body=body,
            bytes_read=len(body),
            elapsed_ms=12,
            first_byte_ms=11,
            requests=1,
        )
        results.append(result_of(PageTask(row.id, row.url, 1), fetched, time.time()))
        cost.links += len(results[-1].links)
    cost.pages += len(results)
    return encode_report(SliceReport(batch="bench", token="", slice=0, host=HOST, results=tuple(results)))


@contextmanager
def _measured(cost: Cost) -> Iterator[None]:
    from django.db import connection

    from crawler.storage import writer

    def counted(execute: Callable[..., Any], sql: str, parameters: Any, many: bool, context: Any) -> Any:
        cost.statements += len(parameters) if many else 1
        return execute(sql, parameters, many, context)

    def timed(*args: Any, **more: Any) -> ApplyResult:
        begun = time.perf_counter()
        try:
            return apply(*args, **more)
        finally:
            cost.locked += time.perf_counter() - begun

    began, worked, served, apply = time.perf_counter(), time.process_time(), _server_seconds(), writer.apply
    with connection.execute_wrapper(counted):
        writer.apply = timed
        yield
        writer.apply = apply
    cost.wall += time.perf_counter() - began
    cost.own_cpu += time.process_time() - worked
    cost.server_cpu += _server_seconds() - served


def _server_seconds() -> float:
    """CPU time so far of the process that serves this connection (proc(5), schedstat); 0 with SQLite."""
    from django.db import connection

    if connection.vendor != "postgresql":
        return 0.0
    connection.ensure_connection()
    pid = connection.connection.info.backend_pid
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / NS_PER_S
