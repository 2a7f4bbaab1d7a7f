"""What the crawl page and its JSON say in each state."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from crawler.core.crawl.completion import State
from crawler.core.crawl.options import CrawlOptions
from crawler.core.crawl.outcomes import Outcome
from crawler.models import Crawl, Delivery
from crawler.reports.receipt import receipt_of
from crawler.web.crawl.status import status_of, summary_of
from tests.factories import SITE, a_cancelled_crawl, a_crawl, a_delivery, a_finished_crawl, a_page

pytestmark = pytest.mark.django_db


def status(crawl: Crawl, now: float | None = None) -> dict[str, Any]:
    return status_of(crawl, time.time() if now is None else now, in_full=True)


def alerts(crawl: Crawl) -> list[str]:
    return [row["text"] for row in status(crawl)["lists"]["alerts"]]


def test_a_crawl_that_has_just_begun_promises_nothing() -> None:
    texts = status(a_crawl())["texts"]
    assert (texts["state"], texts["percent"], texts["open"]) == ("Running", "0 %", "1")
    assert (texts["rate"], texts["eta"]) == ("–", "–")  # noqa: RUF001 (an en dash is meant)


def test_a_running_crawl_shows_its_pace_and_an_honest_estimate() -> None:
    now = time.time()
    crawl = a_crawl(discovered=200, outcomes={"2xx": 150}, samples=[[now - 5, 200, 100]])
    shown = status(crawl, now)
    assert (shown["texts"]["rate"], shown["texts"]["eta"]) == ("10.0/s", "about 5.0 s")
    assert shown["bar"] == {"value": 150, "max": 200}
    assert shown["title"] == "75 % · example.com"
    assert (shown["over"], shown["settled"]) == (False, False)


def test_all_but_one_page_is_not_yet_a_hundred_per_cent() -> None:
    assert status(a_crawl(discovered=1000, outcomes={"2xx": 999}))["texts"]["percent"] == "99 %"


def test_a_finished_crawl_says_so_with_its_receipt() -> None:
    crawl = a_finished_crawl()
    shown = status(crawl)
    assert (shown["over"], shown["settled"], shown["title"]) == (True, True, "Finished · example.com")
    assert shown["texts"]["summary"] == "3 pages in 12 s, none left open."
    assert shown["progress"]["receipt"] == receipt_of(crawl)


def test_a_crawl_whose_time_was_up_says_for_how_many_pages() -> None:
    options = CrawlOptions(deadline=7200.0)
    texts = status(a_finished_crawl(outcomes={"2xx": 1, "expired": 2}, limits={"deadline": 2}, options=options))[
        "texts"
    ]
    assert texts["summary"] == (
        "3 pages in 12 s, none left open. The deadline of 2 h 0 min passed: 2 pages were not requested."
    )


def a_limited_crawl(**fields: Any) -> Crawl:
    """With a page limit of 40, on a site where 457 were found by now."""
    return a_crawl(options=CrawlOptions(max_pages=40), **{"discovered": 457, "outcomes": {"2xx": 12}, **fields})


def test_under_a_page_limit_the_page_shows_how_far_it_is_by_the_limit() -> None:
    now = time.time()
    shown = status(a_limited_crawl(samples=[[now - 4, 300, 4, 4]]), now)
    texts = shown["texts"]
    assert (texts["at_most"], texts["percent"], texts["eta"]) == ("12 of 40 at most", "30 %", "about 14 s")
    assert (shown["bar"], shown["title"]) == ({"value": 12, "max": 40}, "30 % · example.com")
    assert texts["rate"] == "2.0/s"


def test_a_crawl_that_reached_its_page_limit_is_done_and_says_so() -> None:
    now = timezone.now()
    over = {"state": State.FINISHED, "created_at": now - timedelta(seconds=12), "finished_at": now}
    shown = status(a_limited_crawl(**over, outcomes={"2xx": 40, "limit": 417}, limits={"pages": 417}))
    assert shown["texts"]["summary"] == (
        "40 of 40 at most in 12 s, none left open. Limit reached: 40 pages at most (417 pages were not requested)."
    )
    assert (shown["texts"]["percent"], shown["texts"]["rate"]) == ("100 %", "3.3/s")
    assert {"name": "ended", "number": "limit reached", "tone": "more"} in shown["lists"]["receipt"]


def test_without_a_page_limit_there_is_no_line_about_one() -> None:
    assert status(a_crawl(discovered=457, outcomes={"2xx": 12}))["texts"]["at_most"] == ""


def test_the_time_a_crawl_ran_stands_beside_the_time_with_its_pauses() -> None:
    now = timezone.now()
    crawl = a_finished_crawl(created_at=now - timedelta(minutes=65), finished_at=now, idle_seconds=62 * 60 - 3)
    shown = status(crawl)
    times = {row["name"]: row["number"] for row in shown["lists"]["receipt"] if row["name"].startswith("time")}
    assert times == {"time it ran": "3 min 3 s", "time with pauses": "1 h 5 min"}
    assert shown["texts"]["elapsed"] == summary_of(crawl, time.time())["took"] == "3 min 3 s"


def test_a_cancelled_crawl_says_how_far_it_came() -> None:
    shown = status(a_cancelled_crawl())
    assert (shown["over"], shown["settled"], shown["title"]) == (True, True, "Cancelled · example.com")
    assert (shown["texts"]["state"], shown["texts"]["percent"]) == ("Cancelled", "40 %")
    assert shown["texts"]["summary"] == "After 12 s, with 6 of 10 pages not requested."
    assert shown["bar"] == {"value": 4, "max": 10}
    assert shown["texts"]["rate"] == "0.3/s"


def test_the_receipts_table_adds_up() -> None:
    crawl = a_finished_crawl(discovered=10, outcomes={"2xx": 5, "dns": 2, "robots": 2, "limit": 1})
    rows = status(crawl)["lists"]["receipt"]
    parts = sum(int(row["number"]) for row in rows if row["tone"] == "part")
    (total,) = (row for row in rows if row["tone"] == "sum")
    assert parts == int(total["number"]) == 10
    assert {"name": "skipped: forbidden by robots.txt", "number": "2", "tone": "part"} in rows


def test_a_running_crawl_has_no_receipt_yet() -> None:
    shown = status(a_crawl())
    assert (shown["lists"]["receipt"], shown["texts"]["receipt_json"]) == ([], "")


@pytest.mark.parametrize(
    ("answer", "error", "happened"),
    [
        (404, "", "answered 404"),
        (500, "", "answered 500"),
        (Outcome.DNS, "No such host.", "did not answer (No such host)"),
        (Outcome.ROBOTS, "", "was not requested (forbidden by robots.txt)"),
    ],
)
def test_a_start_url_that_gave_nothing_is_told(answer: int | Outcome, error: str, happened: str) -> None:
    crawl = a_finished_crawl(discovered=1, outcomes={"4xx": 1})
    a_page(crawl, SITE, answer, error=error)
    assert alerts(crawl) == [f"The start URL {SITE} {happened}, so there was nothing to follow."]


def test_a_start_url_that_was_cancelled_is_no_trouble() -> None:
    crawl = a_cancelled_crawl()
    a_page(crawl, SITE, Outcome.CANCELLED, error="the crawl was cancelled")
    assert alerts(crawl) == []


def test_of_several_start_urls_the_one_that_gave_nothing_is_named() -> None:
    crawl = a_finished_crawl(start_urls=[SITE, "https://other.example/"])
    a_page(crawl, SITE)
    a_page(crawl, "https://other.example/", 404)
    assert alerts(crawl) == ["1 of the 2 start URLs gave nothing to follow: https://other.example/ answered 404."]


def test_a_page_row_tells_what_came_of_it() -> None:
    crawl = a_crawl()
    a_page(crawl, "https://example.com/a", title="A", elapsed_ms=1234, bytes=14600)
    (row,) = status(crawl)["lists"]["pages"]
    assert (row["answer"], row["note"], row["time"], row["size"]) == ("200", "A", "1,234 ms", "14.6 kB")
    assert (row["tone"], row["href"]) == ("good", "https://example.com/a")


def test_a_redirect_shows_where_it_leads() -> None:
    crawl = a_crawl()
    a_page(crawl, "https://example.com/old", 301, redirect_to="https://example.com/new")
    (row,) = status(crawl)["lists"]["pages"]
    assert (row["note"], row["tone"]) == ("→ https://example.com/new", "calm")


def test_a_failure_shows_its_reason_in_place_of_figures() -> None:
    crawl = a_crawl()
    a_page(crawl, "https://example.com/slow", Outcome.TIMEOUT, error="No answer within 10 s.")
    (row,) = status(crawl)["lists"]["troubled"]
    assert (row["answer"], row["note"], row["time"], row["size"]) == ("timed out", "No answer within 10 s.", "", "")


def test_an_address_that_is_not_of_the_web_is_no_link() -> None:
    crawl = a_crawl()
    a_page(crawl, "javascript:alert(1)")
    assert status(crawl)["lists"]["pages"][0]["href"] == ""


def test_while_it_runs_the_page_says_who_will_be_told() -> None:
    crawl = a_crawl(options=CrawlOptions(notify_emails=("a@example.com",), notify_webhooks=("https://example.com/h",)))
    rows = status(crawl)["lists"]["notices"]
    assert [(row["transport"], row["address"], row["state"]) for row in rows] == [
        ("email", "a@example.com", "when it is finished"),
        ("webhook", "https://example.com/h", "when it is finished"),
    ]


def test_a_crawl_that_runs_again_shows_whom_it_told_and_whom_it_will_tell() -> None:
    crawl = a_crawl(round=2, options=CrawlOptions(notify_emails=("me@example.com",)))
    a_delivery(crawl, state=Delivery.DELIVERED)
    rows = status(crawl)["lists"]["notices"]
    assert [row["state"] for row in rows] == ["delivered", "when it is finished"]


@pytest.mark.parametrize(
    ("state", "settled"),
    [(Delivery.PENDING, False), (Delivery.DELIVERED, True), (Delivery.GIVEN_UP, True)],
)
def test_the_page_goes_on_until_every_notice_is_settled(state: str, settled: bool) -> None:
    crawl = a_finished_crawl()
    a_delivery(crawl, state=state)
    assert status(crawl)["settled"] is settled


def test_a_notice_that_was_given_up_shows_why() -> None:
    crawl = a_finished_crawl()
    a_delivery(crawl, state=Delivery.GIVEN_UP, attempts=8, error="The webhook answered 500.")
    (row,) = status(crawl)["lists"]["notices"]
    assert (row["state"], row["error"], row["tone"]) == ("given up (try 8)", "The webhook answered 500.", "bad")


def test_a_crawl_that_moved_a_moment_ago_has_a_worker_whatever_rq_lists(real_redis: object) -> None:
    now = time.time()
    assert alerts(a_crawl(samples=[[now - 1, 10, 5]])) == []


@pytest.mark.parametrize(
    "sample",
    [
        [time.time() - 60, 10, 5],  # it stands still
        [time.time() + 60, 1, 0],  # it was started just now, and nobody has done anything yet
    ],
)
def test_without_a_worker_the_page_says_how_to_start_one(sample: list[float], real_redis: object) -> None:
    crawl = a_crawl(samples=[sample])
    assert alerts(crawl) == ["No worker is running, so nothing is fetched. Start one in the project folder: bin/worker"]


@pytest.mark.parametrize("state", [State.PAUSED, State.FINISHED, State.CANCELLED])
def test_a_crawl_that_does_not_run_needs_no_worker(state: State) -> None:
    assert alerts(a_finished_crawl(state=state)) == []


def test_a_line_of_the_list_counts_failures_and_error_answers_together() -> None:
    crawl = a_finished_crawl(
        discovered=10,
        outcomes={"2xx": 4, "3xx": 1, "4xx": 2, "5xx": 1, "timeout": 1, "robots": 1},
        created_at=timezone.now() - timedelta(seconds=72),
    )
    line = summary_of(crawl, time.time())
    assert (line["failed"], line["pages"], line["took"]) == ("4 errors", "10 pages", "1 min 12 s")


def test_a_line_of_the_list_tells_of_a_page_limit_and_of_what_cut_the_crawl_short() -> None:
    line = summary_of(a_limited_crawl(), time.time())
    assert (line["pages"], line["done"], line["total"], line["ended"]) == ("12 of 40 at most", 12, 40, "")
    over = summary_of(
        a_limited_crawl(state=State.FINISHED, outcomes={"2xx": 40, "limit": 417}, limits={"pages": 417}), time.time()
    )
    assert (over["pages"], over["ended"]) == ("40 of 40 at most", "limit reached")
    assert summary_of(a_finished_crawl(), time.time())["ended"] == ""


def test_a_line_of_the_list_shows_the_pace_of_a_running_crawl_alone() -> None:
    now = time.time()
    moving = {"discovered": 200, "outcomes": {"2xx": 150}, "samples": [[now - 5, 200, 100]]}
    assert summary_of(a_crawl(**moving), now)["rate"] == "10.0/s"
    assert summary_of(a_crawl(**moving, state=State.PAUSED), now)["rate"] == ""
    assert summary_of(a_crawl(), now)["rate"] == ""


def test_of_a_list_that_is_being_read_there_is_only_its_progress_and_a_way_to_cancel() -> None:
    report = {"lines": 12_000, "taken": 11_000, "duplicates": 900, "invalid": 100, "examples": []}
    shown = status(a_crawl(state=State.LOADING, source="urls.csv", source_report=report))
    assert shown["texts"]["loading"] == "urls.csv: 12,000 lines: 11,000 URLs, 900 duplicates, 100 not usable"
    assert shown["can"] == {"pause": False, "resume": False, "cancel": True, "delete": False}
    assert shown["title"].startswith("Reading its list · ")
    assert shown["texts"]["summary"] == "Its list of URLs is being read; no page is requested before that is done."


def test_a_list_of_which_nothing_was_read_yet_has_no_lines() -> None:
    texts = status(a_crawl(state=State.LOADING, source="urls.csv"))["texts"]
    assert texts["loading"] == "urls.csv: 0 lines: 0 URLs, 0 duplicates, 0 not usable"


def test_a_crawl_that_is_not_loading_shows_nothing_of_its_list_and_can_be_deleted() -> None:
    shown = status(a_finished_crawl(source="urls.csv", source_report={"lines": 3}))
    assert shown["texts"]["loading"] == ""
    assert shown["can"]["delete"]


def test_pages_that_were_not_sent_or_not_asked_for_are_counted() -> None:
    crawl = a_finished_crawl(options=CrawlOptions(revisit=True, response_ttl=60.0), outcomes={"2xx": 1, "unchanged": 2})
    a_page(crawl, reused=True)
    assert status(crawl)["texts"]["from_memory"] == (
        "2 pages unchanged since last time; 1 page not requested, because a response was cached."
    )


def test_a_crawl_that_asks_for_everything_says_nothing_of_a_memory() -> None:
    assert status(a_finished_crawl())["texts"]["from_memory"] == ""


def test_a_row_says_when_it_is_no_page_of_the_site() -> None:
    crawl = a_crawl()
    a_page(crawl, "https://example.com/map.xml", kind="sitemap", title="")
    a_page(crawl, "https://elsewhere.example/", 404, kind="external", error="gone")
    rows = {row["url"]: row for row in status(crawl)["lists"]["pages"]}
    assert rows["https://example.com/map.xml"]["note"] == "Sitemap"
    assert rows["https://elsewhere.example/"]["note"] == "Another site: gone"
