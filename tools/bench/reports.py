"""`bin/bench reports`: two large finished crawls, made up in the database, and the time each page and report takes."""

from __future__ import annotations

import gc
import json
import os
import statistics
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import django

from tools.bench.services import cores, own_postgresql, own_redis

if TYPE_CHECKING:
    from django.test import Client

    from tools.bench.doors import (
        Door,
    )  # models can be imported once Django is set up, and with them all that asks for them

FIRST_MS = 5_000  # the first request may have to compute the report; it is cached from then on
_ROW = "{:<8} {:<58} {:>7} {:>7} {:>7} {:>7} {:>7}  {}"


class Timed(NamedTuple):
    """One door, asked for several times."""

    group: str
    name: str
    limit_ms: int
    status: int
    first_ms: float  # to the first byte, where nobody has been before; the longest, where it takes several to be whole
    times_ms: Sequence[float]  # of those after it
    cpu_ms: float  # what this process had to do for one of them: the rest is the database's server, or a busy machine

    @property
    def median_ms(self) -> float:
        return statistics.median(self.times_ms)

    @property
    def trouble(self) -> str:
        """What is wrong with it; "" = nothing."""
        if self.status != 200:
            return f"STATUS {self.status}"
        if self.median_ms > self.limit_ms:
            return "TOO SLOW"
        return "TOO SLOW AT FIRST" if self.first_ms > FIRST_MS else ""


class _Opened(NamedTuple):
    """One door, asked for once."""

    status: int
    is_ready: bool
    took_ms: float  # until the first byte
    cpu_ms: float  # of these, what this process worked


def main(chosen: Namespace) -> int:
    """1. A database of its own. 2. Two crawls in it. 3. Every door, so many times. 4. Tell; 1 when one is too slow."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name, ExitStack() as services:
        work = Path(name)
        os.environ |= {"CRAWLER_DATA_DIR": str(work), "REDIS_URL": services.enter_context(own_redis(work))}
        os.environ["DATABASE_URL"] = database(chosen, work, services)
        os.environ["DJANGO_SETTINGS_MODULE"] = "crawler.settings.development"
        django.setup()
        migrate()
        with crawls(chosen.pages, chosen.links, chosen.seed) as (older, newer):
            tidy_up()
            timed = list(_shown(all_timed(newer, older, chosen.times)))
    slow = [one for one in timed if one.trouble]
    print(f"{len(timed)} addresses, {len(slow)} of them too slow or in trouble")
    print(*(line(one) for one in slow), sep="\n", end="\n" if slow else "")
    if chosen.json:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        chosen.json.write_text(json.dumps(_plain(chosen, timed), indent=1) + "\n")
    return 1 if slow else 0


@contextmanager
def crawls(pages: int, links: int, seed: int) -> Iterator[list[Any]]:
    """Two crawls of a site, the earlier first; they are deleted when this ends."""
    from crawler.models import Crawl
    from tools.bench.made_up import Site, forget, made_up

    made = []
    try:
        for run in range(2):
            began = time.perf_counter()
            made.append(made_up(Site(pages, links, seed, run)))
            print(
                f"crawl of {pages:,} pages made up in {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True
            )
        yield [Crawl.objects.get(id=crawl) for crawl in made]
    finally:
        for crawl in made:
            forget(crawl)


def all_timed(crawl: Any, other: Any, times: int) -> Iterator[Timed]:
    """Every door to this crawl, opened by somebody who sees everything."""
    from django.contrib.auth.models import User
    from django.test import Client

    from crawler.reports import result_cache
    from tools.bench.doors import doors

    someone, _ = User.objects.get_or_create(username="bench", is_superuser=True, is_staff=True)
    browser = Client(SERVER_NAME="127.0.0.1")
    browser.force_login(someone)
    found = list(doors(crawl, other))
    result_cache.forget(crawl.id)  # to learn what lies behind a line, reports were looked at already
    for door in found:
        until_ready = [opened := _opened(browser, door)]
        while not opened.is_ready:
            until_ready.append(opened := _opened(browser, door))
        first = max(one.took_ms for one in until_ready)
        again = [_opened(browser, door) for _ in range(times)]
        cpu = statistics.median(one.cpu_ms for one in again)
        yield Timed(door.group, door.name, door.limit_ms, opened.status, first, [one.took_ms for one in again], cpu)


def line(one: Timed) -> str:
    return _ROW.format(
        one.group,
        one.name,
        f"{one.first_ms:.0f}",
        f"{one.median_ms:.0f}",
        f"{max(one.times_ms):.0f}",
        f"{one.cpu_ms:.0f}",
        one.limit_ms,
        one.trouble,
    )


def _opened(browser: Client, door: Door) -> _Opened:
    headers = {"HX-Request": "true"} if door.is_part else {}
    began, worked = time.perf_counter(), time.process_time()
    response = browser.get(door.address, headers=headers)
    if response.streaming:
        next(iter(response.streaming_content), b"")
    took, worked = time.perf_counter() - began, time.process_time() - worked
    status, is_file = response.status_code, response.streaming
    is_ready = is_file or not door.unready or door.unready not in response.text
    del response
    if is_file:
        gc.collect()  # the rest of it is let go now, and not in the middle of a question to the database
    return _Opened(status, is_ready, took * 1000, worked * 1000)


def database(chosen: Namespace, work: Path, services: ExitStack) -> str:
    if not chosen.postgres:
        return f"sqlite:///{work / 'db.sqlite3'}"
    return services.enter_context(own_postgresql(work)) if chosen.postgres == "own" else chosen.postgres


def migrate() -> None:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def tidy_up() -> None:
    """What PostgreSQL does by itself a minute after so many rows were written."""
    from django.db import connection

    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")


def _shown(timed: Iterable[Timed]) -> Iterator[Timed]:
    print(_ROW.format("", "milliseconds", "first", "median", "slowest", "CPU", "limit", ""))
    for one in timed:
        print(line(one), flush=True)
        yield one


def _plain(chosen: Namespace, timed: Sequence[Timed]) -> dict[str, Any]:
    return {
        "pages": chosen.pages,
        "links": chosen.links,
        "database": "PostgreSQL" if chosen.postgres else "SQLite",
        "cores": cores(),
        "addresses": [one._asdict() | {"median_ms": one.median_ms, "trouble": one.trouble} for one in timed],
    }
