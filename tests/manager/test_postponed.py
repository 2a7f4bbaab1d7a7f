"""Pages whose server asks for a later time (Retry-After) hold up neither their site nor the end of the crawl."""

import time
from typing import Any

import pytest

from crawler.core.politeness import host_rules
from crawler.crawls import reconcile
from crawler.crawls.retry import retry_failed
from crawler.manager.tick import manage
from crawler.models import Page
from crawler.reports.diagnosis import why_of
from crawler.reports.receipt import receipt_of
from tests.bench import Bench
from tests.site import Reply, page

HOUR = 3600
MANY = {f"/{number}": page() for number in range(9)}


def later(status: int = 429, seconds: int = HOUR) -> Reply:
    return Reply(status=status, headers={"Retry-After": str(seconds)})


def worked_until_finished(bench: Bench, patience: float = 40) -> None:
    deadline = time.monotonic() + patience
    while bench.state() == "running":
        assert time.monotonic() < deadline, "the crawl does not end"
        bench.work(at_most=5)
        reconcile.scan()


@pytest.fixture(autouse=True)
def _waits_for_a_second(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CRAWLER_RETRY_AFTER_WAIT = 1.0
    monkeypatch.setattr(host_rules, "FIRST_STOP_S", 1.0)


@pytest.mark.site({"/": page("/busy", *MANY), "/busy": later(503)} | MANY)
def test_one_busy_page_does_not_hold_up_the_others(bench: Bench) -> None:
    bench.start()
    worked_until_finished(bench)
    receipt, busy = receipt_of(bench.crawl), Page.objects.get(url__endswith="/busy")
    assert receipt["fetched"] == receipt["discovered"] == len(MANY) + 2
    assert receipt["statuses"] == {"200": len(MANY) + 1, "503": 1}
    assert (busy.outcome, busy.http_status, busy.attempts, busy.given_up) == ("5xx", 503, 1, True)
    assert "asked for a longer wait" in busy.error
    assert bench.site.hits["/busy"] == 1


@pytest.mark.site({"/": page("/limited", *MANY), "/limited": later(429)} | MANY)
def test_the_crawl_says_when_it_closes_what_is_left(bench: Bench) -> None:
    bench.start(concurrency=1)
    deadline = time.monotonic() + 40
    while not bench.context.frontier.redis.exists(bench.context.frontier.keys.closing):
        assert time.monotonic() < deadline
        bench.work(at_most=5)
        reconcile.scan()
    left = Page.objects.filter(status=Page.OPEN)
    assert [row.url for row in left] == [f"{bench.site.url}/limited"]
    assert [row.put_off for row in left] == [429]
    why = why_of(bench.crawl)
    assert "The rest is 1 page whose server asked to wait (Retry-After): it closes " in " ".join(why["sentences"])
    assert why["ends"]["put_off_pages_close_in"] <= 1.0
    worked_until_finished(bench)
    assert receipt_of(bench.crawl)["statuses"] == {"200": len(MANY) + 1, "429": 1}


@pytest.mark.long
@pytest.mark.site({"/": lambda before: later(503, 2) if before < 1 else Reply(page("/a")), "/a": page()})
def test_a_page_whose_time_comes_before_is_asked_for_again(bench: Bench, settings: Any) -> None:
    settings.CRAWLER_RETRY_AFTER_WAIT = 20.0
    bench.start()
    worked_until_finished(bench)
    assert receipt_of(bench.crawl)["statuses"] == {"200": 2}
    assert bench.site.hits["/"] == 2


@pytest.mark.site({"/": later(503)})
def test_what_was_closed_can_be_sent_again(bench: Bench) -> None:
    bench.start()
    worked_until_finished(bench)
    bench.site.pages["/"] = page()
    assert retry_failed(bench.crawl.id) == 1
    worked_until_finished(bench)
    assert receipt_of(bench.crawl)["statuses"] == {"200": 1}


@pytest.mark.long
@pytest.mark.site({"/": page("/a", "/busy"), "/a": Reply(status=500), "/busy": later(503)})
def test_while_another_page_is_tried_again_nothing_is_closed(bench: Bench, settings: Any) -> None:
    settings.CRAWLER_RETRY_AFTER_WAIT = 0.0
    bench.start()
    while not Page.objects.filter(attempts=1, url__endswith="/a").exists():
        bench.work(at_most=1)
    manage(bench.crawl.id)
    assert Page.objects.filter(status=Page.OPEN).count() == 2
    worked_until_finished(bench)
    assert bench.site.hits["/a"] == 3


DEEP = {"/": page("/busy", "/a"), "/busy": later(503), "/a": page("/a/b"), "/a/b": page("/a/b/c"), "/a/b/c": page()}


@pytest.mark.site(DEEP)
def test_with_a_depth_limit_deeper_levels_do_not_wait_for_a_page_that_was_put_off(bench: Bench, settings: Any) -> None:
    settings.CRAWLER_RETRY_AFTER_WAIT = 1.0
    bench.start(max_depth=3)
    worked_until_finished(bench)
    assert bench.site.hits["/a/b/c"] == 1
    assert receipt_of(bench.crawl)["statuses"] == {"200": 4, "503": 1}
