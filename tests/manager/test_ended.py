"""A receipt says why the crawl ended, and which limits kept how many pages from being asked for."""

import time
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from crawler import conf
from crawler.core.pages.outcomes import Outcome
from crawler.crawls.control import cancel, pause, resume
from crawler.crawls.retry import retry_failed
from crawler.models import Crawl, Notice, Page
from crawler.reports.receipt import receipt_of
from tests.bench import Bench
from tests.site import Reply, page

LINKS = [f"/{number}" for number in range(30)]
WIDE = {"/": page(*LINKS)} | {link: page(f"{link}/deep") for link in LINKS}
pytestmark = pytest.mark.site(WIDE)


def ran(bench: Bench, **options: object) -> dict[str, Any]:
    """The receipt of a crawl that was left to itself."""
    bench.run(**options)
    return over(bench)


def over(bench: Bench) -> dict[str, Any]:
    bench.crawl.refresh_from_db()
    assert bench.crawl.is_over
    receipt = receipt_of(bench.crawl)
    skipped, limits = receipt["skipped"], receipt["limits"]
    of_time = limits.get("deadline", 0) + limits.get("page_ttl", 0)
    assert of_time == skipped.get("expired", 0)
    assert sum(limits.values()) - of_time == skipped.get("limit", 0)
    assert Notice.objects.order_by("-round")[0].receipt == receipt
    return receipt


@pytest.mark.site({"/": page("/a"), "/a": page()})
def test_a_crawl_that_found_its_end_is_complete(bench: Bench) -> None:
    bench.start()
    assert receipt_of(bench.crawl)["ended"] is receipt_of(bench.crawl)["ended_message"] is None
    bench.work()
    receipt = over(bench)
    assert (receipt["ended"], receipt["limits"]) == ("complete", {})
    assert receipt["ended_message"] == "Complete: every page is done."


@pytest.mark.site({"/": page("/a", "/b"), "/a": Reply(status=500), "/b": Reply(status=404)})
def test_pages_without_a_usable_answer_make_it_complete_with_errors(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conf, "max_attempts", lambda: 1)
    receipt = ran(bench)
    assert receipt["ended"] == "complete_with_errors"
    assert receipt["ended_message"] == "Complete, but 1 page returned no usable response."


def test_the_page_limit_is_named_with_the_pages_beyond_it(bench: Bench) -> None:
    receipt = ran(bench, max_pages=7)
    assert receipt["ended"] == "limit"
    assert receipt["limits"] == {"pages": receipt["discovered"] - 7}


@pytest.mark.site({"/": page("/a"), "/a": page("/"), "/robots.txt": Reply("User-agent: *\nDisallow: /nothing")})
def test_a_page_limit_that_nothing_exceeds_is_not_reached(bench: Bench) -> None:
    assert ran(bench, max_pages=2)["ended"] == "complete"


def test_of_several_limits_each_is_named(bench: Bench) -> None:
    receipt = ran(bench, max_pages=7, max_depth=1)
    assert receipt["ended"] == "limit"
    assert set(receipt["limits"]) == {"pages", "depth"}
    assert receipt["limits"]["depth"] == Page.objects.filter(depth=2).count()


def test_the_limit_of_bytes_is_named(bench: Bench) -> None:
    assert ran(bench, max_bytes=len(page(*LINKS)))["limits"] == {"bytes": len(LINKS)}


def after_the_time(bench: Bench, later: timedelta, **options: float) -> dict[str, Any]:
    """The receipt of a crawl that was paused with its first page, until the time of the others was over."""
    bench.start(**options)
    bench.work("crawl", at_most=1)
    pause(bench.crawl.id)
    bench.work()
    Crawl.objects.update(round_began_at=F("round_began_at") - later)
    Page.objects.update(expires_at=time.time() - 1)
    resume(bench.crawl.id)
    bench.work()
    assert bench.site.hits == {"/robots.txt": 1, "/": 1}
    return over(bench)


def test_the_deadline_is_named(bench: Bench) -> None:
    receipt = after_the_time(bench, timedelta(hours=1), deadline=3600.0)
    assert (receipt["ended"], receipt["limits"]) == ("deadline", {"deadline": len(LINKS)})
    assert receipt["ended_message"] == "The deadline of 1 h 0 min passed: 30 pages were not requested."


def test_a_page_whose_own_time_is_over_is_a_limit_too(bench: Bench) -> None:
    receipt = after_the_time(bench, timedelta(minutes=1), page_ttl=60.0, deadline=3600.0)
    assert (receipt["ended"], receipt["limits"]) == ("limit", {"page_ttl": len(LINKS)})


def test_a_crawl_that_a_user_ends_is_cancelled_and_stays_so_when_its_dead_letters_are_sent_again(bench: Bench) -> None:
    bench.fetch_first_page()
    bench.work("crawl", at_most=1)
    cancel(bench.crawl.id)
    assert over(bench)["ended"] == "cancelled"
    Page.objects.filter(depth=0).update(outcome=Outcome.TIMEOUT, http_status=None, given_up=True)
    outcomes = {"timeout": 1, "cancelled": len(LINKS)}
    Crawl.objects.update(outcomes=outcomes, statuses={})
    Notice.objects.all().delete()
    assert retry_failed(bench.crawl.id) == 1
    bench.crawl.refresh_from_db()
    assert receipt_of(bench.crawl)["ended"] is None
    bench.work()
    receipt = over(bench)
    assert (receipt["state"], receipt["ended"]) == ("finished", "cancelled")
    assert receipt["ended_message"] == "Cancelled: 30 pages were not requested."
