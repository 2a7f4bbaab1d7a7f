"""The reports of a crawl as pages: all with their numbers, each with its lines, what lies behind one, and as a file."""

import csv
import io

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from crawler.models import Crawl
from crawler.reports.catalogue import entries as counted
from crawler.reports.catalogue.entries import REPORTS
from crawler.web.tables import paging
from tests.factories import a_finished_crawl
from tests.reports.catalogue.factories import SITE, link, make
from tests.web.reading import html_at


@pytest.fixture(autouse=True)
def _nothing_remembered() -> None:
    cache.clear()


@pytest.fixture
def crawl(ann: User) -> Crawl:
    """One broken page, linked from one; two pages with the same title."""
    crawl = a_finished_crawl(ann)
    page = make(crawl, "/", title="Same")
    link(page, gone="<b>old</b> news")
    make(crawl, "/b", title="Same")
    make(crawl, "/gone", 404, error="=cmd()", title="")
    return crawl


def test_all_reports_are_listed_with_their_numbers(as_ann: Client, crawl: Crawl) -> None:
    response = as_ann.get(f"/crawls/{crawl.id}/reports/")
    entries = {entry["slug"]: entry for _, members in response.context["groups"] for entry in members}
    assert set(entries) == {report.slug for report in REPORTS}
    assert entries["broken-links"]["number"] == "1 page"
    assert entries["broken-links"]["tone"] == "warn"
    assert entries["missing-titles"]["said"] == "Every page has a title."
    assert entries["missing-titles"]["tone"] == "good"
    assert entries["near-duplicates"]["said"].endswith("Crawl again with “Find near-duplicates”.")
    assert not response.context["is_counting"]


def test_a_large_crawl_is_counted_bit_by_bit(as_ann: Client, crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.web.crawl.reports.BUDGET", -1.0)
    assert "Still being counted" in html_at(as_ann, f"/crawls/{crawl.id}/reports/")
    counted.numbers_of(crawl)
    assert "Still being counted" not in html_at(as_ann, f"/crawls/{crawl.id}/reports/")


def test_a_report_leads_to_what_lies_behind_its_lines(as_ann: Client, crawl: Crawl) -> None:
    html = html_at(as_ann, f"/crawls/{crawl.id}/reports/broken-links/")
    broken = crawl.pages.get(url=f"{SITE}/gone")
    assert f'href="/crawls/{crawl.id}/reports/broken-links/{broken.pk}/"' in html
    behind = html_at(as_ann, f"/crawls/{crawl.id}/reports/broken-links/{broken.pk}/")
    assert f'href="{SITE}/"' in behind
    assert "&lt;b&gt;old&lt;/b&gt; news" in behind


def test_lines_are_shown_a_page_at_a_time(as_ann: Client, crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "ROWS_PER_PAGE", 2)
    for number in range(3):
        make(crawl, f"/untitled/{number}", title="")
    first = html_at(as_ann, f"/crawls/{crawl.id}/reports/missing-titles/")
    second = html_at(as_ann, f"/crawls/{crawl.id}/reports/missing-titles/?page=2")
    assert ("untitled/1" in first, "untitled/2" in first, "untitled/2" in second) == (True, False, True)
    assert "3 pages" in first


def test_a_report_comes_as_a_file_that_no_spreadsheet_runs(as_ann: Client, crawl: Crawl) -> None:
    response = as_ann.get(f"/crawls/{crawl.id}/reports/broken-links.csv")
    assert response["Content-Disposition"] == f'attachment; filename="broken-links-{crawl.id}.csv"'
    (row,) = csv.DictReader(io.StringIO(b"".join(response).decode(), newline=""))  # type: ignore[arg-type]
    assert row == {"url": f"{SITE}/gone", "answer": "404", "page": f"{SITE}/", "text": "<b>old</b> news", "rel": ""}
    make(crawl, "/c", title="=1+1")
    make(crawl, "/d", title="=1+1")
    response = as_ann.get(f"/crawls/{crawl.id}/reports/duplicate-titles.csv")
    assert b"'=1+1" in b"".join(response)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "address", ["nonsense/", "nonsense.csv", "broken-links.exe", "broken-links/0/", "statuses/x/", "near-duplicates/1/"]
)
def test_what_there_is_not_is_not_found(as_ann: Client, crawl: Crawl, address: str) -> None:
    assert as_ann.get(f"/crawls/{crawl.id}/reports/{address}").status_code == 404
