"""`bin/bench idle`: what workers cost that have nothing to do, in CPU time, Redis commands and SQL transactions."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple, cast

import django
import redis

from tools.bench import ours
from tools.bench.processes import cpu_seconds
from tools.bench.services import LOOPBACK, own_postgresql

STATES = {
    "none": "no crawl runs",
    "waiting": "a crawl runs, and its server put its only page off for an hour",
    "polite": "a crawl runs whose one host is asked every 20 s",
    "paused": "a crawl is paused",
}
MOST_PERCENT = 0.3  # of a core, each worker
PATIENT = {"CRAWLER_RETRY_AFTER_WAIT": "7200"}  # seconds; so that the crawl that waits does not end
SETTLE = 15.0  # seconds after a state was brought about
OURS = frozenset({"info", "auth", "hello", "client|setinfo"})  # commands that tell nothing about the workers
_ROW = "{:<8} {:>8} {:>14} {:>18} {:>13}  {}"


class Cost(NamedTuple):
    """Of all workers together."""

    state: str
    workers: int
    seconds: float
    cpu_seconds: float
    commands: Mapping[str, int]  # Redis command -> calls
    transactions: int | None  # of PostgreSQL; None = not counted (SQLite)

    @property
    def percent(self) -> float:
        """Of a core, for each worker."""
        return 100 * self.cpu_seconds / self.seconds / self.workers

    @property
    def commands_a_second(self) -> float:
        """For each worker."""
        return sum(self.commands.values()) / self.seconds / self.workers

    def line(self) -> str:
        sql = "" if self.transactions is None else f"{self.transactions / self.seconds / self.workers:.2f}"
        most = ", ".join(f"{name} {calls}" for name, calls in Counter(self.commands).most_common(6))
        figures = (f"{self.percent:.2f}", f"{self.commands_a_second:.1f}", sql)
        return _ROW.format(self.state, self.workers, *figures, most)


def main(chosen: Namespace) -> int:
    """1. A stack with so many workers. 2. Each state in turn; measure it once it has settled. 1 when one costs too
    much."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name, ExitStack() as services:
        work, python = Path(name), Path(sys.executable)
        url = services.enter_context(own_postgresql(work)) if chosen.postgres else None
        if url is not None:
            ours.migrate(python, ours.environment_of(work, python, ours.NO_REDIS, url))
        kind = ours.Worker.STOCK if chosen.stock else ours.Worker.OWN
        stack = services.enter_context(
            ours.stack(work / "ours", python, workers=chosen.workers, worker=kind, database_url=url, settings=PATIENT)
        )
        os.environ |= {**stack.environment, "DJANGO_SETTINGS_MODULE": "crawler.settings.development"}
        django.setup()
        site = services.enter_context(_served())
        print(_ROW.format("state", "workers", "CPU % each", "Redis cmd/s each", "SQL/s each", "Redis commands"))
        found = list[Cost]()
        for state in chosen.states:
            with _brought_about(state, site):
                time.sleep(SETTLE)
                found.append(_measured(state, stack, chosen.seconds))
            print(found[-1].line(), flush=True)
    if chosen.json:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        chosen.json.write_text(json.dumps([cost._asdict() for cost in found], indent=1) + "\n")
    return int(any(cost.percent > MOST_PERCENT for cost in found))


@contextmanager
def _brought_about(state: str, site: str) -> Iterator[None]:
    from crawler.core.options.catalogue import CrawlOptions  # models can be imported once Django is set up
    from crawler.crawls.control import cancel, pause
    from crawler.crawls.start import start_crawl

    if state == "none":
        yield
        return
    options = CrawlOptions(delay=20.0 if state == "polite" else 0.0, throttle=False)
    path = "/later" if state == "waiting" else "/"
    crawl = start_crawl([f"{site}{path}"], options, allow_private=True)
    if state == "paused":
        pause(crawl.id)
    yield
    cancel(crawl.id)


def _measured(state: str, stack: ours.Stack, seconds: float) -> Cost:
    with redis.Redis.from_url(stack.redis_url) as client:
        pids = [worker.pid for worker in stack.workers]
        began, before = time.monotonic(), (_commands(client), cpu_seconds(pids), _transactions())
        time.sleep(seconds)
        after, lasted = (_commands(client), cpu_seconds(pids), _transactions()), time.monotonic() - began
    done = None if after[2] is None or before[2] is None else after[2] - before[2]
    return Cost(state, len(pids), lasted, after[1] - before[1], after[0] - before[0], done)


def _commands(client: redis.Redis) -> Counter[str]:
    """Calls of each command so far, those in scripts among them."""
    told = cast("dict[str, Any]", client.info("commandstats"))
    calls = {name.removeprefix("cmdstat_"): int(one["calls"]) for name, one in told.items()}
    return Counter({name: number for name, number in calls.items() if name not in OURS})


def _transactions() -> int | None:
    """Committed and rolled back so far; outside of a transaction each statement is one."""
    from django.db import connection

    if connection.vendor != "postgresql":
        return None
    with connection.cursor() as cursor:
        cursor.execute("SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()")
        return int(cursor.fetchone()[0])


@contextmanager
def _served() -> Iterator[str]:
    server = ThreadingHTTPServer((LOOPBACK, 0), _Site)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://{LOOPBACK}:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


class _Site(BaseHTTPRequestHandler):
    """A page with a hundred links, and one that is put off."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/later":
            self._say(503, "", ("Retry-After", "3600"))
        elif self.path == "/":
            self._say(200, "".join(f"<a href='/{number}'>{number}</a>" for number in range(100)))
        else:
            self._say(404 if self.path == "/robots.txt" else 200, "")

    def _say(self, status: int, text: str, *headers: tuple[str, str]) -> None:
        body = text.encode()
        self.send_response(status)
        for name, value in (("Content-Type", "text/html"), ("Content-Length", str(len(body))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
