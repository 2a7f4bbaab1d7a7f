"""Whatever is killed, every page gets its outcome and finished is said once."""

import os
import signal
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from tests.acceptance.test_stock_workers import EXPECTED, small_site
from tests.site import Reply, Site
from tests.stack import Stack


def slow_site(after: float = 0.03) -> Site:
    """The small site, thinking a little before each answer, so that there is time to interfere."""
    site = small_site()
    for path, answer in list(site.pages.items()):
        if isinstance(answer, str):
            site.pages[path] = Reply(answer, after=after)
    return site


def assert_complete(stack: Stack, receipt: dict[str, object]) -> None:
    same = {name: value for name, value in EXPECTED.items() if name != "retries"}  # lost attempts count as retries
    assert {name: receipt[name] for name in same} == same
    assert len(stack.rows("SELECT * FROM crawler_notice")) == 1


@pytest.mark.parametrize("start", [pytest.param(Stack.start_worker, marks=pytest.mark.long), Stack.start_stock_worker])
def test_workers_killed_in_the_middle_lose_nothing(stack: Stack, start: Callable[[Stack], Any]) -> None:
    """Both workers die with pages in hand; the next one is enough, though it is sent no job."""
    with slow_site().serving() as site:
        doomed = [start(stack) for _ in range(2)]
        crawl = stack.start(f"{site.url}/")
        stack.wait_for(lambda: len(site.requests) > 20)
        for worker in doomed:
            kill_with_children(worker.pid)
        assert stack.crawl(crawl)["state"] == "running"
        start(stack)
        assert_complete(stack, stack.wait_until_finished(crawl))


def test_redis_that_forgets_everything_loses_nothing(stack: Stack) -> None:
    with slow_site().serving() as site:
        stack.start_worker()
        stack.spawn("python", "manage.py", "clock")  # after this nothing is queued that could wake anybody
        crawl = stack.start(f"{site.url}/")
        stack.wait_for(lambda: len(site.requests) > 20)
        stack.redis.flushall()
        assert_complete(stack, stack.wait_until_finished(crawl))


def kill_with_children(pid: int) -> None:
    """kill -9 for a worker and the work-horse it forked, which leads a process group of its own."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], check=True, capture_output=True, text=True).stdout
    pairs = [line.split() for line in listed.splitlines()]
    for process in [pid, *(int(child) for child, parent in pairs if int(parent) == pid)]:
        os.kill(process, signal.SIGKILL)
