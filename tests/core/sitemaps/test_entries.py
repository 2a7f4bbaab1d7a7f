"""What sitemaps add to a crawl: pages of the site and further sitemaps, in bounds."""

from typing import Any

import pytest

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.discovery import Discovery, Place, discoveries
from crawler.core.protocol.messages import SITEMAP, PageResult, SitemapEntry
from crawler.core.sitemaps.formats import FIRST, MAX_STEPS, followed, initial_sitemaps, named_by_robots, sitemap_at
from crawler.core.urls.crawl_scope import Scope

START = "https://site.local/"
MAP = f"{START}sitemap.xml"
HERE = Place(0, 0, SITEMAP, MAP)


def scope(**options: Any) -> Scope:
    return Scope.of([START], CrawlOptions(**options))


def result(*entries: SitemapEntry, **facts: Any) -> PageResult:
    return PageResult(id=7, attempt=1, outcome=Outcome.SUCCESS, entries=entries, **facts)


def found(*entries: SitemapEntry, place: Place = HERE, **options: Any) -> list[Discovery]:
    return list(followed(result(*entries), place, scope(**options)))


def test_a_page_stands_one_below_the_start_and_is_not_linked() -> None:
    (page,) = found(SitemapEntry(f"{START}a", "2026-11-20", 8))
    assert page == Discovery(f"{START}a", 1, 0, 7, priority=8, linked=False, in_sitemap=True, lastmod="2026-11-20")


def test_a_page_without_a_priority_has_that_of_the_crawls_rules() -> None:
    assert found(SitemapEntry(f"{START}a"))[0].priority is None


def test_the_scope_decides_which_pages_are_taken() -> None:
    entries = [SitemapEntry(url) for url in ("https://other.local/", f"{START}docs/a", f"{START}docs/secret")]
    pages = found(*entries, include=("/docs/",), exclude=("secret",))
    assert [page.url for page in pages] == [f"{START}docs/a"]


def test_parameters_the_crawl_drops_are_dropped() -> None:
    assert [page.url for page in found(SitemapEntry(f"{START}a?utm_source=map"))] == [f"{START}a"]


def test_an_index_leads_to_sitemaps_at_depth_0_one_step_on() -> None:
    (sitemap,) = found(SitemapEntry(f"{START}one.xml", is_sitemap=True))
    assert sitemap == Discovery(f"{START}one.xml", 0, 1, 7, kind=SITEMAP, priority=FIRST)


def test_a_redirect_of_a_sitemap_leads_to_a_sitemap() -> None:
    (sitemap,) = followed(result(redirect_to=f"{START}map.xml"), HERE, scope())
    assert sitemap == Discovery(f"{START}map.xml", 0, 1, 7, kind=SITEMAP, priority=FIRST)


def test_indexes_in_one_another_come_to_a_named_end() -> None:
    entry = SitemapEntry(f"{START}one.xml", is_sitemap=True)
    (last,) = found(entry, place=Place(0, MAX_STEPS - 1, SITEMAP, MAP))
    (beyond,) = found(entry, place=Place(0, MAX_STEPS, SITEMAP, MAP))
    assert last.outcome is None
    assert beyond.outcome is Outcome.LIMIT


@pytest.mark.parametrize(
    ("url", "is_read"),
    [
        (f"{START}one.xml", True),
        ("https://www.site.local/one.xml", True),
        ("https://other.local/one.xml", False),
        (f"{START}private/one.xml", False),
    ],
)
def test_sitemaps_are_read_on_the_site_unless_they_are_excluded(url: str, is_read: bool) -> None:
    options: dict[str, Any] = {"include": ("/docs/",), "path_prefixes": ("/docs/",), "exclude": ("/private/",)}
    assert len(found(SitemapEntry(url, is_sitemap=True), **options)) == is_read
    named = list(named_by_robots([result(sitemaps=(url,))], scope(**options)))
    assert named == ([sitemap_at(url)] if is_read else [])


def test_an_index_a_person_named_may_lead_to_sitemaps_beside_it() -> None:
    place = Place(0, 0, SITEMAP, "https://cdn.local/index.xml")
    entries = [SitemapEntry(f"https://{host}/one.xml", is_sitemap=True) for host in ("cdn.local", "other.local")]
    assert [page.url for page in found(*entries, place=place)] == ["https://cdn.local/one.xml"]


def test_what_is_no_sitemap_leads_nowhere_by_its_entries() -> None:
    assert found(SitemapEntry(f"{START}a"), place=Place(0, 0)) == []


def test_a_sitemap_has_no_links() -> None:
    linking = result(links=(f"{START}a",), redirect_to=f"{START}b")
    assert list(discoveries(linking, HERE, scope(), CrawlOptions())) == []


def test_robots_txt_counts_whatever_came_of_the_page() -> None:
    failed = PageResult(id=1, attempt=1, outcome=Outcome.TIMEOUT, sitemaps=(MAP,))
    assert list(named_by_robots([failed], scope())) == [Discovery(MAP, 0, 0, None, kind=SITEMAP, priority=FIRST)]


def test_a_sitemap_that_is_linked_to_is_a_page_as_well() -> None:
    page, sitemap = Discovery(MAP, 1, 0, 7), sitemap_at(MAP)
    assert page.key != sitemap.key
    assert page.seen_key != sitemap.seen_key


def test_that_a_page_is_linked_and_that_it_is_listed_are_two_facts_of_one_row() -> None:
    linked, listed = Discovery(f"{START}a", 1, 0, 7), found(SitemapEntry(f"{START}a"))[0]
    assert linked.key == listed.key
    assert linked.seen_key != listed.seen_key


def test_a_crawl_begins_with_the_usual_places_and_those_a_person_named() -> None:
    options = CrawlOptions(sitemaps=True, sitemap_urls=(MAP, f"{START}more.txt"))
    assert [page.url for page in initial_sitemaps([START, f"{START}docs"], options)] == [MAP, f"{START}more.txt"]
    assert initial_sitemaps([START], CrawlOptions()) == []
