"""Pages that may request fewer addresses than their crawl, because of who added them: see `core.access.reach`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from crawler.core.protocol.discovery import Discovery, Place
from crawler.core.protocol.messages import PageResult
from crawler.core.urls.addresses import EVERYTHING
from crawler.manager.context import TickContext
from crawler.storage import queries
from crawler.storage.queries import OpenPage


class ReachPart(msgspec.Struct, frozen=True):
    """The pages that a batch requests."""

    public_only: bool  # whether they may request none of the private addresses that the crawl may
    rows: Mapping[int, OpenPage]


def split_by_reach(batches: Mapping[str, Sequence[int]], rows: Mapping[int, OpenPage]) -> dict[str, ReachPart]:
    """Batch -> the pages that it requests, of those it was given. A batch has one policy, so all of its pages have the
    reach of the first; the others go back to the ready queue when their slice is complete."""
    by_reach: dict[bool, dict[int, OpenPage]] = {False: {}, True: {}}
    for page, row in rows.items():
        by_reach[row.public_only][page] = row
    firsts = {batch: next((rows[page] for page in ids if page in rows), None) for batch, ids in batches.items()}
    kinds = {batch: first is not None and first.public_only for batch, first in firsts.items()}
    return {batch: ReachPart(kind, by_reach[kind]) for batch, kind in kinds.items()}


def limited_among(context: TickContext, results: Sequence[PageResult], places: Mapping[int, Place]) -> Collection[int]:
    """The pages of these results that may request fewer addresses than their crawl. So may the pages found on them.
    `places`: of the open ones; of the others only the sitemaps in robots.txt count."""
    if EVERYTHING not in context.options.private_hosts:
        return ()
    limited = {page for page, place in places.items() if place.public_only}
    closed = [result.id for result in results if result.sitemaps and result.id not in places]
    return limited | queries.public_only(context.id, closed) if closed else limited


def note_discovery(found: dict[bytes, Discovery], page: Discovery, *, public_only: bool) -> None:
    """Add a discovery. Of two of one page, one that is to be requested counts, and one that may request more."""
    if public_only:
        page = replace(page, public_only=True)
    known = found.setdefault(page.seen_key, page)
    if known.outcome is not None and page.outcome is None:
        found[page.seen_key] = known = page
    if known.public_only and not page.public_only:
        found[page.seen_key] = replace(known, public_only=False)
