"""Broken pages are told with the pages that link to them, and with the words of the links."""

from __future__ import annotations

import pytest

from crawler.core.html.link_codec import Occurrences
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import EXTERNAL
from crawler.core.text.controls import Surface, spoken
from crawler.models import Crawl
from crawler.reports import links
from crawler.reports.catalogue.entries import BY_SLUG
from tests.reports.catalogue.factories import SITE, behind, crawl_with, keep_links, link, make, moved, rows, told

pytestmark = pytest.mark.django_db


@pytest.fixture
def crawl() -> Crawl:
    """Two broken pages: /gone is linked from two pages, /down from one; /lonely from none."""
    crawl = crawl_with(externals="check")
    link(make(crawl, "/"), gone="the old news", fine="Fine")
    link(make(crawl, "/fine"), gone="", down="Down")
    make(crawl, "/down", Outcome.TIMEOUT, error="it took too long", title="")
    make(crawl, "/gone", 404, title="")
    make(crawl, "/lonely", 500, title="")
    return crawl


def test_broken_pages_are_ranked_by_the_pages_that_link_to_them(crawl: Crawl) -> None:
    assert told(crawl, "broken-links") == [
        (f"{SITE}/gone", "404", "", 2),
        (f"{SITE}/down", "timed out", "it took too long", 1),
        (f"{SITE}/lonely", "500", "", 0),
    ]
    assert BY_SLUG["broken-links"].count(crawl) == 3


def test_behind_each_stand_the_links_with_their_words(crawl: Crawl) -> None:
    assert behind(crawl, "broken-links") == [(f"{SITE}/", 1, "the old news", ""), (f"{SITE}/fine", 1, "", "")]


def test_several_links_of_a_page_are_one_linking_page_and_as_many_rows_of_the_file(crawl: Crawl) -> None:
    gone = f"{SITE}/gone"
    texts, rels = ["Menu", "Text", "", "Menu"], {1: "nofollow"}
    keep_links(make(crawl, "/often"), [gone], Occurrences([0, 0, 0, 0], texts, rels))
    assert told(crawl, "broken-links")[0] == (gone, "404", "", 3)
    assert behind(crawl, "broken-links")[2] == (f"{SITE}/often", 4, "Menu · Text", "nofollow")
    assert [row[2:] for row in rows(crawl, "broken-links") if row[0] == gone][2:] == [
        (f"{SITE}/often", "Menu", ""),
        (f"{SITE}/often", "Text", "nofollow"),
        (f"{SITE}/often", "", ""),
        (f"{SITE}/often", "Menu", ""),
    ]


def test_a_file_has_a_row_for_each_link_and_one_for_what_nobody_links_to(crawl: Crawl) -> None:
    assert rows(crawl, "broken-links") == [
        (f"{SITE}/gone", "404", f"{SITE}/", "the old news", ""),
        (f"{SITE}/gone", "404", f"{SITE}/fine", "", ""),
        (f"{SITE}/down", "timed out", f"{SITE}/fine", "Down", ""),
        (f"{SITE}/lonely", "500", None, None, None),
    ]


def test_links_of_many_pages_are_read_a_part_at_a_time(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "QUERY_PAGES", 2)
    for number in range(5):
        link(make(crawl, f"/{number}"), gone=str(number))
    assert [row[3] for row in rows(crawl, "broken-links") if row[0] == f"{SITE}/gone"][2:] == ["0", "1", "2", "3", "4"]


def test_neither_another_crawl_nor_another_kind_of_page_comes_in(crawl: Crawl) -> None:
    link(make(crawl_with(), "/"), gone="elsewhere")
    make(crawl, "https://other.test/gone", 404, kind=EXTERNAL)
    assert told(crawl, "broken-links")[0] == (f"{SITE}/gone", "404", "", 2)
    assert len(told(crawl, "broken-links")) == 3


def test_broken_links_to_other_sites_are_told_apart(crawl: Crawl) -> None:
    make(crawl, "https://other.test/gone", 404, kind=EXTERNAL)
    make(crawl, "https://other.test/fine", 200, kind=EXTERNAL)
    make(crawl, "https://other.test/recorded", Outcome.EXTERNAL, kind=EXTERNAL)
    assert told(crawl, "external-broken-links") == [("https://other.test/gone", "404", "", 0)]
    assert BY_SLUG["external-broken-links"].count(crawl) == 1


def test_a_crawl_that_did_not_check_other_sites_says_how_to() -> None:
    report = BY_SLUG["external-broken-links"]
    assert "--externals check" in report.lacking(crawl_with(externals="record"))
    assert report.lacking(crawl_with(externals="check")) == ""


def test_redirects_are_told_with_where_they_lead(crawl: Crawl) -> None:
    moved(crawl, "/old", "/fine")
    link(make(crawl, "/b"), old="Old")
    assert told(crawl, "redirects") == [(f"{SITE}/old", "301", f"{SITE}/fine", 1)]


def test_it_says_what_was_not_requested() -> None:
    crawl = crawl_with(externals="record")
    crawl.outcomes = {"2xx": 3, "robots": 2, "limit": 1}
    make(crawl, "https://elsewhere.test/", Outcome.EXTERNAL, kind="external")
    said = spoken(BY_SLUG["broken-links"].not_requested(crawl), Surface.COMMAND)
    assert said == (
        "Not requested, so not checked: 1 page (beyond the limit), 2 pages (forbidden by robots.txt), "
        "1 link to other sites (see --externals check)."
    )


def test_of_a_crawl_that_requested_all_it_says_nothing() -> None:
    crawl = crawl_with()
    crawl.outcomes = {"2xx": 3}
    assert BY_SLUG["broken-links"].not_requested(crawl) == ""
