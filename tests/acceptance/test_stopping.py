"""Workers are asked to end (SIGTERM) in the middle of their work: ten seconds at most, and nothing is lost."""

import signal
import subprocess
from typing import Any

import pytest

from crawler.core.installation.deployment import COLD_SECONDS, STOP_SECONDS, TICK_GRACE_SECONDS
from tests.site import Reply, Site, page
from tests.stack import OWN_WORKER, Stack

FOREVER = 120.0  # seconds; a page that is given up, and answered at once the next time
STOCK_WORKER = ("rq", "worker", "crawl", "fetch")
NAMES = [f"/{number}" for number in range(40)]


def slow_once(before: int) -> Reply:
    return Reply(page(), after=0.0 if before else FOREVER)


def stopped(worker: subprocess.Popen[bytes], within: float) -> None:
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(within) == 0


def ended(stack: Stack, site: Site, crawl: Any) -> None:
    """Another worker finishes what was handed back; each page counts one attempt, and no request is forgotten."""
    stack.start_worker()
    receipt = stack.wait_until_finished(crawl)
    assert (receipt["fetched"], receipt["retries"]) == (len(stack.pages(crawl)), 0)
    assert receipt["requests"] == site.hits.total()
    assert {(row["attempts"], row["deaths"]) for row in stack.pages(crawl).values()} == {(1, 0)}


@pytest.mark.long
@pytest.mark.parametrize(
    ("worker", "limit"),
    [
        pytest.param(OWN_WORKER, STOP_SECONDS, id="ours"),
        pytest.param(STOCK_WORKER, STOP_SECONDS + 2.5, id="stock", marks=pytest.mark.long),  # its job looks so seldom
    ],
)
def test_a_worker_whose_pages_are_slow_gives_them_up(stack: Stack, worker: tuple[str, ...], limit: float) -> None:
    with Site({"/": page("/slow"), "/slow": slow_once}).serving() as site:
        first = stack.spawn(*worker)
        crawl = stack.start(f"{site.url}/")
        stack.wait_for(lambda: site.hits["/slow"] == 1)
        stopped(first, limit)
        ended(stack, site, crawl)
        assert site.hits["/slow"] == 2


@pytest.mark.long
def test_a_worker_that_waits_for_a_crawl_delay_does_not_wait_on(stack: Stack) -> None:
    with Site(
        {"/robots.txt": "User-agent: *\nCrawl-delay: 1.5", "/": page("/a", "/b"), "/a": "", "/b": ""}
    ).serving() as site:
        first = stack.start_worker()
        crawl = stack.start(f"{site.url}/")
        stack.wait_for(lambda: site.hits["/"] > 0)
        stopped(first, TICK_GRACE_SECONDS)
        ended(stack, site, crawl)


@pytest.mark.long
def test_workers_that_are_replaced_again_and_again_ask_for_each_page_once(stack: Stack) -> None:
    """As in a rolling upgrade: what was answered before the end of a worker is not asked for again."""
    answers = {name: Reply(page(), after=0.05) for name in NAMES}
    with Site({"/": page(*NAMES), **answers}).serving() as site:
        worker = stack.start_worker()
        crawl = stack.start(f"{site.url}/")
        for done in (1, 10, 20, 30):
            stack.wait_for(lambda done=done: site.hits.total() > done)
            another = stack.start_worker()
            stopped(worker, STOP_SECONDS)
            worker = another
        ended(stack, site, crawl)
    assert set(site.hits.values()) == {1}


def test_a_second_signal_ends_it_at_once(stack: Stack) -> None:
    """RQ takes no notice of one that follows within a second: it may be the same one, told twice."""
    with Site({"/": Reply(page(), after=FOREVER)}).serving() as site:
        worker = stack.start_worker()
        stack.start(f"{site.url}/")
        stack.wait_for(lambda: site.hits["/"] > 0)
        worker.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            worker.wait(1.2)
        stopped(worker, COLD_SECONDS + 1.0)


@pytest.mark.long
def test_a_worker_ends_in_time_even_in_the_middle_of_what_cannot_be_given_up(stack: Stack) -> None:
    """A receiver of notices that does not answer. The notice is told by another worker."""
    with Site({"/": page(), "/hook": slow_once}).serving() as site:
        worker = stack.start_worker()
        crawl = stack.start(f"{site.url}/", notify_webhooks=[f"{site.url}/hook"])
        stack.wait_for(lambda: site.hits["/hook"] == 1)
        stopped(worker, STOP_SECONDS + 2.0)
        stack.start_worker()
        stack.wait_for(lambda: site.hits["/hook"] == 2)
    assert stack.crawl(crawl)["state"] == "finished"
