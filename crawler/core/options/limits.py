"""Options: when a crawl stops, and how long a page may take."""

from __future__ import annotations

from crawler.core.composed import Part
from crawler.core.options.kinds import Duration, OptionGroup, Size, Switch, WholeNumber, option

FIRST = OptionGroup("", "", "limits")
LIMITS = OptionGroup("Limits", "when to stop", "limits", 80, ("deadline", "page_ttl", "page_timeout"))


class LimitOptions(Part):
    """The limits of a crawl and of its pages."""

    max_pages: int | None = option(WholeNumber("500"), FIRST, "Page limit", "Request at most this many pages.")
    max_depth: int | None = option(
        WholeNumber("3", hint="; for the start URL alone, set the page limit to 1"),
        FIRST,
        "Depth limit",
        "Follow at most this many links in a row.",
    )
    max_bytes: int | None = option(Size("2GB"), LIMITS, "Limit on bytes", "Stop after downloading about this much.")
    deadline: float | None = option(
        Duration("2h"), LIMITS, "Time for the crawl", "Stop after this time. Pages still open then are not requested."
    )
    page_ttl: float | None = option(
        Duration("30m"), LIMITS, "Time for a page", "Skip a page this long after its discovery."
    )
    page_timeout: float | None = option(
        Duration("10s", empty="the installation's"),
        LIMITS,
        "Page timeout",
        "Abort a page request after this time. It is retried like a timeout; robots.txt and sitemaps may take longer.",
        in_fetch=True,
    )
    stay_open: bool = option(
        Switch(),
        LIMITS,
        "Keep it open",
        "Wait for new pages until you finish the crawl.",
    )
