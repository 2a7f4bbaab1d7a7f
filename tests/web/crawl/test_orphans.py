"""The orphans of a crawl: on its page the first few once it is over, on a page of their own all of them."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.models import Crawl
from crawler.reports.progress import MAX_LISTED
from crawler.web.tables import paging
from tests.factories import a_crawl, a_finished_crawl, a_page

OPTIONS = CrawlOptions(sitemaps=True)


def with_orphans(crawl: Crawl, number: int) -> Crawl:
    for each in range(number):
        a_page(crawl, f"https://example.com/{each}", in_sitemap=True, linked=False)
    return crawl


def test_the_crawls_page_shows_the_first_and_counts_all(as_ann: Client, ann: User) -> None:
    crawl = with_orphans(a_finished_crawl(ann, options=OPTIONS), MAX_LISTED + 3)
    status = as_ann.get(f"/crawls/{crawl.id}/status").json()
    assert [row["url"] for row in status["lists"]["orphans"]] == [f"https://example.com/{n}" for n in range(MAX_LISTED)]
    assert status["texts"]["orphans"] == f"{MAX_LISTED + 3} pages are in a sitemap but no page links to them."
    html = as_ann.get(f"/crawls/{crawl.id}/").content.decode()
    assert f'href="/crawls/{crawl.id}/orphans/"' in html


def test_pages_that_were_not_asked_for_leave_a_doubt(as_ann: Client, ann: User) -> None:
    outcomes = {"2xx": 1, Outcome.LIMIT.value: 2}
    crawl = with_orphans(a_finished_crawl(ann, options=OPTIONS, outcomes=outcomes), 1)
    texts = as_ann.get(f"/crawls/{crawl.id}/status").json()["texts"]
    assert texts["orphans"] == (
        "1 page is in a sitemap but no page links to it. 2 pages that may do so were not requested."
    )


def test_while_the_crawl_runs_its_page_names_none(as_ann: Client, ann: User) -> None:
    crawl = with_orphans(a_crawl(ann, options=OPTIONS), 1)
    assert as_ann.get(f"/crawls/{crawl.id}/status").json()["lists"]["orphans"] == []
    html = as_ann.get(f"/crawls/{crawl.id}/orphans/").content.decode()
    assert "https://example.com/0" in html
    assert "links to them may still be found" in html


def test_all_of_them_are_listed_page_by_page(as_ann: Client, ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "ROWS_PER_PAGE", 2)
    crawl = with_orphans(a_finished_crawl(ann, options=OPTIONS), 3)
    first = as_ann.get(f"/crawls/{crawl.id}/orphans/").content.decode()
    second = as_ann.get(f"/crawls/{crawl.id}/orphans/?page=2").content.decode()
    assert ("/1</a>" in first, "/2</a>" in first, "/2</a>" in second) == (True, False, True)
    assert "3 pages" in first


@pytest.mark.parametrize(("options", "said"), [(OPTIONS, "No orphans"), (CrawlOptions(), "Not known: this crawl")])
def test_none_and_unknown_are_told_apart(as_ann: Client, ann: User, options: CrawlOptions, said: str) -> None:
    crawl = a_finished_crawl(ann, options=options)
    assert said in as_ann.get(f"/crawls/{crawl.id}/orphans/").content.decode()
