from __future__ import annotations

import time

import pytest

from crawler.management import display
from crawler.models import Crawl
from crawler.reports.progress import progress_of


def test_progress_is_one_line_with_what_is_known() -> None:
    progress = {"done": 1, "total": 1, "at_most": False, "rate": None, "eta": None, "receipt": {"failed": 0}}
    assert display.progress_line(progress) == "1 of 1 page"
    known = {"done": 340, "total": 1900, "at_most": False, "rate": 45.23, "eta": 34.4, "receipt": {"failed": 3}}
    assert display.progress_line(known) == "340 of 1,900 pages at 45.2/s, 3 failed, about 34 s left"


@pytest.mark.django_db
def test_under_a_page_limit_progress_is_told_by_the_limit() -> None:
    now = time.time()
    tallies = {"discovered": 457, "outcomes": {"2xx": 12}, "samples": [[now - 4, 300, 4, 4]]}
    crawl = Crawl(start_urls=["http://site.test/"], options={"max_pages": 40}, **tallies)
    progress = {**progress_of(crawl, now), "receipt": {"failed": 0}}
    assert display.progress_line(progress) == "12 of 40 at most at 2.0/s, about 14 s left"


def test_the_list_of_crawls_shows_a_page_limit_in_place_of_what_was_found() -> None:
    outcomes = {"2xx": 40, "limit": 417}
    crawl = Crawl(start_urls=["http://site.test/"], options={"max_pages": 40}, discovered=457, outcomes=outcomes)
    assert "  40 at most  40      site.test\n" in display.crawl_table([crawl])


def test_crawls_are_listed_one_a_line() -> None:
    crawl = Crawl(start_urls=["http://site.test/", "http://b.test/"], discovered=1200, outcomes={"2xx": 1100})
    head, line = display.crawl_table([crawl]).splitlines()
    assert head.split() == ["ID", "STATE", "STARTED", "(UTC)", "PAGES", "CLOSED", "SITE"]
    assert line.startswith(f"{crawl.id}  running  ")
    assert line.endswith("  1,200  1,100   site.test and 1 more")
