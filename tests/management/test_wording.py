from __future__ import annotations

from crawler.management import wording
from crawler.models import Crawl


def test_progress_is_one_line_with_what_is_known() -> None:
    progress = {"closed": 1, "discovered": 1, "rate": None, "eta": None, "receipt": {"failed": 0}}
    assert wording.progress_line(progress) == "1 of 1 page"
    known = {"closed": 340, "discovered": 1900, "rate": 45.23, "eta": 34.4, "receipt": {"failed": 3}}
    assert wording.progress_line(known) == "340 of 1,900 pages at 45.2/s, 3 failed, about 34 s left"


def test_crawls_are_listed_one_a_line() -> None:
    crawl = Crawl(start_urls=["http://site.test/", "http://b.test/"], discovered=1200, outcomes={"2xx": 1100})
    head, line = wording.crawl_table([crawl]).splitlines()
    assert head.split() == ["ID", "STATE", "STARTED", "(UTC)", "PAGES", "CLOSED", "SITE"]
    assert line.startswith(f"{crawl.id}  running  ")
    assert line.endswith("  1,200  1,100   site.test and 1 more")
