"""Two crawls side by side as pages: the choice, the numbers, each difference, and it as a file."""

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from syrupy.assertion import SnapshotAssertion

from crawler.core.options.catalogue import CrawlOptions
from crawler.models import Crawl
from tests.factories import a_finished_crawl, a_person
from tests.reports.catalogue.factories import SITE, make
from tests.text_files import listed
from tests.web.reading import html_at, words_of


@pytest.fixture(autouse=True)
def _nothing_remembered() -> None:
    cache.clear()


@pytest.fixture
def before(ann: User) -> Crawl:
    crawl = a_finished_crawl(ann)
    make(crawl, "/", title="Old <b>title</b>")
    return crawl


@pytest.fixture
def now(ann: User, before: Crawl) -> Crawl:
    crawl = a_finished_crawl(ann, previous=before, options=CrawlOptions(max_pages=9))
    make(crawl, "/", title="New title")
    make(crawl, "/new")
    return crawl


def test_other_crawls_are_offered(as_ann: Client, now: Crawl, before: Crawl) -> None:
    html = html_at(as_ann, f"/crawls/{now.id}/compare/")
    assert f'href="/crawls/{now.id}/compare/{before.id}/"' in html
    assert "the run before this one" in html


def test_each_change_is_counted_and_listed(
    as_ann: Client, now: Crawl, before: Crawl, golden: SnapshotAssertion
) -> None:
    pages = {part: html_at(as_ann, f"/crawls/{now.id}/compare/{before.id}/{part}") for part in ("", "title/", "gone/")}
    assert listed({f"compare/{part}": words_of(html) for part, html in pages.items()}) == golden
    assert "Old &lt;b&gt;title&lt;/b&gt;" in pages["title/"]


def test_a_change_comes_as_a_file(as_ann: Client, now: Crawl, before: Crawl) -> None:
    response = as_ann.get(f"/crawls/{now.id}/compare/{before.id}/new.csv")
    assert b"".join(response).decode() == f"url,answer,title\r\n{SITE}/new,200,Title of /new\r\n"  # type: ignore[arg-type]


@pytest.mark.parametrize("address", ["", "title/", "title.csv"])
def test_both_crawls_must_be_ones_own(as_ann: Client, now: Crawl, address: str) -> None:
    bobs = a_finished_crawl(a_person("bob"))
    assert as_ann.get(f"/crawls/{now.id}/compare/{bobs.id}/{address}").status_code == 404
    assert as_ann.get(f"/crawls/{bobs.id}/compare/{now.id}/{address}").status_code == 404


@pytest.mark.parametrize("address", ["nonsense/", "nonsense.csv", "new.exe"])
def test_what_there_is_not_is_not_found(as_ann: Client, now: Crawl, before: Crawl, address: str) -> None:
    assert as_ann.get(f"/crawls/{now.id}/compare/{before.id}/{address}").status_code == 404


def test_a_crawl_is_not_compared_with_itself(as_ann: Client, now: Crawl) -> None:
    assert as_ann.get(f"/crawls/{now.id}/compare/{now.id}/").status_code == 404
