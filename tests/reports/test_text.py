"""Outcomes, receipts and trouble as people read them."""

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.completion import EndReason, Limit
from crawler.models import Page
from crawler.reports import text
from tests.text_files import listed

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


def test_a_receipt_is_an_aligned_table(golden: SnapshotAssertion) -> None:
    paused = {"seconds": 123.0, "elapsed_seconds": 3900.0}
    limited = {"ended": "limit", "ended_message": "Limit reached.", "limits": {"pages": 2}}
    changes: dict[str, dict[str, Any]] = {
        "finished": {},
        "ended by a limit, after pauses": paused | limited,
        "with open pages": {"discovered": 1185},
    }
    assert listed({name: text.receipt_table(RECEIPT | change) for name, change in changes.items()}) == golden


def test_a_receipt_says_how_many_pages_a_browser_rendered_and_why() -> None:
    lines = text.receipt_table(RECEIPT | {"rendered": {"root": 3, "empty": 2}}).splitlines()
    assert [line.split(maxsplit=1) for line in lines if "Rendered" in line] == [
        [
            "Rendered",
            "5 (it has scripts, but almost no text and no links: 2; the element that its scripts fill is empty: 3)",
        ]
    ]
    assert "Rendered" not in text.receipt_table(RECEIPT)


@pytest.mark.parametrize(("engine", "label"), [("scrapy", "Scrapy"), ("of-a-newer-version", "of-a-newer-version")])
def test_a_receipt_names_an_engine_other_than_the_built_in_one(engine: str, label: str) -> None:
    lines = text.receipt_table(RECEIPT | {"engine": engine}).splitlines()
    assert ["Engine", label] in [line.split() for line in lines]
    assert "Engine" not in text.receipt_table(RECEIPT)


def test_there_are_words_for_every_end_and_every_limit() -> None:
    assert (set(text.ENDED), set(text.LIMITS)) == (set(EndReason), set(Limit))


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


START_PAGES = [
    Page(outcome="4xx", http_status=404),
    Page(outcome="5xx", http_status=500, error="gave up"),
    Page(outcome="connect", error="connection refused."),
    Page(outcome="dns"),
    Page(outcome="too_large", http_status=200),
    Page(outcome="robots", error="robots.txt does not allow it"),
    Page(outcome="cancelled"),
]


def test_start_urls_without_anything_to_follow_are_told_in_one_line(golden: SnapshotAssertion) -> None:
    for number, page in enumerate(START_PAGES):
        page.url = f"http://{number}.test/"
    told = {f"{page.outcome}, the only start URL": text.start_trouble([page], 1) for page in START_PAGES}
    told["two of two"] = text.start_trouble(START_PAGES[:2], 2)
    told["two of three"] = text.start_trouble(START_PAGES[:2], 3)
    told["very many: some are named, the others counted"] = text.start_trouble(START_PAGES, len(START_PAGES))
    assert listed(told) == golden
