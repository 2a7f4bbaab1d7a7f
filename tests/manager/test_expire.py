"""Open pages whose time is over close as expired, and the crawl finishes without them."""

import time

import pytest

from crawler.crawls import reconcile
from crawler.crawls.retry import retry_failed
from crawler.manager.tick import manage
from crawler.models import Crawl, Page
from crawler.reports.receipt import receipt_of
from tests.bench import Bench
from tests.site import Reply, page

PAGES = {"/": page("/a", "/b", "/busy"), "/a": page(), "/b": page(), "/busy": Reply(status=503)}


def make_old(crawl: Crawl, seconds: float) -> None:
    """Let the crawl, and its pages, have begun so much earlier."""
    for row in Page.objects.filter(crawl=crawl, expires_at__isnull=False):
        Page.objects.filter(id=row.id).update(expires_at=row.expires_at - seconds)


@pytest.mark.site(PAGES)
def test_a_page_that_waits_for_another_try_expires_when_its_time_comes(bench: Bench) -> None:
    """Nothing is queued then: whoever looks at the crawl sees that a page's time is over."""
    bench.start(page_ttl=1.0)
    deadline = time.monotonic() + 30
    while bench.state() == "running":
        assert time.monotonic() < deadline
        bench.work(at_most=5)
        reconcile.scan()
    assert Page.objects.get(url__endswith="/busy").outcome == "expired"
    assert receipt_of(bench.crawl)["skipped"]["expired"] >= 1


@pytest.mark.site(PAGES)
def test_a_deadline_restarts_when_dead_letters_are_retried(bench: Bench) -> None:
    bench.start(deadline=3600.0)
    Page.objects.filter(crawl=bench.crawl).update(status=1, outcome="timeout", given_up=True)
    Crawl.objects.filter(id=bench.crawl.id).update(
        outcomes={"timeout": 1}, state="finished", round_began_at="2020-01-01T00:00:00Z"
    )
    assert retry_failed(bench.crawl.id) == 1
    assert Page.objects.get().expires_at == pytest.approx(time.time() + 3600, abs=60)


@pytest.mark.site(PAGES)
def test_what_waits_for_another_try_does_not_hold_up_the_end(bench: Bench) -> None:
    """A page that expired while it waited for a time far ahead is still in the window; the crawl ends without it."""
    bench.start(deadline=3600.0)
    while not Page.objects.filter(attempts=1, status=Page.OPEN).exists():
        bench.work(at_most=1)
    Page.objects.filter(status=Page.OPEN).update(due_at=time.time() + 300)
    bench.context.frontier.ready_queue.clear()
    manage(bench.crawl.id)
    make_old(bench.crawl, 3600)
    manage(bench.crawl.id)
    assert bench.state() == "finished"
