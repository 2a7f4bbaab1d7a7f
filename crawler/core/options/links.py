"""Options: where pages are found, in links and sitemaps, and what of their URLs counts."""

from __future__ import annotations

from crawler.core.composed import Part
from crawler.core.errors import BadInput
from crawler.core.options.kinds import Choice, OptionGroup, Switch, Texts, by_hand, each, option
from crawler.core.urls import query_params
from crawler.core.urls.normalise import origin_of, parse_user_url

LINKS = OptionGroup("Links", "following them, links to other sites", "links and sitemaps", 40)
TRAPS = OptionGroup(
    *("Traps", "calendars, filters, parameters", "links and sitemaps", 100),
    ("traps", "keep_parameters", "drop_parameters"),
)
SITEMAPS = OptionGroup("Sitemaps", "pages listed by the site", "links and sitemaps", 60)

EXTERNALS = Choice(
    "check", "record", {"ignore": "Leave them out", "record": "Record them", "check": "Check each of them once"}
)


def _check_sitemap(field: str, typed: str) -> None:
    try:
        url = parse_user_url(typed)
    except BadInput as error:
        raise BadInput(field, f"Invalid sitemap URL: {error.message}") from None
    if url == f"{origin_of(url)}/":  # "map.xml" alone is read as the name of a host
        raise BadInput(field, f"{typed!r} is a site, not a sitemap; enter one such as https://example.com/sitemap.xml.")


class LinkOptions(Part):
    """Following links, and reading sitemaps."""

    drop_parameters: tuple[str, ...] = by_hand(
        query_params.TRACKING_PARAMETERS,
        "Query parameters that do not change a page.",
        each(query_params.check_parameter),
    )
    recursive: bool = option(
        Switch(True),
        LINKS,
        "Follow links",
        "Follow the links of pages. Off, only the start URLs are requested.",
        flag="--no-recursive",
        command_help="request only the URLs given, follow no links",
    )
    externals: str = option(
        EXTERNALS,
        LINKS,
        "Links to other sites",
        "Ignore, record or check links to other sites. Recorded links are listed; checked links are requested once.",
    )
    obey_nofollow: bool = option(
        Switch(),
        LINKS,
        "Obey nofollow",
        "Skip links marked nofollow, ugc or sponsored. On pages marked nofollow, all links are skipped.",
    )
    obey_noindex: bool = option(Switch(), LINKS, "Obey noindex", "Leave noindex pages out of exports.")
    sitemaps: bool = option(
        Switch(has_both=True),
        SITEMAPS,
        "Read the site's sitemaps",
        "Read the site's sitemaps. These are /sitemap.xml and the sitemaps that robots.txt lists.",
        in_fetch=True,
    )
    sitemap_urls: tuple[str, ...] = option(
        Texts("https://example.com/news.xml", each(_check_sitemap), "URL"),
        SITEMAPS,
        "Further sitemaps",
        "Read these sitemaps. They are read even if the site's own are not.",
        flag="--sitemap",
    )

    @property
    def uses_sitemaps(self) -> bool:
        """Whether pages can be found in sitemaps, so that it is to be known which of them are linked."""
        return self.sitemaps or bool(self.sitemap_urls)
