from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from crawler.core.options.catalogue import CrawlOptions
from crawler.exports.links import lines
from crawler.models import Crawl, Page, PageFacts
from tests.factories import make_crawl, make_linked_crawl, make_links, make_page

pytestmark = pytest.mark.django_db


def told(crawl: Crawl, **chosen: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(lines(crawl, **chosen)), newline="")))


def test_every_link_is_a_line_with_what_became_of_its_target() -> None:
    crawl = make_linked_crawl()
    assert told(crawl) == [
        link("http://site.test/", "http://site.test/a", "To a", "", "200"),
        link("http://site.test/", "http://site.test/gone", "Gone", "nofollow", "404"),
        link("http://site.test/", "http://other.test/", "Other", "", "external"),
        link("http://site.test/", "http://site.test/never-found", "Never", "", ""),
        link("http://site.test/a", "http://site.test/", "Home", "", "200"),
        link("http://site.test/a", "http://site.test/slow", "'=slow", "", "timeout"),
    ]


def test_links_that_leave_the_site_are_told_alone() -> None:
    assert [link["target"] for link in told(make_linked_crawl(), externals=True)] == ["http://other.test/"]


def test_links_of_chosen_pages_are_told_alone() -> None:
    crawl = make_linked_crawl()
    among = Page.objects.filter(url="http://site.test/a")
    assert {link["source"] for link in told(crawl, among=among)} == {"http://site.test/a"}


def test_pages_that_ask_to_be_left_out_are_on_neither_side_when_that_is_obeyed() -> None:
    crawl = make_linked_crawl(options=CrawlOptions(obey_noindex=True).to_plain())
    Page.objects.filter(url="http://site.test/a").update(directives="noindex")
    assert [link["target"] for link in told(crawl)] == [
        "http://site.test/gone",
        "http://other.test/",
        "http://site.test/never-found",
    ]


def test_the_order_of_the_pages_is_kept_over_many_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.exports.links.PAGES_IN_MEMORY", 2)
    crawl = make_linked_crawl()
    pages = [make_page(crawl, f"http://site.test/{number}") for number in range(5)]
    for page in pages:
        make_links(page, ("http://site.test/", "Home", ""))
    assert [link["source"] for link in told(crawl)][6:] == [page.url for page in pages]


def test_three_links_of_a_page_to_one_target_are_three_lines() -> None:
    crawl = make_crawl()
    start = make_page(crawl, "http://site.test/")
    a, b = "http://site.test/a", "http://site.test/b"
    make_links(start, (a, "Menu", ""), (b, "B", ""), (a, "Text", "nofollow"), (a, "", ""))
    assert [(line["target"], line["text"], line["rel"]) for line in told(crawl)] == [
        (a, "Menu", ""),
        (b, "B", ""),
        (a, "Text", "nofollow"),
        (a, "", ""),
    ]


def test_malformed_links_are_told_behind_the_others_of_their_page_with_what_is_wrong() -> None:
    crawl = make_linked_crawl()
    start, alone = Page.objects.get(url="http://site.test/"), make_page(crawl, "http://site.test/z")
    wrong = {"written": "htp:/x", "text": "=Typo", "rel": "ugc", "problem": "unknown scheme htp"}
    for page in (start, alone):
        PageFacts.objects.create(page=page, crawl=crawl, malformed={"number": 1, "links": [wrong]})
    expected = {**link("", "htp:/x", "'=Typo", "ugc", "malformed"), "problem": "unknown scheme htp"}
    assert told(crawl)[4] == {**expected, "source": start.url}
    assert told(crawl)[-1] == {**expected, "source": alone.url}
    assert "htp:/x" not in {line["target"] for line in told(crawl, externals=True)}


def link(source: str, target: str, text: str, rel: str, status: str) -> dict[str, str]:
    return {"source": source, "target": target, "text": text, "rel": rel, "status": status, "problem": ""}
