"""Which ways lead to a page is known exactly, in whatever order they are found and whoever dies meanwhile."""

import random
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from crawler import crashpoints
from crawler.core.errors import BadInput, RefusedAddress
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import PAGE, SITEMAP, PageResult, SitemapEntry
from crawler.core.sitemaps.formats import initial_sitemaps
from crawler.crawls.start import start_crawl
from crawler.manager import collect
from crawler.manager.context import context_of
from crawler.models import Crawl, Page
from crawler.storage import queries, writer
from tests.bench import Bench, Died
from tests.site import Reply, page

START = "http://site.test/"
OPTIONS = CrawlOptions(sitemaps=True)


def entry(name: str, **facts: Any) -> SitemapEntry:
    return SitemapEntry(f"{START}{name}", **facts)


ANSWERS: dict[tuple[str, str], dict[str, Any]] = {
    (PAGE, ""): {"links": ("", "a", "b", "maps/1.xml")},
    (PAGE, "a"): {"links": ("a", "b", "c")},
    (PAGE, "b"): {"redirect_to": f"{START}d", "outcome": Outcome.REDIRECT},
    (PAGE, "e"): {"links": ("e", "", "f")},
    (SITEMAP, "sitemap.xml"): {"entries": (entry("maps/1.xml", is_sitemap=True), entry("maps/2.xml", is_sitemap=True))},
    (SITEMAP, "maps/1.xml"): {"entries": (entry(""), entry("b"), entry("c"), entry("e"), entry("f"))},
    (SITEMAP, "maps/2.xml"): {"entries": (entry("d"), entry("e"), entry("g"))},
}
ALL = {(PAGE, name) for name in ("", "a", "b", "c", "d", "e", "f", "g", "maps/1.xml")} | set(ANSWERS)
LISTED = {"", "b", "c", "d", "e", "f", "g"}
ORPHANS = {"e", "g"}


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    yield
    crashpoints.arm(None)


def answer_of(row: Page) -> PageResult:
    told = dict(ANSWERS.get((row.kind, row.url.removeprefix(START)), {}))
    told["links"] = tuple(f"{START}{name}" for name in told.get("links", ()))
    return PageResult(**{"id": row.id, "attempt": 1, "outcome": Outcome.SUCCESS, "http_status": 200, **told})


@pytest.mark.parametrize("seed", range(12))
def test_orphans_are_exact_in_any_order_and_whatever_dies(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collect, "SITEMAP_PAGES_PER_TRANSACTION", 2)
    fate = random.Random(seed)
    crawl = Crawl.objects.create(start_urls=[START], options=OPTIONS.to_plain())
    writer.open_start_pages(crawl, [START], time.time(), initial_sitemaps([START], OPTIONS))

    def perhaps_die(moment: str) -> None:
        if fate.random() < 1 / 6:
            raise Died(moment)

    crashpoints.arm(perhaps_die)
    while open_rows := list(Page.objects.filter(crawl=crawl, status=Page.OPEN)):
        chosen = fate.sample(open_rows, fate.randint(1, len(open_rows)))
        results = [answer_of(row) for row in chosen]
        for _ in range(fate.randint(1, 2)):  # a report may be read twice
            with suppress(Died):
                collect.process_results(context_of(crawl), results)
        if fate.random() < 1 / 6:
            context_of(crawl).frontier.redis.flushall()
    rows = Page.objects.filter(crawl=crawl)
    assert {(row.kind, row.url.removeprefix(START)) for row in rows} == ALL
    assert {row.url.removeprefix(START) for row in rows if row.in_sitemap} == LISTED
    assert {row.url.removeprefix(START) for row in rows if not row.linked} == ORPHANS
    crawl.refresh_from_db()
    assert crawl.tallies == queries.count_rows(crawl.id)


@pytest.mark.parametrize("listed", [5, 6, 7])
def test_a_long_sitemap_is_taken_in_part_by_part_and_its_row_closes_with_the_last(
    listed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collect, "SITEMAP_PAGES_PER_TRANSACTION", 3)
    crawl = Crawl.objects.create(start_urls=[START], options=OPTIONS.to_plain())
    writer.open_start_pages(crawl, [], time.time(), initial_sitemaps([START], OPTIONS))
    row, seen = Page.objects.get(crawl=crawl), list[tuple[int, bool]]()

    def between() -> None:
        rows = Page.objects.filter(crawl=crawl)
        seen.append((rows.filter(kind=PAGE).count(), rows.filter(kind=SITEMAP, status=Page.OPEN).exists()))

    result = PageResult(
        id=row.id, attempt=1, outcome=Outcome.SUCCESS, entries=tuple(entry(f"{n}") for n in range(listed))
    )
    collect.process_results(context_of(crawl), [result], between=between)
    assert seen == [(3, True)] + [(6, True)] * (listed > 6)
    between()
    assert seen[-1] == (listed, False)


ROBOTS = Reply("User-agent: *\nDisallow: /\nAllow: /map.xml\nSitemap: /map.xml", headers={"Content-Type": "text/plain"})


@pytest.mark.site({"/robots.txt": ROBOTS, "/map.xml": Reply("<urlset><url><loc>/a</loc></url></urlset>")})
def test_robots_txt_tells_its_sitemaps_although_it_forbids_the_page(bench: Bench) -> None:
    crawl = bench.run(sitemaps=True)
    rows = {(row.kind, row.url.removeprefix(bench.site.url)): row.outcome for row in Page.objects.filter(crawl=crawl)}
    assert rows == {
        (PAGE, "/"): "robots",
        (SITEMAP, "/sitemap.xml"): "robots",
        (SITEMAP, "/map.xml"): "2xx",
        (PAGE, "/a"): "robots",
    }
    assert bench.state() == "finished"


@pytest.mark.site({"/": Reply(status=503), "/robots.txt": Reply("Sitemap: /map.xml"), "/map.xml": Reply("/x")})
def test_robots_txt_tells_its_sitemaps_although_the_page_is_tried_again(bench: Bench) -> None:
    crawl = bench.fetch_first_page(sitemaps=True)
    bench.work("crawl", at_most=1)
    assert Page.objects.filter(crawl=crawl, url=f"{bench.site.url}/map.xml").exists()


@pytest.mark.site({"/robots.txt": Reply("Sitemap: /map.xml"), "/": page()})
@pytest.mark.parametrize("options", [{}, {"sitemaps": True, "obey_robots": False}])
def test_robots_txt_names_nothing_to_who_does_not_want_sitemaps_or_ignores_it(
    bench: Bench, options: dict[str, Any]
) -> None:
    crawl = bench.run(**options)
    assert not Page.objects.filter(crawl=crawl, url__endswith="/map.xml").exists()


def test_a_sitemap_that_cannot_be_asked_for_is_refused_before_anything_is_made() -> None:
    with pytest.raises(BadInput) as refused:
        start_crawl([START], CrawlOptions(sitemap_urls=("ftp://site.test/map.xml",)), allow_private=True)
    assert refused.value.field == "sitemap_urls"
    with pytest.raises(RefusedAddress) as private:
        start_crawl(["http://1.1.1.1/"], CrawlOptions(sitemap_urls=("http://127.0.0.1/map.xml",)))
    assert private.value.field == "sitemap_urls"
    assert not Crawl.objects.exists()
