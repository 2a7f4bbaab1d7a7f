from typing import Any

import pytest

from crawler.core.errors import BadInput
from crawler.exports import sitemap
from crawler.exports.formats import FORMATS
from crawler.models import Crawl, Page, PageFacts
from tests.factories import make_crawl, make_page

pytestmark = pytest.mark.django_db

HTML = {"status": Page.CLOSED, "outcome": "2xx", "http_status": 200, "content_type": "text/html"}


def listed(crawl: Crawl, **chosen: Any) -> str:
    return "".join(sitemap.lines(crawl, **chosen))


@pytest.mark.parametrize(
    "other",
    [
        {"outcome": "4xx", "http_status": 404},
        {"outcome": "timeout", "http_status": None},
        {"content_type": "application/pdf"},
        {"directives": "noindex"},
        {"directives": "noindex nofollow"},
        {"kind": "external"},
        {"kind": "sitemap"},
        {"status": Page.OPEN, "outcome": "", "http_status": None},
    ],
)
def test_what_belongs_into_no_index_is_left_out(other: dict[str, Any]) -> None:
    crawl = make_crawl()
    make_page(crawl, "http://site.test/", **HTML)
    make_page(crawl, "http://site.test/other", **{**HTML, **other})
    assert listed(crawl).count("<loc>") == 1
    assert "<loc>http://site.test/</loc>" in listed(crawl)


@pytest.mark.parametrize("good", [{"content_type": "application/xhtml+xml"}, {"outcome": "unchanged"}])
def test_pages_of_the_site_that_are_well_are_listed(good: dict[str, Any]) -> None:
    crawl = make_crawl()
    make_page(crawl, "http://site.test/", **{**HTML, **good})
    assert "<loc>http://site.test/</loc>" in listed(crawl)


@pytest.mark.parametrize(
    ("canonical", "is_listed"), [("", True), ("http://site.test/a", True), ("http://site.test/b", False)]
)
def test_a_page_that_names_another_as_the_one_that_counts_is_left_out(canonical: str, is_listed: bool) -> None:
    crawl = make_crawl()
    page = make_page(crawl, "http://site.test/a", **HTML)
    PageFacts.objects.create(page_id=page.id, crawl=crawl, canonical=canonical)
    assert ("<loc>" in listed(crawl)) is is_listed


@pytest.mark.parametrize(
    ("lastmod", "element"),
    [
        ("2025-01-02", "<lastmod>2025-01-02</lastmod>"),
        ("2025-01-02T03:04:05+01:00", "<lastmod>2025-01-02T03:04:05+01:00</lastmod>"),
        ("yesterday", ""),
        ("", ""),
    ],
)
def test_a_date_is_told_when_it_is_one(lastmod: str, element: str) -> None:
    crawl = make_crawl()
    make_page(crawl, "http://site.test/", lastmod=lastmod, **HTML)
    assert f"<url><loc>http://site.test/</loc>{element}</url>\n" in listed(crawl)


def test_an_address_with_marks_of_xml_in_it_is_escaped() -> None:
    crawl = make_crawl()
    make_page(crawl, "http://site.test/?a=1&b=2", **HTML)
    assert "<loc>http://site.test/?a=1&amp;b=2</loc>" in listed(crawl)


@pytest.mark.parametrize(("limit", "value"), [("MOST_URLS", 1), ("MOST_BYTES", 190)])
def test_more_than_one_sitemap_can_hold_is_refused_at_once(
    limit: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sitemap, limit, value)
    crawl = make_crawl()
    make_page(crawl, "http://site.test/", **HTML)
    make_page(crawl, "http://site.test/b", **HTML)
    with pytest.raises(BadInput, match=r"choose sitemap\.zip"):
        FORMATS["sitemap.xml"](crawl)
