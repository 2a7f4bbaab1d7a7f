"""Outcomes, receipts and trouble as people read them."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.core.crawl.completion import Ended, Limit
from crawler.core.crawl.outcomes import Outcome
from crawler.models import Page
from crawler.reports import text

RECEIPT: dict[str, Any] = {
    "id": "5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5",
    "state": "finished",
    "start_urls": ["http://site.test/", "http://other.test/"],
    "started_at": "2025-01-02T03:04:05.000+00:00",
    "finished_at": "2025-01-02T03:05:10.000+00:00",
    "seconds": 65.0,
    "discovered": 1175,
    "fetched": 1170,
    "failed": 1,
    "skipped": {"robots": 3},
    "cancelled": 1,
    "statuses": {"404": 2, "200": 1168},
    "requests": 1180,
    "bytes": 15_300_000,
    "retries": 2,
    "notifications": [{"id": "1", "transport": "email", "address": "me@site.test"}],
}


def test_every_outcome_has_its_words() -> None:
    labels = {text.outcome(outcome) for outcome in Outcome}
    assert all(labels)
    assert len(labels) == len(Outcome)


def test_a_page_without_an_outcome_is_open() -> None:
    assert text.outcome("") == "open"


def test_the_receipt_is_an_aligned_table() -> None:
    assert text.receipt_table(RECEIPT) == (
        "Crawl        5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5\n"
        "State        finished\n"
        "Start URL    http://site.test/\n"
        "             http://other.test/\n"
        "Time         1 min 5 s\n"
        "Discovered   1,175 pages\n"
        "  fetched    1,170 (200: 1,168, 404: 2)\n"
        "  failed     1\n"
        "  skipped    3 (forbidden by robots.txt: 3)\n"
        "  cancelled  1\n"
        "Requests     1,180, retries: 2\n"
        "Received     15.3 MB\n"
        "Notice to    me@site.test\n"
    )


def test_a_receipt_says_why_the_crawl_ended_and_how_long_it_ran() -> None:
    more = {"elapsed_seconds": 3900.0, "ended": "limit", "ended_message": "Limit reached.", "limits": {"pages": 2}}
    table = text.receipt_table({**RECEIPT, "seconds": 123.0, **more})
    assert "\nState        finished\nEnded        Limit reached.\n" in table
    assert "\nTime         ran 2 min 3 s (over 1 h 5 min, with pauses)\n" in table


def test_without_a_pause_there_is_one_time() -> None:
    assert text.time_told({"seconds": 65.0, "elapsed_seconds": 65.2}) == "1 min 5 s"


def test_there_are_words_for_every_end_and_every_limit() -> None:
    assert (set(text.ENDED), set(text.LIMITS)) == (set(Ended), set(Limit))


@pytest.mark.parametrize(
    ("receipt", "told"),
    [
        (RECEIPT, ""),  # of an earlier version
        ({"ended": None, "limits": {}}, ""),
        ({"ended": "complete", "limits": {}}, "complete"),
        ({"ended": "limit", "limits": {"pages": 4, "depth": 1}}, "limit reached (pages, depth)"),
        ({"ended": "deadline", "limits": {"deadline": 4}}, "deadline passed"),
    ],
)
def test_the_end_of_a_crawl_is_told_in_a_few_words(receipt: dict[str, Any], told: str) -> None:
    assert text.ended(receipt) == told


def test_open_pages_are_in_the_receipt_while_there_are_some() -> None:
    assert "\n  open       10\n" in text.receipt_table({**RECEIPT, "discovered": 1185})


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (Page(outcome="4xx", http_status=404), "answered 404"),
        (Page(outcome="5xx", http_status=500, error="gave up"), "answered 500"),
        (Page(outcome="connect", error="connection refused."), "did not answer (connection refused)"),
        (Page(outcome="dns"), "did not answer (host name not found)"),
        (Page(outcome="too_large", http_status=200), "gave no usable answer (too large)"),
        (
            Page(outcome="robots", error="robots.txt does not allow it"),
            "was not requested (robots.txt does not allow it)",
        ),
        (Page(outcome="cancelled"), "was not requested (cancelled)"),
    ],
)
def test_a_start_url_without_anything_to_follow_says_what_happened(page: Page, said: str) -> None:
    page.url = "http://site.test/"
    told = text.start_trouble([page], 1)
    assert told == f"The start URL http://site.test/ {said}, so there was nothing to follow."


def test_several_start_urls_are_told_in_one_line() -> None:
    troubled = [
        Page(url="http://a.test/", outcome="4xx", http_status=404),
        Page(url="http://b.test/", outcome="dns"),
    ]
    told = "http://a.test/ answered 404; http://b.test/ did not answer (host name not found)."
    assert text.start_trouble(troubled, 2) == f"None of the 2 start URLs gave anything to follow: {told}"
    assert text.start_trouble(troubled, 3) == f"2 of the 3 start URLs gave nothing to follow: {told}"


def test_of_very_many_start_urls_the_first_are_named_and_the_others_counted() -> None:
    troubled = [Page(url=f"http://{number}.test/", outcome="4xx", http_status=404) for number in range(7)]
    told = text.start_trouble(troubled, 7)
    assert told.startswith("None of the 7 start URLs gave anything to follow: http://0.test/ answered 404; ")
    assert told.endswith("http://4.test/ answered 404; and 2 more.")
