"""meta robots, X-Robots-Tag and rel in a crawl: recorded always, obeyed by option."""

import pytest

from crawler.exports.rows import rows
from crawler.models import Page
from crawler.reports.receipt import receipt_of
from tests.bench import Bench
from tests.site import Reply, page

HIDDEN = '<meta name="Robots" content="NOINDEX"><meta name=otherbot content=nofollow><a href=/from-hidden>'
ASIDE = '<meta name=sitecrawler content="noarchive, nofollow"><a href=/from-aside><a href=/plain>'
SITE = {
    "/": "<a href=/plain><a href=/paid rel='sponsored nofollow'><a href=/both rel=ugc><a href=/hidden><a href=/aside>",
    "/plain": Reply(page("/both"), headers={"X-Robots-Tag": "sitecrawler: none, unavailable_after: 1 Jan 2030"}),
    "/hidden": HIDDEN,
    "/aside": ASIDE,
    **{path: page() for path in ("/paid", "/both", "/from-hidden", "/from-aside")},
    "/robots.txt": "",
}


def crawled(bench: Bench, **options: bool) -> dict[str, Page]:
    """Path -> page."""
    bench.run("/", **options)
    assert bench.state() == "finished"
    return {one.url.removeprefix(bench.site.url): one for one in Page.objects.filter(crawl=bench.crawl)}


@pytest.mark.site(SITE)
def test_what_pages_say_to_crawlers_is_recorded_and_changes_nothing(bench: Bench) -> None:
    pages = crawled(bench)
    assert set(pages) == set(SITE) - {"/robots.txt"}
    assert {path: one.directives for path, one in pages.items() if one.directives} == {
        "/plain": "noindex nofollow unavailable_after:1_jan_2030",
        "/hidden": "noindex",
        "/aside": "nofollow noarchive",
    }
    assert {path: one.rel for path, one in pages.items() if one.rel} == {"/paid": "nofollow sponsored", "/both": "ugc"}
    assert not any(one.not_followed for one in pages.values())
    assert len(list(rows(bench.crawl))) == len(pages)


@pytest.mark.site(SITE | {"/plain": page("/both")})
def test_nofollow_is_obeyed_link_by_link_when_that_is_asked_for(bench: Bench) -> None:
    pages = crawled(bench, obey_nofollow=True)
    assert set(pages) == {"/", "/plain", "/hidden", "/aside", "/from-hidden", "/both"}  # another page links to /both
    assert {path: one.not_followed for path, one in pages.items() if one.not_followed} == {"/": 2, "/aside": 2}
    assert (pages["/both"].rel, pages["/both"].outcome) == ("", "2xx")
    assert "/paid" not in bench.site.hits


@pytest.mark.site(SITE)
def test_noindex_pages_are_left_out_of_the_export_alone_when_that_is_asked_for(bench: Bench) -> None:
    pages = crawled(bench, obey_noindex=True)
    exported = {row["url"].removeprefix(bench.site.url) for row in rows(bench.crawl)}
    assert exported == set(pages) - {"/plain", "/hidden"}
    assert receipt_of(bench.crawl)["discovered"] == len(pages) == len(SITE) - 1
