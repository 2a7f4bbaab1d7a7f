"""The options of one crawl, each described once, and the one place that judges what a person typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from crawler.core.channels.catalogue import KINDS, check_address
from crawler.core.channels.kind import ChannelKind
from crawler.core.crawl.notices import USUAL, Event, chosen_events
from crawler.core.crawl.option_kinds import (
    Argument,
    Choice,
    DescribedStruct,
    FormField,
    Lines,
    Number,
    Option,
    OptionFamily,
    OptionGroup,
    Seconds,
    Size,
    Span,
    Switch,
    Whole,
    by_hand,
    each,
    option,
)
from crawler.core.errors import BadInput
from crawler.core.extraction.rules import FieldRule, check_rules
from crawler.core.text.patterns import check_patterns
from crawler.core.urls import query_params
from crawler.core.urls.normalise import check_host, check_prefix, from_person, origin_of

# The forms in which the content of pages can be kept.

HTML, TEXT, MARKDOWN, WARC = "html", "text", "markdown", "warc"
FORMS = (HTML, TEXT, MARKDOWN, WARC)


def check_keep(field: str, forms: Sequence[str], *, uses_memory: bool) -> None:
    """BadInput when these cannot be kept."""
    for form in forms:
        if form not in FORMS:
            raise BadInput(field, f"Content can be kept as {', '.join(FORMS)}; not as {form!r}.")
    if forms and uses_memory:
        raise BadInput(
            field,
            "Content is kept as the site sends it, and with the options to ask only for what changed or to reuse "
            "answers it does not send every page. Leave these out, or keep no content.",
        )


def _check_sitemap(field: str, typed: str) -> None:
    try:
        url = from_person(typed)
    except BadInput as error:
        raise BadInput(field, f"This is no sitemap: {error.message}") from None
    if url == f"{origin_of(url)}/":  # "map.xml" alone is read as the name of a host
        raise BadInput(
            field, f"{typed!r} names a site and no sitemap; give one such as https://example.com/sitemap.xml."
        )


def _receivers(kind: ChannelKind) -> Option:
    """The option with the addresses of a kind of channel."""
    lines = Lines(kind.placeholder or kind.example, each(lambda field, typed: check_address(field, kind.name, typed)))
    return Option((), lines, NOTICES, FormField(kind.field_label, f"{kind.help} One per line."), None, kind.help)


EXTERNALS = Choice(
    "External links",
    "check",
    {"ignore": "Leave them out", "record": "Record them", "check": "Check each of them once"},
    unknown="Links to other sites can be left out, recorded or checked.",
)

FIRST = OptionGroup("", "", "limits")
LIMITS = OptionGroup("Limits", "when to stop", "limits")
SITE = OptionGroup("Scope", "hosts, paths, patterns", "scope")
LINKS = OptionGroup("Links", "following them, links to other sites", "links and sitemaps")
TRAPS = OptionGroup("Traps", "calendars, filters, parameters", "links and sitemaps")
SITEMAPS = OptionGroup("Sitemaps", "pages the site names itself", "links and sitemaps")
POLITENESS = OptionGroup("Politeness", "robots.txt, delay, connections", "politeness")
REPORTS = OptionGroup("Reports", "what else is looked for", "reports")
CACHING = OptionGroup("Caching", "reuse what was crawled before", "caching")
NOTICES = OptionGroup("Notices", "whom to tell, and of what")


class CrawlOptions(msgspec.Struct, metaclass=DescribedStruct, frozen=True, kw_only=True):
    """What the user chose for one crawl. Stored as JSON on the crawl row.

    The entry of an option is all there is to say about it: form, command, API and docs/options.md are derived from it,
    with the options in this order.
    """

    max_pages: int | None = option(
        None,
        Whole("The page limit", "500"),
        FIRST,
        FormField("Page limit", "Pages asked for, at most, such as 500."),
        Argument("--max-pages", "ask for N pages at most"),
        description="Ask for so many pages at most.",
    )
    max_depth: int | None = option(
        None,
        Whole("The depth limit", "3", hint="; for the start URL alone, set the page limit to 1"),
        FIRST,
        FormField("Depth limit", "Links in a row, at most, such as 3."),
        Argument("--max-depth", "follow N links in a row at most"),
        description="Follow so many links in a row at most.",
    )
    max_bytes: int | None = option(
        None,
        Size("The limit on bytes", "2GB"),
        LIMITS,
        FormField("Limit on bytes", "Such as 500MB or 2GB. When so much was read, nothing more is asked for."),
        Argument("--max-bytes", "read about SIZE at most, such as 10MB or 2GB"),
        description="When so many bytes of bodies were read, ask for nothing more.",
    )
    deadline: float | None = option(
        None,
        Span("The time for the crawl", "2h"),
        LIMITS,
        FormField(
            "Time for the crawl", "Such as 2h, 30m or 90s. What is open when it has passed is not asked for any more."
        ),
        Argument("--deadline", "end after TIME, such as 2h, 30m or 90s"),
        description="Seconds the crawl may take; what is open then is not asked for.",
    )
    page_ttl: float | None = option(
        None,
        Span("The time for a page", "30m"),
        LIMITS,
        FormField(
            "Time for a page",
            "Such as 30m, from the moment it is found. A page open for longer is not asked for any more.",
        ),
        Argument("--page-ttl", "give each page TIME from when it was found"),
        description="Seconds a page may stay open.",
    )
    subdomains: bool = option(
        False,
        Switch(),
        SITE,
        FormField("Take in subdomains", "For example.com also docs.example.com."),
        Argument("--subdomains", "the hosts below the start URLs' hosts, too"),
        description="Hosts below the start URLs' hosts belong to the site.",
    )
    hosts: tuple[str, ...] = option(
        (),
        Lines("*.example.org", each(check_host), "HOST"),
        SITE,
        FormField(
            "Further hosts",
            "Hosts that belong to the site too, one a line, such as cdn.example.net; *.example.org means all "
            "below example.org.",
        ),
        Argument("--host", "this host, too: cdn.test, a.test:81, *.b.test"),
        description="Further hosts of the site: `host`, `host:port`, or `*.host` for all below it.",
    )
    path_prefixes: tuple[str, ...] = option(
        (),
        Lines("/docs/", each(check_prefix), "PATH"),
        SITE,
        FormField("Only below these paths", "Beginnings of paths, one a line. A page must begin with one of them."),
        Argument("--path-prefix", "only paths that begin so, such as /docs/"),
        description="Take only pages whose path begins so.",
    )
    include: tuple[str, ...] = option(
        (),
        Lines(r"/20\d\d/", check_patterns, "RE"),
        SITE,
        FormField("Only URLs that match", "Regular expressions, one a line. One of them must be found in the URL."),
        Argument("--include", "only URLs with this regular expression"),
        description="Take only pages with one of these regular expressions in their URL.",
    )
    exclude: tuple[str, ...] = option(
        (),
        Lines(r"\?print=1$", check_patterns, "RE"),
        SITE,
        FormField("No URLs that match", "Regular expressions, one a line. None of them may be found in the URL."),
        Argument("--exclude", "no URLs with this regular expression"),
        description="Leave out pages with one of these regular expressions in their URL.",
    )
    drop_parameters: tuple[str, ...] = by_hand(query_params.USUAL, "Query parameters that change nothing about a page.")
    recursive: bool = option(
        True,
        Switch(),
        LINKS,
        FormField("Follow links", "Off, what you typed above is asked for, and nothing it leads to."),
        Argument("--no-recursive", "ask for the URLs given, and follow no links"),
        description="False: ask for the start URLs, and nothing they lead to.",
    )
    externals: str = option(
        "record",
        EXTERNALS,
        LINKS,
        FormField(
            "Links to other sites",
            "Recorded, they are listed but not asked for. Checked, you learn which of them are broken.",
        ),
        Argument("--externals", "links to other sites: ignore, record, check"),
        description="Links to other sites: `ignore` them, `record` them, or `check` each once.",
    )
    traps: bool = option(
        True,
        Switch(has_both=True),
        TRAPS,
        FormField(
            "Watch for endless series",
            "Set pages aside that a calendar or a filter makes without end. You can let them in later.",
        ),
        Argument("--traps", "set endless series aside (default: yes)"),
        description="Set pages aside that a calendar or a filter makes without end.",
    )
    obey_nofollow: bool = option(
        False,
        Switch(),
        LINKS,
        FormField(
            "Obey nofollow",
            "Leave out links marked nofollow, ugc or sponsored, and all links of pages that say nofollow.",
        ),
        Argument("--obey-nofollow", "leave out links marked nofollow, ugc, sponsored"),
    )
    obey_noindex: bool = option(
        False,
        Switch(),
        LINKS,
        FormField("Obey noindex", "Leave pages that say noindex out of downloads."),
        Argument("--obey-noindex", "leave noindex pages out of exports"),
        description="Leave pages that say noindex out of exports.",
    )
    sitemaps: bool = option(
        False,
        Switch(has_both=True),
        SITEMAPS,
        FormField("Read the site's sitemaps", "Take pages from the sitemaps robots.txt names, and from /sitemap.xml."),
        Argument("--sitemaps", "read the site's sitemaps, too (default: no)"),
        description="Take pages also from the sitemaps that robots.txt names, and from /sitemap.xml.",
    )
    sitemap_urls: tuple[str, ...] = option(
        (),
        Lines("https://example.com/news.xml", each(_check_sitemap), "URL"),
        SITEMAPS,
        FormField(
            "Further sitemaps", "Web addresses, one a line. They are read whether the box above is ticked or not."
        ),
        Argument("--sitemap", "read this sitemap, too"),
        description="Read these sitemaps too.",
    )
    delay: float = option(
        0.0,
        Seconds("The delay", "0.5", most=3600.0),
        POLITENESS,
        FormField("Delay", "Seconds between two requests to one host, at least, such as 0.5."),
        Argument("--delay", "seconds between two requests to a host"),
        description="Seconds between two requests to one host, at least.",
    )
    per_minute: float | None = option(
        None,
        Number("Requests a minute", "30", most=60_000.0),
        POLITENESS,
        FormField("Requests a minute", "To one host, at most, such as 30."),
        Argument("--per-minute", "requests a minute to one host, at most"),
        description="Requests a minute to one host, at most.",
    )
    concurrency: int = option(
        4,
        Whole("Connections per host", "4", most=64),
        POLITENESS,
        FormField("Connections per host", "At one time, over all workers, such as 1 for a small site."),
        Argument("--concurrency", "connections to a host at a time (default: %(default)s)"),
        description="Connections to one host at a time, over all workers.",
    )
    throttle: bool = option(
        True,
        Switch(has_both=True),
        POLITENESS,
        FormField("Slow down when the site does", "Ask a host less often while its answers take long or are errors."),
        Argument("--throttle", "ask less of a slow host (default: yes)"),
        description="Ask a host less often while it is slow or in trouble.",
    )
    obey_robots: bool = option(
        True,
        Switch(),
        POLITENESS,
        FormField("Obey robots.txt", "Leave this on for sites that are not yours."),
        Argument("--ignore-robots", "do not obey robots.txt (on sites you own)"),
        description="Obey robots.txt.",
    )
    near_duplicates: bool = option(
        False,
        Switch(),
        REPORTS,
        FormField("Find near-duplicates", "Compare what pages say, for the report on those that say nearly the same."),
        Argument("--near-duplicates", "find pages that say nearly the same"),
        description="Compare what pages say, for the report on pages that say nearly the same.",
    )
    revisit: bool = option(
        False,
        Switch(),
        CACHING,
        FormField(
            "Ask only for what changed", "A page that is as it was when it was last crawled this way is not sent again."
        ),
        Argument("--revisit", "get only what changed since the last crawl"),
        description="Ask only for what changed since last time.",
    )
    response_ttl: float | None = option(
        None,
        Span("The time an answer is good for", "10m", empty="never"),
        CACHING,
        FormField(
            "Reuse answers younger than",
            "Such as 10m. An answer another crawl got so recently is taken instead of asking again.",
        ),
        Argument("--cache", "reuse answers younger than TIME, such as 10m"),
        description="Take an answer another crawl got so many seconds ago instead of asking again.",
    )
    fields: tuple[FieldRule, ...] = by_hand(
        (),
        "Extraction rules, read from each page: objects with `name` and `selector`, and if wanted `what`, "
        "`attribute`, `many`, `pattern` and `type`.",
    )
    keep: tuple[str, ...] = by_hand(
        (), "Keep the content of pages in these formats: `html`, `text`, `markdown`, `warc`."
    )
    private_hosts: tuple[str, ...] = ()  # host, host:port or CIDR; "*" = every address that is not public
    notify: ClassVar[object] = OptionFamily("tuple[str, ...]", {kind.option: _receivers(kind) for kind in KINDS})
    notify_events: tuple[str, ...] = by_hand(
        USUAL,
        "Which events they are told of: `crawl.started`, `crawl.paused`, `crawl.finished`, `crawl.failed`, "
        "`crawl.cancelled`, and for webhooks `crawl.page`.",
    )

    @property
    def uses_sitemaps(self) -> bool:
        """Whether pages can be found in sitemaps, so that it is to be known which of them are linked."""
        return self.sitemaps or bool(self.sitemap_urls)

    def to_plain(self) -> dict[str, Any]:
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> CrawlOptions:
        """Options read back from a crawl row; unknown names are ignored so that old rows stay readable."""
        return msgspec.convert(dict(plain), cls)


DEFAULTS = CrawlOptions()

OPTIONS = {name: entry for name, entry in CrawlOptions.entries.items() if isinstance(entry, Option)}
"""The catalogue: every option but those with their own code."""


def check_options(options: CrawlOptions) -> CrawlOptions:
    """The same options, or BadInput naming the first field that cannot be used."""
    for field, entry in OPTIONS.items():
        entry.kind.check(field, getattr(options, field))
    for parameter in options.drop_parameters:
        query_params.check_parameter("drop_parameters", parameter)
    check_rules("fields", options.fields)
    check_keep("keep", options.keep, uses_memory=options.revisit or options.response_ttl is not None)
    chosen_events("notify_events", options.notify_events)
    if Event.PAGE in options.notify_events and not any(getattr(options, name) for name in PAGE_RECEIVERS):
        raise BadInput("notify_events", "Only webhooks are told of pages; give one, or do not ask for pages.")
    return options


RECEIVERS = {kind.name: kind.option for kind in KINDS}
"""The option that holds the addresses of each kind of channel."""

MAY_BE_SECRET = tuple(kind.option for kind in KINDS if kind.is_web)
"""Those whose addresses are stored encrypted."""

PAGE_RECEIVERS = tuple(kind.option for kind in KINDS if kind.takes_pages)
"""Those whose receivers can get page notices."""
