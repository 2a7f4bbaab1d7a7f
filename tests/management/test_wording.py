import time
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from syrupy.assertion import SnapshotAssertion

from crawler.management import display
from crawler.models import Crawl
from crawler.reports.progress import progress_of
from tests.text_files import listed


def a_row(number: int, **fields: Any) -> Crawl:
    made = {"id": UUID(int=number), "created_at": datetime(2026, 11, 21, 12, tzinfo=UTC)}
    return Crawl(**{**made, "start_urls": ["http://site.test/"], **fields})


def test_progress_is_one_line_with_what_is_known(golden: SnapshotAssertion) -> None:
    begun = {"done": 1, "total": 1, "at_most": False, "rate": None, "eta": None, "receipt": {"failed": 0}}
    known = {"done": 340, "total": 1900, "at_most": False, "rate": 45.23, "eta": 34.4, "receipt": {"failed": 3}}
    assert listed({"begun": display.progress_line(begun), "known": display.progress_line(known)}) == golden


@pytest.mark.django_db
def test_under_a_page_limit_progress_is_told_by_the_limit() -> None:
    now = time.time()
    tallies = {"discovered": 457, "outcomes": {"2xx": 12}, "samples": [[now - 4, 300, 4, 4]]}
    progress = {**progress_of(a_row(1, options={"max_pages": 40}, **tallies), now), "receipt": {"failed": 0}}
    assert display.progress_line(progress) == "12 of 40 at most at 2.0/s, about 14 s left"


def test_crawls_are_listed_one_a_line(golden: SnapshotAssertion) -> None:
    several = a_row(1, start_urls=["http://site.test/", "http://b.test/"], discovered=1200, outcomes={"2xx": 1100})
    limited = a_row(2, options={"max_pages": 40}, discovered=457, outcomes={"2xx": 40, "limit": 417})
    assert display.crawl_table([several, limited]) == golden
