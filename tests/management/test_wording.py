from __future__ import annotations

from typing import Any

import pytest

from crawler.management import wording
from crawler.models import Crawl, Page

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
    "statuses": {"200": 1168, "404": 2},
    "requests": 1180,
    "bytes": 15_300_000,
    "retries": 2,
    "notifications": [{"id": "1", "transport": "email", "address": "me@site.test"}],
}


def test_the_receipt_is_an_aligned_table() -> None:
    assert wording.receipt_table(RECEIPT) == (
        "Crawl        5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5\n"
        "State        finished\n"
        "Start URL    http://site.test/\n"
        "             http://other.test/\n"
        "Time         1 min 05 s\n"
        "Discovered   1,175 pages\n"
        "  fetched    1,170 (200: 1,168, 404: 2)\n"
        "  failed     1\n"
        "  skipped    3 (robots: 3)\n"
        "  cancelled  1\n"
        "Requests     1,180, retries: 2\n"
        "Received     15.3 MB\n"
        "Notice to    me@site.test\n"
    )


def test_open_pages_are_in_the_table_while_there_are_some() -> None:
    assert "\n  open       10\n" in wording.receipt_table({**RECEIPT, "discovered": 1185})


def test_progress_is_one_line_with_what_is_known() -> None:
    progress = {"closed": 1, "discovered": 1, "rate": None, "eta": None, "receipt": {"failed": 0}}
    assert wording.progress_line(progress) == "1 of 1 page"
    known = {"closed": 340, "discovered": 1900, "rate": 45.23, "eta": 34.4, "receipt": {"failed": 3}}
    assert wording.progress_line(known) == "340 of 1,900 pages, 3 failed, 45.2 pages/s, about 34 s left"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.04, "0.0 s"), (9.9, "9.9 s"), (42.4, "42 s"), (59.7, "1 min 00 s"), (185, "3 min 05 s"), (7620, "2 h 07 min")],
)
def test_a_duration_is_said_as_people_say_it(seconds: float, said: str) -> None:
    assert wording.duration(seconds) == said


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (999_999, "1.0 MB"),
        (2_500_000_000, "2.5 GB"),
        (10**13, "10.0 TB"),
    ],
)
def test_a_size_is_said_as_people_say_it(count: int, said: str) -> None:
    assert wording.size(count) == said


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (Page(outcome="4xx", http_status=404), "answered 404"),
        (Page(outcome="5xx", http_status=500, error="gave up"), "answered 500"),
        (Page(outcome="connect", error="connection refused."), "did not answer (connect: connection refused)"),
        (Page(outcome="dns"), "did not answer (dns)"),
        (Page(outcome="malformed", http_status=999), "gave no usable answer (malformed)"),
        (Page(outcome="robots", error="robots.txt forbids it"), "was not asked for (robots.txt forbids it)"),
    ],
)
def test_a_start_url_without_anything_to_follow_says_what_happened(page: Page, said: str) -> None:
    page.url = "http://site.test/"
    assert wording.start_trouble([page], 1) == f"The start URL http://site.test/ {said}: there was nothing to follow."


def test_several_start_urls_are_told_in_one_line() -> None:
    troubled = [
        Page(url="http://a.test/", outcome="4xx", http_status=404),
        Page(url="http://b.test/", outcome="dns"),
    ]
    told = "http://a.test/ answered 404; http://b.test/ did not answer (dns)."
    assert wording.start_trouble(troubled, 2) == f"None of the 2 start URLs gave anything to follow: {told}"
    assert wording.start_trouble(troubled, 3) == f"2 of the 3 start URLs gave nothing to follow: {told}"


def test_crawls_are_listed_one_a_line() -> None:
    crawl = Crawl(start_urls=["http://site.test/", "http://b.test/"], discovered=1200, outcomes={"2xx": 1100})
    head, line = wording.crawl_table([crawl]).splitlines()
    assert head.split() == ["ID", "STATE", "STARTED", "(UTC)", "PAGES", "CLOSED", "SITE"]
    assert line.startswith(f"{crawl.id}  running  ")
    assert line.endswith("  1,200  1,100   site.test and 1 more")
