"""The options of pages that were crawled before."""

from __future__ import annotations

from crawler.core.composed import Part
from crawler.core.options.kinds import Duration, OptionGroup, OptionSet, Switch, option

CACHING = OptionGroup("Caching", "reuse earlier responses", "caching", 110)


class CacheOptions(Part):
    """What is reused."""

    follows = "near_duplicates"

    revisit: bool = option(
        Switch(),
        CACHING,
        "Fetch only changes",
        "Fetch only pages changed since the last crawl. The server does not send unchanged pages again.",
    )
    response_ttl: float | None = option(
        Duration("10m", empty="never"),
        CACHING,
        "Maximum response age",
        "Reuse responses of other crawls up to this age. The site gets no request.",
        flag="--cache",
    )


OPTIONS = (OptionSet(CacheOptions),)
