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
    max_bytes: int | None = option(Size("2GB"), LIMITS, "Limit on bytes", "Stop when about this much has been read.")
    deadline: float | None = option(
        Duration("2h"), LIMITS, "Time for the crawl", "End after this time. Pages open then are not requested."
    )
    page_ttl: float | None = option(
        Duration("30m"), LIMITS, "Time for a page", "Give up a page this long after it was found."
    )
    page_timeout: float | None = option(
        Duration("10s", empty="the installation's"),
        LIMITS,
        "Page timeout",
        "Abort a request for a page after this time. The page is tried again as after any timeout; robots.txt and "
        "sitemaps may take longer.",
        in_fetch=True,
    )
    stay_open: bool = option(
        Switch(),
        LIMITS,
        "Keep it open",
        "Wait for new pages until you finish the crawl.",
    )
