"""Titles, descriptions and headings that are missing, repeated or too many, of HTML pages that answered well."""

from typing import Any

import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import EXTERNAL
from crawler.models import Crawl
from crawler.reports.catalogue.entries import BY_SLUG
from tests.reports.catalogue.factories import SITE, behind, crawl_with, make, paths, rows, told

pytestmark = pytest.mark.django_db


@pytest.fixture
def crawl() -> Crawl:
    return crawl_with()


@pytest.mark.parametrize(
    ("slug", "without"),
    [
        ("missing-titles", {"title": ""}),
        ("missing-descriptions", {"facts": {"description": ""}}),
        ("missing-h1", {"facts": {"h1": "", "h1_count": 0}}),
    ],
)
def test_only_html_pages_of_the_site_that_answered_well_can_miss_something(
    crawl: Crawl, slug: str, without: dict[str, Any]
) -> None:
    make(crawl, "/fine")
    make(crawl, "/without", **without)
    make(crawl, "/unchanged", 304, **without)
    crawl.pages.filter(url=f"{SITE}/unchanged").update(outcome=Outcome.UNCHANGED)
    make(crawl, "/error", 404, **without)
    make(crawl, "/picture", content_type="image/png", **without)
    make(crawl, "https://other.test/", kind=EXTERNAL, **without)
    make(crawl_with(), "/of-another-crawl", **without)
    assert paths(told(crawl, slug)) == ["/without", "/unchanged"]
    assert BY_SLUG[slug].count(crawl) == 2


def test_headings_that_were_not_read_are_not_missed(crawl: Crawl) -> None:
    make(crawl, "/large", facts={"h1": "", "h1_count": None})
    assert told(crawl, "missing-h1") == told(crawl, "several-h1") == []


def test_pages_with_several_headings_are_told_with_their_number(crawl: Crawl) -> None:
    make(crawl, "/two", facts={"h1": "First", "h1_count": 2})
    make(crawl, "/three", facts={"h1": "One", "h1_count": 3})
    assert told(crawl, "several-h1") == [(f"{SITE}/three", "One", 3), (f"{SITE}/two", "First", 2)]


@pytest.mark.parametrize(
    ("slug", "with_text"),
    [
        ("duplicate-titles", lambda text: {"title": text}),
        ("duplicate-descriptions", lambda text: {"facts": {"description": text}}),
        ("duplicate-h1", lambda text: {"facts": {"h1": text}}),
    ],
)
def test_a_text_of_several_pages_is_told_once_with_the_pages_behind_it(crawl: Crawl, slug: str, with_text: Any) -> None:
    for number, text in enumerate(["Same", "Other", "Same", "", "", "Twice", "Other", "Same"]):
        make(crawl, f"/{number}", **with_text(text))
    make(crawl, "/error", 404, **with_text("Same"))
    assert told(crawl, slug) == [("Same", 3), ("Other", 2)]
    assert paths(behind(crawl, slug)) == ["/0", "/2", "/7"]
    assert rows(crawl, slug) == [
        ("Other", f"{SITE}/1"),
        ("Other", f"{SITE}/6"),
        ("Same", f"{SITE}/0"),
        ("Same", f"{SITE}/2"),
        ("Same", f"{SITE}/7"),
    ]
    assert BY_SLUG[slug].count(crawl) == 2
