"""`bin/bench delete`: how long a large crawl takes to delete, and what that does to another crawl meanwhile.

Two finished crawls are made up in a database of its own, and one of them is deleted as the product does it. Beside that
another process stores results of a third crawl without a pause, as `bin/bench collect` does.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from uuid import UUID

import django

from tools.bench import generated
from tools.bench.collect import HOST, RESULTS_PER_REPORT, Cost, report_of
from tools.bench.page_bytes import pack, sizes
from tools.bench.reports import database, migrate, tidy_up
from tools.bench.services import own_redis

BATCH = 256  # results that a tick stores
ALONE_S = 5.0  # ticks are timed for so long before the deletion
LEAST_TO_COMPARE = 5
MB = 1_000_000

Tick = tuple[float, float]
"""When it began (monotonic), and the seconds it took."""


@dataclass(frozen=True)
class Deletion:
    """Times in seconds, sizes in bytes of all tables and indexes."""

    pages: int
    deleted: int
    steps: Sequence[float]  # each a transaction or two over some pages; the last one is the crawl's own row
    ticks_alone: Sequence[float]
    ticks_beside: Sequence[float]
    size_before: int
    size_after: int  # with the pages that the ticks added
    size_packed: int
    packing: float  # VACUUM FULL of all tables, SQLite's VACUUM

    def lines(self) -> Iterator[str]:
        *steps, last = self.steps
        yield f"{self.deleted:,} of {self.pages:,} pages deleted in {sum(self.steps):.1f} s"
        yield f"{len(steps)} steps: {_spread(steps)}; the crawl's own row: {last:.2f} s"
        yield f"{len(self.ticks_alone)} ticks before it: {_spread(self.ticks_alone)}"
        yield f"{len(self.ticks_beside)} ticks beside it: {_spread(self.ticks_beside)}"
        before, after, packed = (f"{size / MB:,.0f}" for size in (self.size_before, self.size_after, self.size_packed))
        yield f"tables and indexes: {before} MB before, {after} after, {packed} packed, which took {self.packing:.1f} s"


def main(chosen: Namespace) -> int:
    """1. Redis and a database of its own. 2. Two crawls in it. 3. Delete one of them. 4. Tell how it went."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name, ExitStack() as services:
        work = Path(name)
        os.environ |= {"CRAWLER_DATA_DIR": str(work), "REDIS_URL": services.enter_context(own_redis(work))}
        os.environ["DATABASE_URL"] = database(chosen, work, services)
        os.environ["DJANGO_SETTINGS_MODULE"] = "crawler.settings.development"
        django.setup()
        migrate()
        deletion = deleted(chosen.pages, min(chosen.delete, chosen.pages), chosen.links)
    print(*deletion.lines(), sep="\n")
    if chosen.json:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        chosen.json.write_text(json.dumps(asdict(deletion), indent=1) + "\n")
    return 0


def deleted(pages: int, delete: int, links: int, alone: float = ALONE_S) -> Deletion:
    """Delete so many of so many pages, which are a crawl of their own."""
    from tools.bench.made_up import Site, made_up

    if pages > delete:
        made_up(Site(pages - delete, links, seed=1))
    crawl = made_up(Site(delete, links, seed=2))
    tidy_up()
    before = sum(sizes().values())
    with _ticking() as ticks:
        time.sleep(alone)
        began = time.monotonic()
        steps = list(_steps(crawl))
        ended = time.monotonic()
    after = sum(sizes().values())
    packing = time.monotonic()
    pack()
    packing = time.monotonic() - packing
    return Deletion(
        pages=pages,
        deleted=delete,
        steps=steps,
        ticks_alone=[took for at, took in ticks if at + took < began],
        ticks_beside=[took for at, took in ticks if at + took >= began and at < ended],
        size_before=before,
        size_after=after,
        size_packed=sum(sizes().values()),
        packing=packing,
    )


def _steps(crawl: UUID) -> Iterator[float]:
    from crawler.crawls.delete import delete_in_steps

    steps, goes_on = delete_in_steps(crawl), True
    while goes_on:
        began = time.monotonic()
        goes_on = next(steps, StopIteration) is not StopIteration
        yield time.monotonic() - began


@contextmanager
def _ticking() -> Iterator[list[Tick]]:
    """Ticks of another crawl, in a process of their own; the list is filled when this ends."""
    from django.db import connection

    from crawler.queueing import queues

    connection.close()
    queues.connection().connection_pool.disconnect()
    forking, ticks = get_context("fork"), list[Tick]()
    here, there = forking.Pipe()
    process = forking.Process(target=_tick, args=(there,), daemon=True)
    process.start()
    there.close()  # so that the end of the process is noticed
    try:
        here.recv()  # it has begun
        yield ticks
    finally:
        here.send(None)
        ticks += here.recv()
        process.join()


def _tick(end: Connection) -> None:
    """Parse pages, and time how long their results take to be stored, until it is told to end."""
    from crawler.core.options.catalogue import CrawlOptions
    from crawler.crawls.start import start_crawl
    from crawler.manager.collect import collect
    from crawler.manager.context import context_of
    from crawler.storage import queries

    site, ticks, last = generated.Site(10_000_000), list[Tick](), 0
    context = context_of(start_crawl([f"{HOST}/"], CrawlOptions(), allow_private=True))
    while not end.poll():
        rows = queries.next_open(context.id, 5, last, BATCH, None)
        last = rows[-1].id
        for at in range(0, len(rows), RESULTS_PER_REPORT):
            report = report_of(site, rows[at : at + RESULTS_PER_REPORT], Cost())
            context.frontier.redis.rpush(context.frontier.keys.results, report)
        began = time.monotonic()
        while collect(context):
            pass
        ticks.append((began, time.monotonic() - began))
        if len(ticks) == 1:
            end.send(None)
    end.send(ticks)


def _spread(seconds: Sequence[float]) -> str:
    if len(seconds) < LEAST_TO_COMPARE:
        return f"longest {max(seconds, default=0):.2f} s"
    at_95 = statistics.quantiles(seconds, n=20, method="inclusive")[-1]
    return f"median {statistics.median(seconds):.2f} s, 95 % within {at_95:.2f}, longest {max(seconds):.2f}"
