"""What is worked out of a large crawl that is over is worked out once, and says what it would say anew."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crawler.core.protocol.completion import State
from crawler.core.protocol.messages import EXTERNAL
from crawler.models import Crawl, Page, PageLoad
from crawler.reports import result_cache
from crawler.reports.catalogue.entries import REPORTS, numbers_of
from crawler.reports.catalogue.report import Cells, ReportRows
from crawler.reports.comparison import CHANGES, ChangedPages, changes_between
from crawler.reports.graph import graph_of
from tests.reports.catalogue.factories import crawl_with, link, make, moved

pytestmark = pytest.mark.django_db
OPTIONS: dict[str, Any] = {"externals": "check", "sitemaps": True, "near_duplicates": True, "render": "auto"}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, settings: Any) -> Iterator[None]:
    settings.DATA_DIR = tmp_path
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it, and from then on the smallest crawl counts as large."""
    return lambda: monkeypatch.setattr(result_cache, "LEAST", 0)


def a_site_with_trouble(*more: str) -> Crawl:
    """A crawl that is over, with something for most reports."""
    crawl = crawl_with(**OPTIONS)
    make(crawl, "/gone", 404)
    make(crawl, "https://away.test/", 404, kind=EXTERNAL)
    moved(crawl, "/old", "/older")
    moved(crawl, "/older", "/")
    moved(crawl, "/round", "/round")
    make(crawl, "/lonely", linked=False, in_sitemap=True)
    home = make(crawl, "/", title="Same", depth=9, elapsed_ms=9000, bytes=10**6)
    typo = {"written": "htp:/x", "text": "X", "rel": "", "problem": "unknown scheme htp"}
    make(crawl, "/typo", facts={"malformed": {"number": 1, "links": [typo]}})
    make(crawl, "/alike", title="Same", facts={"sketch": b"12345678", "canonical": "https://site.test/gone"})
    same = {"digest": b"1" * 16, "sketch": b"12345679", "description": "As another", "h1": "", "h1_count": 2}
    for path in ("/one", "/two", *more):
        make(crawl, path, facts={**same, "insecure": ["http://a.test/"], "first_byte_ms": 900, "h1": "Two"})
    failed = {"url": "https://site.test/x.js", "kind": "script", "problem": "failed"}
    PageLoad.objects.create(
        page=home, crawl=crawl, console_errors=1, console=["x"], failed_requests=1, requests=[failed]
    )
    link(home, gone="Gone", old="Old")
    link(make(crawl, "/untitled", title="", facts={"description": "", "h1": ""}), gone="Again")
    crawl.state, crawl.discovered = State.FINISHED, crawl.pages.count()
    crawl.save()
    return crawl


def whole(lines: ReportRows) -> list[Cells]:
    """All cells, which are the same however they are asked for."""
    told = [line.cells for line in lines]
    assert lines.count() == len(told)
    assert [line.cells for line in lines[0:100]] == told
    assert [line.cells for line in lines[1:3]] == told[1:3]
    return told


def everything(crawl: Crawl) -> dict[str, Any]:
    """Each report: its lines, what lies behind them, and its file."""
    told: dict[str, Any] = {}
    for report in REPORTS:
        parts = [report.part(crawl, line.part) for line in report.lines(crawl) if line.part]
        told[report.slug] = whole(report.lines(crawl)), [whole(part.lines) for part in parts if part]
        told[f"{report.slug}, whole"] = list(report.rows(crawl))
    return told


def test_every_report_says_the_same_from_what_was_kept(small: Callable[[], None]) -> None:
    crawl = a_site_with_trouble()
    anew, numbers = everything(crawl), numbers_of(crawl)
    assert [report.slug for report in REPORTS if not anew[report.slug][0]] == []
    small()
    assert everything(crawl) == everything(crawl) == anew
    assert numbers_of(crawl) == numbers_of(crawl) == numbers


def test_every_comparison_says_the_same_from_what_was_kept(small: Callable[[], None]) -> None:
    before, now = a_site_with_trouble("/away"), a_site_with_trouble("/new")
    Page.objects.filter(crawl=now, url__endswith="/one").update(title="Another", http_status=203)
    anew = {change.slug: whole(ChangedPages(now, before, change)) for change in CHANGES}
    assert anew["new"]
    small()
    for _ in range(2):
        assert {change.slug: whole(ChangedPages(now, before, change)) for change in CHANGES} == anew
    assert changes_between(now, before) == {slug: len(lines) for slug, lines in anew.items()}


def test_what_was_kept_is_there_for_another_process_and_gone_with_the_crawl(small: Callable[[], None]) -> None:
    small()
    crawl = a_site_with_trouble()
    numbers, drawn = numbers_of(crawl), graph_of(crawl)
    cache.clear()  # a process that has just begun remembers nothing
    with CaptureQueriesContext(connection) as asked:
        assert (numbers_of(crawl), graph_of(crawl)) == (numbers, drawn)
    assert len(asked) == 0
    result_cache.forget(crawl.id)
    assert result_cache.cache_for(crawl).get_many(["nothing"]) == {}
    with CaptureQueriesContext(connection) as asked:
        numbers_of(crawl)
    assert len(asked) > 0


def test_a_crawl_that_is_opened_again_is_read_anew(small: Callable[[], None]) -> None:
    small()
    crawl = a_site_with_trouble()
    assert result_cache.cached("colour", lambda: "red", crawl) == "red"
    assert result_cache.cached("colour", lambda: "blue", crawl) == "red"
    crawl.state = State.RUNNING
    assert result_cache.cached("colour", lambda: "green", crawl) == "green"
    crawl.state, crawl.round = State.FINISHED, 2
    assert result_cache.cached("colour", lambda: "blue", crawl) == "blue"


def test_a_file_that_cannot_be_read_or_written_costs_no_more_than_the_work(
    small: Callable[[], None], tmp_path: Path
) -> None:
    small()
    crawl = a_site_with_trouble()
    result_cache.cached("colour", lambda: "red", crawl)
    for file in (tmp_path / "kept").rglob("*.djcache"):
        file.write_bytes(b"broken")
    assert result_cache.cached("colour", lambda: "blue", crawl) == "blue"
    result_cache.forget(crawl.id)
    (tmp_path / "kept").rmdir()
    (tmp_path / "kept").write_text("no folder")
    assert result_cache.cached("colour", lambda: "green", crawl) == "green"
