"""`bin/bench scale --measured MINUTES`: a day in some minutes, with real crawls and workers of `manage.py autoscale`.

Everything it starts is its own and on loopback. The sites respond slowly and a worker has few connections, so that
several workers are useful though the machine has little to do.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import django
from rq import Worker

from tests.site import Reply, Site, page
from tests.stack import Stack
from tools.bench.scale import Moment
from tools.bench.services import own_redis

IDLE_S = 10.0  # an hour of the day, if it lasts for four minutes
CONNECTIONS, RESPONSE_S = 4, 0.5  # of a worker; of each page
CRAWLS, KINDS = 10, ((1, 1.0), (4, 0.0), (8, 0.0), (16, 0.0))  # connections and delay of a crawl
SAMPLE_S = 0.5
END_S = 120.0  # at most, until all is done


@dataclass(frozen=True)
class ShortCrawl:
    begins: float  # seconds
    pages: int
    connections: int
    delay: float


def crawls_of(seconds: float, seed: int) -> list[ShortCrawl]:
    """Crawls that begin within 70 % of the time, and take up to a seventh of it each if they are given the workers."""
    rng = random.Random(seed)

    def one(connections: int, delay: float) -> ShortCrawl:
        lasts = rng.uniform(seconds / 20, seconds / 7)
        return ShortCrawl(
            rng.triangular(seconds / 20, 0.7 * seconds),
            int(lasts * (1 / delay if delay else connections / RESPONSE_S)),
            connections,
            delay,
        )

    return sorted((one(*KINDS[place % len(KINDS)]) for place in range(CRAWLS)), key=lambda crawl: crawl.begins)


def measured(seconds: float, most: int, seed: int) -> tuple[list[ShortCrawl], list[Moment]]:
    """Run the crawls, and look every SAMPLE_S until all are finished and no worker is left. Raises AssertionError if a
    crawl is not exact."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings.test")
    django.setup()  # for the start of a crawl
    chosen = crawls_of(seconds, seed)
    with tempfile.TemporaryDirectory(prefix="bench-") as name, ExitStack() as ending:
        stack = ending.enter_context(_stack(Path(name)))
        sites = [ending.enter_context(_site(crawl).serving()) for crawl in chosen]
        scaler = stack.spawn(sys.executable, "manage.py", "autoscale", "--min", "0", "--max", str(most))
        moments, begun, began = list[Moment](), list[UUID](), time.monotonic()
        while True:
            at = time.monotonic() - began
            while len(begun) < len(chosen) and chosen[len(begun)].begins <= at:
                begun.append(_start(stack, sites[len(begun)], chosen[len(begun)]))
            moments.append(_moment(stack, at))
            last = moments[-1]
            if at >= seconds and last.open == last.running == 0 and len(begun) == len(chosen):
                break
            assert at < seconds + END_S, f"it does not end:\n{stack.log()[-3000:]}"
            time.sleep(SAMPLE_S)
        scaler.send_signal(signal.SIGTERM)
        scaler.wait(20)
        _check(stack, begun, sites)
    return chosen, moments


def _check(stack: Stack, crawls: Sequence[UUID], sites: Sequence[Site]) -> None:
    for crawl, site in zip(crawls, sites, strict=True):
        receipt = stack.receipt(crawl)
        found = (receipt["fetched"], receipt["retries"], set(site.hits.values()))
        assert found == (len(site.pages), 0, {1}), f"{crawl} is not exact: {found}"


def _start(stack: Stack, site: Site, crawl: ShortCrawl) -> UUID:
    options = {"concurrency": crawl.connections, "delay": crawl.delay, "throttle": False, "obey_robots": False}
    return stack.start(f"{site.url}/", **options)


def _moment(stack: Stack, at: float) -> Moment:
    from crawler.frontier.workload import shown_figure  # it needs Django's settings

    shown = shown_figure(stack.redis)
    wanted = shown.steady.wanted if shown else 0
    open_pages = stack.rows("SELECT COUNT(*) AS open FROM crawler_page WHERE status = 0")[0]["open"]
    return Moment(at, wanted, wanted, Worker.count(connection=stack.redis), open_pages)


def _site(crawl: ShortCrawl) -> Site:
    pages = {f"/{number}": Reply(page(), after=RESPONSE_S) for number in range(crawl.pages)}
    return Site({"/": page(*pages), **pages})


@contextmanager
def _stack(folder: Path) -> Iterator[Stack]:
    settings = {"CRAWLER_WORKER_IDLE_SECONDS": f"{IDLE_S:g}", "CRAWLER_WORKER_CONNECTIONS": str(CONNECTIONS)}
    with own_redis(folder) as redis_url:
        stack = Stack(folder, redis_url, **settings)
        try:
            yield stack
        finally:
            stack.end()
