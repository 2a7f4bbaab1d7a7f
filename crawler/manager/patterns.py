"""Closes pages that no longer match the crawl's patterns: a user has changed them since the pages were found."""

from __future__ import annotations

from collections.abc import Iterable

from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import PAGE
from crawler.core.urls.crawl_scope import Scope, Side
from crawler.manager.context import TickContext
from crawler.storage import additions
from crawler.storage.queries import OpenPage


def close_excluded(context: TickContext, pages: Iterable[OpenPage]) -> set[int]:
    """Close pages about to be handed out that no longer belong to the crawl; returns their ids.
    A list has no patterns."""
    options = context.options
    if context.crawl.source or not (options.include or options.exclude):
        return set()
    scope = Scope.of(context.crawl.start_urls, options)
    excluded = [page.id for page in pages if page.kind == PAGE and scope.side(page.url) is not Side.INSIDE]
    if excluded:
        error = "excluded by a pattern that was changed while the crawl ran"
        additions.close_all(context.id, excluded, Outcome.EXCLUDED, error, context.now())
    return set(excluded)
