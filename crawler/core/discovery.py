"""Which pages a result adds to the crawl, and which of them are closed before they are ever asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import msgspec

from crawler.core.directives import NOFOLLOW, recorded
from crawler.core.options import CrawlOptions
from crawler.core.outcomes import Outcome
from crawler.core.scope import Scope
from crawler.core.urls import key_of
from crawler.core.work import PAGE, SITEMAP, USUAL_PRIORITY, PageResult

MAX_HOPS = (
    10  # redirects in a row, as in browsers' order of magnitude (Fetch standard: 20; RFC 9110, 15.4 warns of loops)
)


@dataclass(frozen=True)
class Place:
    """Where in the crawl a page stands."""

    depth: int
    hops: int
    kind: str = PAGE
    url: str = ""


@dataclass(frozen=True)
class Discovery:
    """A page to be added, open unless `outcome` already says how it closes."""

    url: str
    depth: int
    hops: int
    parent_id: int | None
    outcome: Outcome | None = None
    error: str = ""
    kind: str = PAGE
    priority: int = USUAL_PRIORITY
    rel: str = ""
    linked: bool = True
    in_sitemap: bool = False
    lastmod: str = ""
    trap_id: int | None = None

    @property
    def key(self) -> bytes:
        """The key of its row. A sitemap that is linked to is a page as well, so it is another row with another key."""
        return key_of(f"sitemap {self.url}" if self.kind == SITEMAP else self.url)

    @property
    def fact(self) -> bytes:
        """What is surely in the table when the seen-set knows it: the row, and that it is linked, or in a sitemap."""
        return key_of(f"listed {self.url}") if self.in_sitemap else self.key


def discoveries(result: PageResult, place: Place, scope: Scope, options: CrawlOptions) -> Iterator[Discovery]:
    """The pages this result leads to, in scope, in order. Duplicates are for the table to refuse.

    That a page links to itself, as most do in their navigation, does not make it one that is linked.
    """
    if place.kind == SITEMAP:
        return  # see `core.sitemaps.followed`
    if result.redirect_to and scope.holds(result.redirect_to):
        yield _redirect_target(result, place)
    links = [url for url in _to_follow(result, options) if url != place.url]
    if options.max_depth is not None and place.depth >= options.max_depth:
        for url in links:
            if scope.holds(url):
                yield Discovery(
                    url,
                    place.depth + 1,
                    0,
                    result.id,
                    Outcome.LIMIT,
                    f"deeper than {options.max_depth} links",
                    rel=result.rels.get(url, ""),
                )
        return
    for url in links:
        if scope.holds(url):
            yield Discovery(url, place.depth + 1, 0, result.id, rel=result.rels.get(url, ""))


def with_not_followed(result: PageResult, options: CrawlOptions) -> PageResult:
    """The result with the number of its links that this crawl leaves out; a remembered one may have another crawl's."""
    left_out = len(result.links) - len(_to_follow(result, options))
    return result if left_out == result.not_followed else msgspec.structs.replace(result, not_followed=left_out)


def _to_follow(result: PageResult, options: CrawlOptions) -> Collection[str]:
    """The links that are followed. With `obey_nofollow` a link that is left out gets no row: another page may link to
    it without a word against it, and then it is a page like any other."""
    if not options.obey_nofollow:
        return result.links
    if recorded(result.directives, NOFOLLOW):
        return ()
    return [url for url in result.links if url not in result.rels]


def _redirect_target(result: PageResult, place: Place) -> Discovery:
    """A redirect is not a link: its target stands at the same depth, one hop on."""
    hops = place.hops + 1
    if hops <= MAX_HOPS:
        return Discovery(result.redirect_to, place.depth, hops, result.id)
    return Discovery(
        result.redirect_to, place.depth, hops, result.id, Outcome.TOO_MANY_REDIRECTS, f"redirect number {hops} in a row"
    )
