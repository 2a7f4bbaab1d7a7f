"""One of two workers is drained (SIGTERM) in the middle of a crawl: the other goes on with what it hands back at once,
no page is lost, no attempt is counted, and no page that was answered in time is requested again.

`pytest -s` shows what was measured."""

import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest
import redis

from crawler.core.installation.deployment import GRACE_SETTING, PAGE_GRACE_SECONDS, STOP_SECONDS
from crawler.frontier.frontier import Frontier
from crawler.frontier.leases import LEASE_TTL_S, RENEW_INTERVAL_S
from tests.site import Reply, Site, page
from tests.stack import OWN_WORKER, STOCK_WORKER, Stack

HANGS = "/hangs"  # for longer than a worker may take to end, when it is requested for the first time
HANGS_S, SLOW_S = 30.0, 5.0
BEGUN = 60  # requests before one is drained
NOT_BEGUN = 5  # pages of the worker that is drained, at least
OTHERS_WITHIN_S = 2.0  # without handing back they would wait for the lease to expire
STOCK_WITHIN_S = LEASE_TTL_S + 10.0
"""As after a worker's death, see "Times" in docs/protocol.md. A stock worker's job learns of the request late, the
others fork for each job, and a job that RQ pops at that moment is found as one that it has lost. That no page was left
to a lease shows in its row: `died_with` names the worker."""


@pytest.fixture
def stack(tmp_path: Path, redis_url: str) -> Iterator[Stack]:
    """Workers with the grace that users have."""
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
    settings = {GRACE_SETTING: f"{PAGE_GRACE_SECONDS:g}", "CRAWLER_PAGE_SECONDS": "60"}  # 20 without any data
    stack = Stack(tmp_path, redis_url, **settings)
    try:
        yield stack
    finally:
        stack.end()


# Of both nearly all pages are handed out at a time: a page that is handed back is requested after those that wait.


def fast_site() -> Site:
    pages = {f"/{number}": Reply(page(), after=0.02) for number in range(1500)}
    return Site({"/": page(*pages), **pages})


def slow_site() -> Site:
    """Every 50th page takes five seconds, another one hangs."""
    pages = {f"/{number}": Reply(page(), after=0.1 if number % 50 else SLOW_S) for number in range(1, 700)}
    hangs: Callable[[int], Reply] = lambda before: Reply(page(), after=0.0 if before else HANGS_S)  # noqa: E731
    names = list(pages)
    return Site({"/": page(*names[: BEGUN // 2], HANGS, *names[BEGUN // 2 :]), HANGS: hangs, **pages})


@dataclass(frozen=True)
class Drained:
    """What was seen after SIGTERM, in seconds."""

    exit_s: float
    handed_back: int  # pages that the worker had and that the other one requested
    first_s: float  # until the other one requested the first of them
    last_s: float  # and the last of them
    hanging_s: float  # until it requested the page that was under way when the first one exited; 0 if there is none


def named(stack: Stack, name: str, command: tuple[str, ...]) -> subprocess.Popen[bytes]:
    """A worker whose requests have its name in the User-Agent."""
    stack.env["CRAWLER_CONTACT"] = name
    return stack.spawn(*command)


def parent(pid: int) -> int:
    told = subprocess.run(["ps", "-o", "ppid=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return int(told or 0)


def paths_of(stack: Stack, crawl: UUID, worker: int) -> set[str]:
    """The pages of the batches that this worker, or its work-horse, has claimed."""
    pages = set[int]()
    for lease, _ in Frontier(stack.redis, str(crawl)).leases.all():
        holder = int(lease.holder.rpartition(":")[2] or 0)
        if holder and worker in (holder, parent(holder)):
            pages |= {number for _, of_slice in lease.slices.values() for number in of_slice}
    return {urlsplit(url).path for url, row in stack.pages(crawl).items() if row["id"] in pages}


def drain(stack: Stack, site: Site, crawl: UUID, worker: Any, name: str, limit: float) -> Callable[[], Drained]:
    """End the worker of this name; the result can be had when the crawl is over."""
    had = paths_of(stack, crawl, worker.pid)
    at = time.monotonic()
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(limit) == 0
    exit_s = time.monotonic() - at

    def drained() -> Drained:
        requests = [request for request in site.requests if request.path in had and request.at > at]
        later = {r.path: r.at - at for r in requests if name not in r.headers["User-Agent"]}
        return Drained(exit_s, len(later), min(later.values()), max(later.values()), later.get(HANGS, exit_s) - exit_s)

    return drained


def name_of_one_with_pages(
    stack: Stack, site: Site, crawl: UUID, workers: Mapping[str, Any], path: str | None
) -> str | None:
    """The name of a worker that has the page at this path, or any, and many that were not requested yet."""
    for name, worker in workers.items():
        had = paths_of(stack, crawl, worker.pid)
        has_path = path is None or (path in had and site.hits[path] > 0)
        if has_path and len(site.requests) >= BEGUN and len(had - site.hits.keys()) >= NOT_BEGUN:
            return name
    return None


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "exits_within_s", "others_within_s"),
    [
        pytest.param(OWN_WORKER, STOP_SECONDS, OTHERS_WITHIN_S, id="ours"),
        pytest.param(STOCK_WORKER, STOP_SECONDS + RENEW_INTERVAL_S, STOCK_WITHIN_S, id="stock"),
    ],
)
@pytest.mark.parametrize(
    ("make_site", "path"), [pytest.param(fast_site, None, id="fast"), pytest.param(slow_site, HANGS, id="slow")]
)
def test_others_go_on_with_what_a_worker_hands_back(
    stack: Stack,
    make_site: Callable[[], Site],
    path: str | None,
    command: tuple[str, ...],
    exits_within_s: float,
    others_within_s: float,
) -> None:
    found: list[str] = []

    def finds_one() -> bool:
        name = name_of_one_with_pages(stack, site, crawl, workers, path)
        found.extend([name] if name else [])
        return bool(found)

    with make_site().serving() as site:
        workers = {name: named(stack, name, command) for name in ("first-worker", "second-worker")}
        stack.wait_for(lambda: stack.redis.scard("rq:workers") == 2)
        crawl = stack.start(f"{site.url}/", concurrency=16, throttle=False, obey_robots=False)
        stack.wait_for(finds_one)
        result = drain(stack, site, crawl, workers[found[0]], found[0], exits_within_s)
        receipt = stack.wait_until_finished(crawl, patience=120)
        drained = result()
        hits = site.hits
    print(f"\n{'stock' if command == STOCK_WORKER else 'own'}, {make_site.__name__}: {drained}")

    pages = stack.pages(crawl)
    assert (receipt["fetched"], receipt["retries"], receipt["requests"]) == (len(site.pages), 0, hits.total())
    closed = {(row["status"], row["attempts"], row["deaths"], row["died_with"]) for row in pages.values()}
    assert closed == {(1, 1, 0, "")}
    assert {name: times for name, times in hits.items() if times != 1} == ({path: 2} if path else {})
    assert stack.rows("SELECT what FROM crawler_disagreement") == []
    tail_s = PAGE_GRACE_SECONDS if path else 0.0  # what it had may all be behind a page that is under way
    assert drained.first_s <= others_within_s + tail_s
    assert drained.hanging_s <= others_within_s
    stack.wait_for(lambda: not stack.left_over(), 10)
