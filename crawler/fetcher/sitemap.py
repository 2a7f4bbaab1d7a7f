"""A sitemap as a fetch job gets it: what it names, and what was wrong with it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import PageResult
from crawler.core.sitemaps.reading import MAX_BYTES, read
from crawler.http.fetcher import FetchResult

MAX_SITEMAP_BODY_BYTES = MAX_BYTES + 1  # one more than is parsed, so that the parser sees the truncation
PIECE_BYTES = 64 * 1024  # parsed at a time


def with_entries(result: PageResult, fetched: FetchResult, url: str) -> PageResult:
    """The result of a fetched sitemap. A body that is not a sitemap is malformed, whatever its content type."""
    if result.outcome is not Outcome.SUCCESS:
        return result
    found = read(_pieces(fetched.body), url)
    outcome = Outcome.SUCCESS if found.is_sitemap else Outcome.MALFORMED
    return msgspec.structs.replace(result, outcome=outcome, entries=found.entries, error=found.error)


def _pieces(body: bytes) -> Iterator[bytes]:
    return (body[at : at + PIECE_BYTES] for at in range(0, len(body), PIECE_BYTES))
