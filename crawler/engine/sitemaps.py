"""A sitemap as a fetch job gets it: what it names, and what was wrong with it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from crawler.core.outcomes import Outcome
from crawler.core.sitemaps.reading import MAX_BYTES, read
from crawler.core.work import PageResult
from crawler.fetching.fetcher import Fetched

MAX_BODY = MAX_BYTES + 1  # bytes kept of the body: one more than are read, so that reading knows of the rest
STEP = 64 * 1024  # bytes read at a time


def with_entries(result: PageResult, fetched: Fetched, url: str) -> PageResult:
    """The result of a sitemap that was fetched. What is no sitemap is malformed, whatever the server calls it."""
    if result.outcome is not Outcome.SUCCESS:
        return result
    found = read(_pieces(fetched.body), url)
    outcome = Outcome.SUCCESS if found.is_sitemap else Outcome.MALFORMED
    return msgspec.structs.replace(result, outcome=outcome, entries=found.entries, error=found.error)


def _pieces(body: bytes) -> Iterator[bytes]:
    return (body[at : at + STEP] for at in range(0, len(body), STEP))
