"""How many pages may still be enqueued under a crawl's limits on pages and bytes; closing the rest beyond them; and
what is said of pages beyond the limits on depth and redirects."""

from __future__ import annotations

from msgspec.structs import replace

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.completion import Limit
from crawler.core.protocol.discovery import Discovery
from crawler.core.protocol.messages import SITEMAP
from crawler.core.sitemaps.formats import MAX_STEPS
from crawler.manager.context import TickContext
from crawler.storage import writer


def room_within_limits(context: TickContext, let_in: int, handed_out: int) -> int | None:
    """How many pages may be enqueued besides those that wait in the ready queue (`let_in`) and those that are handed
    out; None = the crawl has no such limit.

    Once as many pages were requested as may be, open ones close as beyond the limit; but not before those that are
    handed out have come back, because a user may have lowered the limit since. Then too many may wait, too: all of
    these are taken back.
    """
    limits = context.options
    if limits.max_pages is None and limits.max_bytes is None:
        return None
    context.crawl.refresh_from_db(fields=["discovered", "outcomes", "statuses", "bytes"])
    if limits.max_bytes is not None and context.crawl.bytes >= limits.max_bytes:
        error = f"beyond the limit of {limits.max_bytes:,} bytes"
        writer.close_rest(context.id, Outcome.LIMIT, error, context.now(), Limit.BYTES)
        return 0
    if limits.max_pages is None:
        return None
    asked = context.crawl.tallies.asked
    if asked >= limits.max_pages and not handed_out:
        error = f"beyond the limit of {limits.max_pages} pages"
        writer.close_rest(context.id, Outcome.LIMIT, error, context.now(), Limit.PAGES)
        return 0
    room = limits.max_pages - asked - handed_out
    if room < let_in:
        context.frontier.queue_changes.take_back()
        return max(0, room)
    return room - let_in


def explained(page: Discovery, options: CrawlOptions) -> Discovery:
    """The discovery; one that such a limit closes says which."""
    match page.outcome:
        case Outcome.TOO_MANY_REDIRECTS:
            error = f"redirect number {page.hops} in a row"
        case Outcome.LIMIT if page.kind == SITEMAP:
            error = f"this sitemap is behind more than {MAX_STEPS} indexes and redirects in a row"
        case Outcome.LIMIT:
            error = f"deeper than {options.max_depth} links"
        case _:
            return page
    return replace(page, error=error)
