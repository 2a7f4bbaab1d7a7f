"""Reports and comparisons over the API: their numbers, their lines, what lies behind one, and as files."""

import csv
import io
import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache

from crawler.models import Crawl
from crawler.reports.catalogue.entries import REPORTS
from tests.api.calling import Caller
from tests.api.routes.test_crawls import items_of
from tests.factories import a_finished_crawl
from tests.reports.catalogue.factories import SITE, link, make

SNAIL, LARGE = "%F0%9F%90%8C", f"{'9' * 40}-{'9' * 40}"
"""What is no key of any report."""


@pytest.fixture(autouse=True)
def _nothing_remembered() -> None:
    cache.clear()


@pytest.fixture
def crawl(ann: User) -> Crawl:
    """One broken page, linked from one; three pages with the same title."""
    crawl = a_finished_crawl(ann)
    link(make(crawl, "/", title="Same"), gone="old news")
    make(crawl, "/b", title="Same")
    make(crawl, "/c", title="Same")
    make(crawl, "/gone", 404, error="=cmd()", title="")
    return crawl


@pytest.fixture
def later(ann: User) -> Crawl:
    crawl = a_finished_crawl(ann)
    make(crawl, "/", title="Other")
    make(crawl, "/new")
    return crawl


def rows_of(response: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))


def test_all_reports_are_listed_with_their_numbers(by_ann: Caller, crawl: Crawl) -> None:
    listed = by_ann.get(f"/crawls/{crawl.id}/reports").json()
    of_slug = {entry["slug"]: entry for entry in listed["items"]}
    assert list(of_slug) == [report.slug for report in REPORTS]
    assert (of_slug["broken-links"]["number"], of_slug["missing-titles"]["number"]) == (1, 0)
    assert of_slug["near-duplicates"]["number"] is None
    assert of_slug["near-duplicates"]["lacking"].endswith("Crawl again with `near_duplicates`.")
    assert listed["is_counting"] is False


def test_what_takes_long_is_still_being_counted(by_ann: Caller, crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.api.routes.reports.BUDGET", -1.0)
    assert by_ann.get(f"/crawls/{crawl.id}/reports").json()["is_counting"] is True


def test_every_report_has_its_lines_what_lies_behind_them_and_its_file(by_ann: Caller, crawl: Crawl) -> None:
    for address in (f"/crawls/{crawl.id}/reports/{report.slug}" for report in REPORTS):
        report = by_ann.get(f"{address}?limit=1").json()
        names = {column["name"] for column in report["columns"]}
        assert all(set(line["cells"]) == names for line in report["items"])
        for key in (line["key"] for line in report["items"] if line["key"]):
            assert by_ann.get(f"{address}/lines?key={key}").status_code == 200, (address, key)
        for key in (SNAIL, LARGE):
            assert by_ann.get(f"{address}/lines?key={key}").status_code in {200, 404}, (address, key)
        assert by_ann.get(f"{address}/exports/csv").status_code == 200


def test_a_broken_link_comes_with_the_page_that_links_to_it(by_ann: Caller, crawl: Crawl) -> None:
    [line] = items_of(by_ann, f"/crawls/{crawl.id}/reports/broken-links")
    assert (line["cells"]["url"], line["cells"]["answer"]) == (f"{SITE}/gone", "404")
    [source] = items_of(by_ann, f"/crawls/{crawl.id}/reports/broken-links/lines?key={line['key']}")
    assert f"{SITE}/" in source["cells"].values()
    assert "old news" in source["cells"].values()
    [row] = rows_of(by_ann.get(f"/crawls/{crawl.id}/reports/broken-links/exports/csv"))
    assert "old news" in row.values()


def test_lines_come_in_pages(by_ann: Caller, crawl: Crawl) -> None:
    [same] = items_of(by_ann, f"/crawls/{crawl.id}/reports/duplicate-titles")
    path = f"/crawls/{crawl.id}/reports/duplicate-titles/lines?key={same['key']}&limit=2"
    assert [line["cells"]["url"].removeprefix(SITE) for line in items_of(by_ann, path)] == ["/", "/b", "/c"]


@pytest.mark.parametrize("path", ["nonsense", "statuses/lines?key=x", "statuses/exports/xlsx", "statuses/lines"])
def test_what_is_not_there_is_no_error_of_ours(by_ann: Caller, crawl: Crawl, path: str) -> None:
    assert by_ann.get(f"/crawls/{crawl.id}/reports/{path}").status_code in {404, 422}


def test_two_crawls_are_compared(by_ann: Caller, crawl: Crawl, later: Crawl) -> None:
    below = f"/crawls/{later.id}/comparisons"
    assert [other["id"] for other in by_ann.get(below).json()["items"]] == [str(crawl.id)]
    compared = by_ann.get(f"{below}/{crawl.id}").json()
    numbers = {change["slug"]: change["number"] for change in compared["changes"]}
    assert numbers == {"new": 1, "gone": 3, "status": 0, "title": 1, "content": 0}
    gone = items_of(by_ann, f"{below}/{crawl.id}/gone?limit=2")
    assert [line["cells"]["url"].removeprefix(SITE) for line in gone] == ["/b", "/c", "/gone"]
    lines = b"".join(by_ann.get(f"{below}/{crawl.id}/title/exports/jsonl").streaming_content).splitlines()
    assert [json.loads(line) for line in lines] == [{"url": f"{SITE}/", "before": "Same", "now": "Other"}]


def test_a_crawl_is_compared_with_another_that_one_may_see(by_ann: Caller, crawl: Crawl, bob: User) -> None:
    other = a_finished_crawl(bob)
    assert by_ann.get(f"/crawls/{crawl.id}/comparisons").json()["items"] == []
    for named in (other, crawl):
        assert by_ann.get(f"/crawls/{crawl.id}/comparisons/{named.id}").status_code == 404
        assert by_ann.get(f"/crawls/{named.id}/comparisons/{crawl.id}/new").status_code == 404
