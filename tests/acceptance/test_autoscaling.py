"""`manage.py autoscale` over crawls: workers come with the need and are drained after the idle time, down to none; a
killed one is replaced. `pytest -s` shows what was measured."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

import pytest
import redis
from rq import Worker

from crawler.frontier.autoscalers import has_autoscaler
from crawler.launch.autoscale import CHECK_INTERVAL_S
from tests.launch.conftest import descendants, is_alive
from tests.site import Reply, Site, page
from tests.stack import Stack

MOST, CONNECTIONS = 3, 16
IDLE_S, RESPONSE_S = 4.0, 0.5
PAGES = 500
AUTOSCALE = (sys.executable, "manage.py", "autoscale", "--min", "0", "--max", str(MOST))
SETTINGS = {
    "CRAWLER_WORKER_IDLE_SECONDS": f"{IDLE_S:g}",
    "CRAWLER_WORKER_CONNECTIONS": "4",  # so that three workers are useful for few slow requests
}


@pytest.fixture
def stack(tmp_path: Path, redis_url: str) -> Iterator[Stack]:
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
    stack = Stack(tmp_path, redis_url, **SETTINGS)
    try:
        yield stack
    finally:
        stack.end()


@pytest.fixture
def site() -> Iterator[Site]:
    pages = {f"/{number}": Reply(page(), after=RESPONSE_S) for number in range(PAGES)}
    with Site({"/": page(*pages), **pages}).serving() as site:
        yield site


def seconds_until(stack: Stack, what: Callable[[], bool], patience: float = 60.0) -> float:
    began = time.monotonic()
    stack.wait_for(what, patience)
    return time.monotonic() - began


def running(stack: Stack) -> set[int]:
    """The ids of the workers that RQ knows and that live."""
    return {worker.pid for worker in Worker.all(connection=stack.redis) if worker.pid and is_alive(worker.pid)}


def started(stack: Stack, site: Site) -> UUID:
    return stack.start(f"{site.url}/", concurrency=CONNECTIONS, throttle=False, obey_robots=False)


def assert_exact(stack: Stack, site: Site, crawl: UUID, *, killed: bool) -> None:
    receipt = stack.wait_until_finished(crawl)
    assert (receipt["discovered"], receipt["fetched"], receipt["failed"]) == (PAGES + 1, PAGES + 1, 0)
    assert {row["status"] for row in stack.pages(crawl).values()} == {1}
    if not killed:
        assert receipt["retries"] == 0
        assert receipt["requests"] == PAGES + 1
        assert {(row["attempts"], row["deaths"]) for row in stack.pages(crawl).values()} == {(1, 0)}


@pytest.mark.long
def test_workers_come_and_go_with_the_crawls(stack: Stack, site: Site) -> None:
    scaler = stack.spawn(*AUTOSCALE)
    stack.wait_for(lambda: has_autoscaler(stack.redis))
    time.sleep(2 * CHECK_INTERVAL_S)
    assert running(stack) == set()  # nothing is to be done

    crawl = started(stack, site)
    began = seconds_until(stack, lambda: "Workers: 1." in stack.log())
    requested = began + seconds_until(stack, lambda: len(site.requests) > 0)
    most = requested + seconds_until(stack, lambda: len(running(stack)) == MOST)
    killed = next(iter(running(stack)))
    os.kill(killed, signal.SIGKILL)
    replaced = seconds_until(stack, lambda: len(running(stack) - {killed}) == MOST)
    assert_exact(stack, site, crawl, killed=True)
    drained = seconds_until(stack, lambda: running(stack) == set())

    site.requests.clear()
    again = started(stack, site)
    stack.wait_for(lambda: len(running(stack)) == MOST)
    assert_exact(stack, site, again, killed=False)
    stack.wait_for(lambda: "Workers: 0." in stack.log().rpartition("Workers: 3.")[2])
    stack.wait_for(lambda: running(stack) == set())
    print(
        f"\nstarted after {began:.1f} s, first request after {requested:.1f} s, {MOST} workers after {most:.1f} s, one "
        f"replaced in {replaced:.1f} s, none left {drained:.1f} s after the end"
    )

    assert drained >= IDLE_S - 2 * CHECK_INTERVAL_S
    left = descendants(scaler.pid)
    scaler.send_signal(signal.SIGTERM)
    assert scaler.wait(20) == 128 + signal.SIGTERM
    assert not any(map(is_alive, left))
    (exited,) = [line for line in stack.log().splitlines() if "is replaced" in line]
    assert "exit code -9" in exited or "exit code 137" in exited  # as the shell of its line tells it
