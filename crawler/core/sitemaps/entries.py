"""One entry of a sitemap, as it is written there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from crawler.core.crawl.discovery import Discovery, Place
from crawler.core.crawl.messages import SITEMAP, USUAL_PRIORITY, PageResult, SitemapEntry
from crawler.core.crawl.options import CrawlOptions
from crawler.core.crawl.outcomes import Outcome
from crawler.core.urls.crawl_scope import Scope, Side
from crawler.core.urls.normalise import host_of, normalise, origin_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """The texts of one entry, stripped; None where the file does not say."""

    loc: str | None = None
    lastmod: str | None = None
    changefreq: str | None = None
    priority: str | None = None
    alternate: tuple[str, ...] = ()  # the same page in other languages
    is_sitemap: bool = False


# Where a site's sitemaps are looked for.

USUAL = "/sitemap.xml"


def usual_places(start_urls: Iterable[str]) -> tuple[str, ...]:
    """/sitemap.xml at the origin of each of these normalised URLs, each once."""
    return tuple(dict.fromkeys(origin_of(url) + USUAL for url in start_urls))


def named_in_robots(references: Iterable[str], origin: str) -> tuple[str, ...]:
    """The normalised URLs of an origin's sitemap lines. They should be whole (RFC 9309, 2.2.4); relative ones are
    taken for what is meant."""
    urls = (normalise(reference, f"{origin}/") for reference in references)
    return tuple(dict.fromkeys(url for url in urls if url is not None))


# What sitemaps add to a crawl: pages, and further sitemaps.
#
# All sitemaps stand at depth 0, so that with a depth limit they are read before the first link is followed; the pages
# they name stand at depth 1, like links of a start page.

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
