"""A sitemap as a fetch job gets it: what it names, and what was wrong with it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import PageResult
from crawler.core.sitemaps.formats import MAX_LEVELS, MAX_NAMES, SitemapFault
from crawler.core.sitemaps.reading import MAX_BYTES, MAX_CHARACTERS, MAX_ENTRIES, Sitemap, read
from crawler.http.fetcher import FetchResult

MAX_SITEMAP_BODY_BYTES = MAX_BYTES + 1  # one more than is parsed, so that the parser sees the truncation
PIECE_BYTES = 64 * 1024  # parsed at a time

_FAULTS = {
    SitemapFault.TOO_LARGE: f"larger than {MAX_BYTES // 1024**2} MB; the rest was not read",
    SitemapFault.DAMAGED: "{}",
    SitemapFault.EMPTY: "the file is empty",
    SitemapFault.HTML: "this is an HTML page, not a sitemap",
    SitemapFault.NO_LIST: "this is not a sitemap: neither XML nor a list of web addresses",
    SitemapFault.ENTRIES: f"more than {MAX_ENTRIES:,} entries; the rest was not read",
    SitemapFault.CHARACTERS: f"its addresses exceed {MAX_CHARACTERS:,} characters in total; the rest was not read",
    SitemapFault.NOT_WELL_FORMED: "ends unexpectedly at line {}",
    SitemapFault.ENCODING: "is in an encoding that cannot be read",
    SitemapFault.MARKUP: "a tag, comment or declaration of the XML is larger than 1 MB",
    SitemapFault.PROLOGUE: "its first megabyte contains no element",
    SitemapFault.NAMES: f"it has more than {MAX_NAMES:,} names of elements and attributes",
    SitemapFault.LEVELS: f"its elements are nested more than {MAX_LEVELS} levels deep",
    SitemapFault.ROOT: "its root element is <{}>, which is neither a sitemap nor a feed",
    SitemapFault.ENTITY: "it declares the entity {}, which the crawler does not expand",
    SitemapFault.ATTRIBUTES: "it declares attributes, which sitemaps do not need",
}
_OF_XML = (SitemapFault.NOT_WELL_FORMED, SitemapFault.ENCODING)


def with_entries(result: PageResult, fetched: FetchResult, url: str) -> PageResult:
    """The result of a fetched sitemap. A body that is not a sitemap is malformed, whatever its content type."""
    if result.outcome is not Outcome.SUCCESS:
        return result
    found = read(_pieces(fetched.body), url)
    outcome = Outcome.SUCCESS if found.is_sitemap else Outcome.MALFORMED
    return msgspec.structs.replace(result, outcome=outcome, entries=found.entries, error=error_of(found))


def error_of(found: Sitemap) -> str:
    """What is wrong with a file, in one line for users; "" if all of it was read."""
    texts = []
    if found.problem is not None:
        fault, detail = found.problem
        what = ("the XML " if found.is_sitemap else "this is not a sitemap: as XML it ") if fault in _OF_XML else ""
        texts.append(what + _FAULTS[fault].format(detail))
    if found.left_out:
        more = ", ..." if found.left_out > len(found.examples) else ""
        named = f": {', '.join(map(repr, found.examples))}{more}" if found.examples else ""
        many = f"{found.left_out:,} entries are not web addresses and were left out"
        texts.append(("1 entry is not a web address and was left out" if found.left_out == 1 else many) + named)
    return "; ".join(texts)


def _pieces(body: bytes) -> Iterator[bytes]:
    return (body[at : at + PIECE_BYTES] for at in range(0, len(body), PIECE_BYTES))
