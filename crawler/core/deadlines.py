"""Until when a page may be asked for: the crawl's deadline or the page's time to live, whichever ends first."""

from __future__ import annotations

from crawler.core.options import CrawlOptions


def expiry(options: CrawlOptions, round_began_at: float, now: float) -> float | None:
    """Epoch seconds after which a page discovered now is not asked for any more; None = never."""
    moments = []
    if options.deadline is not None:
        moments.append(round_began_at + options.deadline)
    if options.page_ttl is not None:
        moments.append(now + options.page_ttl)
    return min(moments, default=None)
