"""Workers of two versions side by side: no page is lost, no attempt is counted for what one of them does not
understand, and either finishes alone."""

import pytest

from tests.acceptance.test_killed import assert_complete, kill_with_children, slow_site
from tests.acceptance.test_stock_workers import EXPECTED
from tests.stack import OWN_WORKER, Stack

pytestmark = pytest.mark.long

NEWER_WORKER = ("python", "-m", "tests.acceptance.newer_worker", *OWN_WORKER[1:])
HANDED_BACK = "a batch is handed back"
REQUESTED_AGAIN = "are not understood, and their pages are requested again"


def test_together_they_finish_a_crawl(stack: Stack) -> None:
    with slow_site().serving() as site:
        newer = stack.spawn(*NEWER_WORKER)
        stack.wait_for(lambda: stack.redis.scard("rq:workers") == 1)
        stack.start_worker()
        crawl = stack.start(f"{site.url}/")
        receipt = stack.wait_until_finished(crawl)
        assert newer.poll() is None
    assert {name: receipt[name] for name in EXPECTED} == EXPECTED  # "retries" are none but those of the site
    assert {row["deaths"] for row in stack.pages(crawl).values()} == {0}
    assert stack.rows("SELECT what FROM crawler_disagreement") == []
    assert HANDED_BACK in stack.log() or REQUESTED_AGAIN in stack.log()


def test_after_the_upgrade_was_taken_back_the_earlier_version_goes_on(stack: Stack) -> None:
    """The newer worker dies with batches in the queue and reports on the list."""
    with slow_site().serving() as site:
        newer = stack.spawn(*NEWER_WORKER)
        crawl = stack.start(f"{site.url}/")
        stack.wait_for(lambda: len(site.requests) > 20)
        kill_with_children(newer.pid)
        stack.start_worker()
        assert_complete(stack, stack.wait_until_finished(crawl))


def test_a_newer_worker_goes_on_with_what_an_earlier_one_began(stack: Stack) -> None:
    with slow_site().serving() as site:
        earlier = stack.start_worker()
        crawl = stack.start(f"{site.url}/")
        stack.wait_for(lambda: len(site.requests) > 20)
        earlier.terminate()
        stack.spawn(*NEWER_WORKER)
        receipt = stack.wait_until_finished(crawl)
    assert {name: receipt[name] for name in EXPECTED} == EXPECTED
    assert HANDED_BACK not in stack.log()
    assert REQUESTED_AGAIN not in stack.log()
