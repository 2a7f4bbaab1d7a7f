"""What sitemaps add to a crawl: pages, and further sitemaps.

All sitemaps stand at depth 0, so that with a depth limit they are read before the first link is followed; the pages
they name stand at depth 1, like links of a start page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from crawler.core.discovery import Discovery, Place
from crawler.core.options import CrawlOptions
from crawler.core.outcomes import Outcome
from crawler.core.scope import Scope, Side
from crawler.core.sitemaps.places import usual_places
from crawler.core.urls import host_of
from crawler.core.work import SITEMAP, USUAL_PRIORITY, PageResult, SitemapEntry

MAX_STEPS = 5  # indexes and redirects in a row that lead to a sitemap; the protocol knows of one index
FIRST = 10  # the priority of sitemaps: what they say of pages is best known early


def sitemap_at(url: str, parent_id: int | None = None, steps: int = 0) -> Discovery:
    """A sitemap to be read."""
    if steps <= MAX_STEPS:
        return Discovery(url, 0, steps, parent_id, kind=SITEMAP, priority=FIRST)
    error = f"more than {MAX_STEPS} indexes and redirects in a row lead to this sitemap"
    return Discovery(url, 0, steps, parent_id, Outcome.LIMIT, error, kind=SITEMAP, priority=FIRST)


def named_by_robots(results: Iterable[PageResult], scope: Scope) -> Iterator[Discovery]:
    """The sitemaps that robots.txt files name, told beside the results of pages whatever became of these."""
    for result in results:
        yield from (sitemap_at(url) for url in result.sitemaps if _may_be_read(url, scope))


def followed(result: PageResult, place: Place, scope: Scope) -> Iterator[Discovery]:
    """What one sitemap leads to."""
    if place.kind != SITEMAP:
        return
    if result.redirect_to:
        yield from _further(result.redirect_to, result, place, scope)
    for entry in result.entries:
        if entry.is_sitemap:
            yield from _further(entry.url, result, place, scope)
        elif scope.holds(url := scope.tidied(entry.url)):
            yield _page_at(url, entry, result.id)


def _further(url: str, result: PageResult, place: Place, scope: Scope) -> Iterator[Discovery]:
    """A sitemap that another leads to. It may lie on the other's host, whatever that is: a person named the first."""
    if _may_be_read(url, scope, beside=place.url):
        yield sitemap_at(url, result.id, place.hops + 1)


def _may_be_read(url: str, scope: Scope, beside: str = "") -> bool:
    """A sitemap of the site that is not excluded. Include patterns and path prefixes are about pages."""
    is_near = scope.is_on_site(url) or (beside and host_of(url) == host_of(beside))
    return bool(is_near) and scope.side(url) is not Side.NOWHERE


def _page_at(url: str, entry: SitemapEntry, parent_id: int) -> Discovery:
    return Discovery(
        url,
        1,
        0,
        parent_id,
        priority=USUAL_PRIORITY if entry.priority is None else entry.priority,
        linked=False,
        in_sitemap=True,
        lastmod=entry.lastmod,
    )


def to_begin_with(start_urls: Sequence[str], options: CrawlOptions) -> list[Discovery]:
    """The sitemaps a crawl over these normalised URLs begins with. Those of robots.txt come when it is read."""
    usual = usual_places(start_urls) if options.sitemaps else ()
    return [sitemap_at(url) for url in dict.fromkeys((*usual, *options.sitemap_urls))]
