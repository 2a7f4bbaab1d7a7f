"""The options of pages that were crawled before."""

from __future__ import annotations

from crawler.core.composed import Part
from crawler.core.options.kinds import Duration, OptionGroup, OptionSet, Switch, option

CACHING = OptionGroup("Caching", "reuse what was crawled before", "caching", 110)


class CacheOptions(Part):
    """What is reused."""

    follows = "near_duplicates"

    revisit: bool = option(
        Switch(),
        CACHING,
        "Ask only for what changed",
        "Get only what changed since the last crawl. Unchanged pages are not sent again.",
    )
    response_ttl: float | None = option(
        Duration("10m", empty="never"),
        CACHING,
        "Maximum response age",
        "Reuse responses up to this age. They come from other crawls; the site gets no request.",
        flag="--cache",
    )


OPTIONS = (OptionSet(CacheOptions),)
