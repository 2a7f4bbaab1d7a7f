"""Which pages a result adds to the crawl, and which of them are closed without a request."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import msgspec
from msgspec.structs import replace

from crawler.core.html import link_codec
from crawler.core.html.page_metadata import NOFOLLOW, recorded
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import EXTERNAL, PAGE, SITEMAP, PageResult
from crawler.core.urls.crawl_scope import Scope, Side
from crawler.core.urls.normalise import key_of, key_of_link

MAX_HOPS = 10  # redirects in a row; browsers follow 20 (Fetch standard), RFC 9110, 15.4 warns of loops


class Place(msgspec.Struct, frozen=True):
    """The position of a page in the crawl."""

    depth: int
    hops: int
    kind: str = PAGE
    url: str = ""
    public_only: bool = False  # see `Discovery`


class Discovery(msgspec.Struct, frozen=True):
    """A page to add; open unless it has an `outcome`."""

    url: str
    depth: int
    hops: int
    parent_id: int | None
    outcome: Outcome | None = None
    error: str = ""  # why it is closed
    kind: str = PAGE
    priority: int | None = None  # None = by the crawl's rules, see `core.politeness.priorities`
    rel: str = ""
    linked: bool = True
    in_sitemap: bool = False
    lastmod: str = ""
    trap_id: int | None = None
    note: str = ""  # see `PageTask.note`
    public_only: bool = False  # found on a page that may request no private address, see `core.access.reach`

    @property
    def key(self) -> bytes:
        """The key of its row. A sitemap that a page links to is a page as well: another row with another key."""
        return key_of(f"sitemap {self.url}") if self.kind == SITEMAP else key_of_link(self.url)

    @property
    def seen_key(self) -> bytes:
        """The entry of the seen-set: the table has the row, and knows that it is linked, or in a sitemap."""
        return key_of(f"listed {self.url}") if self.in_sitemap else self.key


def discoveries(
    result: PageResult, place: Place, scope: Scope, options: CrawlOptions, known: set[str] | None = None
) -> Iterator[Discovery]:
    """The pages this result links to, in order, and the links that leave the crawl.

    The table refuses duplicates. For sitemaps see `core.sitemaps.formats`; the links of an external page are not
    followed. A link of a page to itself, as in most navigations, does not count as a link.

    `known` are links of other results that can add nothing more; this result's are added to it. Most links of a site
    lead to the same few pages.
    """
    if place.kind != PAGE or not options.recursive:
        return
    if result.redirect_to:
        yield from _redirect_target(result, place, scope, options)
    known = set() if known is None else known
    for link in _to_follow(result, options):
        if link in known:
            continue
        url = scope.tidied(link)
        if url == place.url:
            continue
        side, rel = scope.side(url), result.rels.get(link, "")
        if side is Side.INSIDE:
            page = _linked(url, place, result.id, rel, options)
            if result.link_notes:
                page = replace(page, note=result.link_notes.get(link, ""))
            if page.outcome is None:  # a link that is too deep here may not be so on another page
                known.add(link)
            yield page
            continue
        known.add(link)
        if side is Side.OUTSIDE and options.externals != "ignore":
            yield _external(url, place.depth + 1, 0, result.id, rel, options)


def with_not_followed(result: PageResult, options: CrawlOptions) -> PageResult:
    """The result with the number of links that this crawl skips; a cached result may have that of another crawl."""
    left_out = len(result.links) - len(_to_follow(result, options))
    return result if left_out == result.not_followed else replace(result, not_followed=left_out)


def with_tidied_keys(result: PageResult, scope: Scope) -> PageResult:
    """The result with its links as this crawl requests them: without the parameters it drops."""
    if not any("?" in link or ";" in link for link in result.links):
        return result
    tidied = tuple(map(scope.tidied, result.links))
    return result if tidied == result.links else replace(result, link_keys=link_codec.keys(tidied))


def _to_follow(result: PageResult, options: CrawlOptions) -> Collection[str]:
    """The links that are followed. With `obey_nofollow` a skipped link gets no row, because another page may link to
    it without nofollow."""
    if result.barred_links:
        barred = frozenset(result.barred_links)
        result = replace(result, links=tuple(url for url in result.links if url not in barred), barred_links=())
    if not options.obey_nofollow:
        return result.links
    if recorded(result.directives, NOFOLLOW):
        return ()
    return [url for url in result.links if url not in result.rels]


def _redirect_target(result: PageResult, place: Place, scope: Scope, options: CrawlOptions) -> Iterator[Discovery]:
    """The target of a redirect has the same depth, one hop more.

    Some sites redirect a URL without their session id to the same URL with it. The id is not dropped then, or the page
    would redirect to itself.
    """
    target, hops = scope.tidied(result.redirect_to), place.hops + 1
    url = result.redirect_to if target == place.url else target
    side = scope.side(url)
    if side is Side.OUTSIDE and options.externals != "ignore":
        yield _external(url, place.depth, hops, result.id, "", options)
    if side is not Side.INSIDE:
        return
    page = Discovery(url, place.depth, hops, result.id, note=result.link_notes.get(result.redirect_to, ""))
    if hops <= MAX_HOPS:
        yield page
    else:
        yield replace(page, outcome=Outcome.TOO_MANY_REDIRECTS)


def _linked(url: str, place: Place, parent_id: int, rel: str, options: CrawlOptions) -> Discovery:
    """The page of a link, one level deeper; beyond the depth limit it is closed at once."""
    page = Discovery(url, place.depth + 1, 0, parent_id, rel=rel)
    if options.max_depth is None or place.depth < options.max_depth:
        return page
    return replace(page, outcome=Outcome.LIMIT)


def _external(url: str, depth: int, hops: int, parent_id: int, rel: str, options: CrawlOptions) -> Discovery:
    """A link that leaves the crawl: recorded, or requested once for its status."""
    outcome = None if options.externals == "check" else Outcome.EXTERNAL
    return Discovery(url, depth, hops, parent_id, outcome, kind=EXTERNAL, rel=rel)
