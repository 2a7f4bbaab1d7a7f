"""A database of an earlier version is brought up to date with sensible values for the crawls in it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from crawler.core.crawl.options import CrawlOptions
from crawler.core.crawl.outcomes import Outcome
from crawler.models import Crawl, Page
from tests.stack import Stack

BEGAN = datetime(2026, 11, 21, 10, tzinfo=UTC)
ENDED = BEGAN + timedelta(seconds=90)


def a_crawl(options: CrawlOptions | None = None, errors: tuple[str, ...] = (), **fields: Any) -> Crawl:
    """With a page for each of these errors, closed by a limit."""
    values: dict[str, Any] = {"state": "finished", "created_at": BEGAN, "round_began_at": BEGAN, "finished_at": ENDED}
    values |= {"outcomes": {"2xx": 4, "limit": len(errors)}, "start_urls": ["https://example.com/"]}
    crawl = Crawl.objects.create(options=(options or CrawlOptions()).to_plain(), **{**values, **fields})
    for number, error in enumerate(errors):
        key, url = bytes([number]) * 16, f"https://example.com/{number}"
        Page.objects.create(crawl=crawl, key=key, url=url, status=Page.CLOSED, outcome=Outcome.LIMIT, error=error)
    return crawl


@pytest.fixture
def upgraded(stack: Stack) -> dict[str, dict[str, Any]]:
    """Crawls of an earlier version, by name, as their rows are afterwards."""

    def made() -> dict[str, str]:
        pages, depth, of_bytes = "beyond the limit of 4 pages", "deeper than 2 links", "beyond the limit of 9 bytes"
        several = CrawlOptions(max_pages=4, max_depth=2, max_bytes=9)
        both = CrawlOptions(deadline=60.0, page_ttl=9.0)
        expired = {"outcomes": {"2xx": 4, "expired": 3}}
        paused = {"state": "paused", "finished_at": None}
        sample = [(BEGAN + timedelta(seconds=30)).timestamp(), 9, 4]
        crawls = {
            "complete": a_crawl(),
            "one limit": a_crawl(CrawlOptions(max_pages=4), (pages, pages)),
            "several": a_crawl(several, (pages, pages, depth, of_bytes)),
            "sitemaps": a_crawl(CrawlOptions(sitemaps=True), ("more than 5 indexes and redirects in a row lead here",)),
            "deadline": a_crawl(CrawlOptions(deadline=60.0), **expired),
            "deadline of two": a_crawl(both, **expired),
            "page's time": a_crawl(both, **expired, finished_at=BEGAN + timedelta(seconds=59)),
            "paused": a_crawl(**paused, samples=[sample]),
            "paused at once": a_crawl(**paused),
        }
        return {crawl.id.hex: name for name, crawl in crawls.items()}

    names = stack.within(made)
    stack.run("python", "manage.py", "migrate", "crawler", "0001", "--verbosity", "0")
    stack.run("python", "manage.py", "migrate", "--verbosity", "0")
    return {names[row["id"]]: row for row in stack.rows("SELECT * FROM crawler_crawl")}


def test_crawls_that_are_over_ran_from_their_start_to_their_end_and_know_their_limits(
    upgraded: dict[str, dict[str, Any]],
) -> None:
    assert {row["idle_seconds"] for row in upgraded.values()} == {0}
    limits = {name: json.loads(row["limits"]) for name, row in upgraded.items()}
    assert limits == {
        "complete": {},
        "one limit": {"pages": 2},
        "several": {"pages": 2, "depth": 1, "bytes": 1},
        "sitemaps": {"sitemaps": 1},
        "deadline": {"deadline": 3},
        "deadline of two": {"deadline": 3},
        "page's time": {"page_ttl": 3},
        "paused": {},
        "paused at once": {},
    }
    since = {name: row["paused_at"] for name, row in upgraded.items() if row["paused_at"] is not None}
    assert since["paused"].startswith("2026-11-21 10:00:30")
    assert set(since) == {"paused", "paused at once"}
