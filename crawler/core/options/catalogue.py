"""The catalogue of crawl options, and the check of the values that a user chose."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from crawler.core.channels.catalogue import KINDS, check_address
from crawler.core.channels.kind import ChannelKind
from crawler.core.errors import BadInput
from crawler.core.extraction.rules import FieldRule, check_rules, check_selector
from crawler.core.options.events import DEFAULT_EVENTS, Event, chosen_events
from crawler.core.options.kinds import (
    Choice,
    DescribedStruct,
    Lines,
    Number,
    Option,
    OptionFamily,
    OptionGroup,
    Seconds,
    Size,
    Span,
    Switch,
    Text,
    Whole,
    by_hand,
    each,
    option,
)
from crawler.core.pages.rendering import (
    JPEG,
    MAX_RENDER_SECONDS,
    PICTURES,
    PNG,
    SCREENSHOT,
    VIEWPORT,
    WEBP,
    WHOLE_PAGE,
)
from crawler.core.politeness.priorities import check_priorities
from crawler.core.politeness.shares import MOST_WEIGHT, USUAL_WEIGHT
from crawler.core.robots.user_agent import check_user_agent
from crawler.core.text.controls import by_surface
from crawler.core.text.patterns import check_patterns
from crawler.core.urls import query_params
from crawler.core.urls.normalise import check_host, check_prefix, origin_of, parse_user_url

# The formats in which content can be kept.

HTML, TEXT, MARKDOWN, WARC = "html", "text", "markdown", "warc"
FORMS = (HTML, TEXT, MARKDOWN, WARC, *PICTURES)


_RENDERED = by_surface(
    command="--render auto or always", page="“Render in a browser”", api='`render` "auto" or "always"'
)
_KEPT_PICTURE = by_surface(
    command="--keep screenshot", page="“Screenshot” under “Content”", api='`keep` with "screenshot"'
)


def check_keep(field: str, forms: Sequence[str], *, renders: bool) -> None:
    """BadInput when content cannot be kept in these formats."""
    for form in forms:
        if form not in FORMS:
            raise BadInput(field, f"Content can be kept as {', '.join(FORMS)}; not as {form!r}.")
    pictures = [form for form in PICTURES if form in forms]
    if pictures and not renders:
        raise BadInput(
            field,
            f"Content is kept as {' and '.join(pictures)} only of pages that a browser renders, and this crawl renders "
            f"none; choose {_RENDERED} with it.",
        )


def _check_blocked(field: str, typed: str) -> None:
    check_host(field, typed)
    if ":" in typed:
        raise BadInput(field, f"{typed!r} names a port; a host is blocked at all of them: leave it out.")


def _check_sitemap(field: str, typed: str) -> None:
    try:
        url = parse_user_url(typed)
    except BadInput as error:
        raise BadInput(field, f"This is no sitemap: {error.message}") from None
    if url == f"{origin_of(url)}/":  # "map.xml" alone is read as the name of a host
        raise BadInput(
            field, f"{typed!r} names a site and no sitemap; give one such as https://example.com/sitemap.xml."
        )


def _receivers(kind: ChannelKind) -> Option:
    """The option with the addresses of a kind of channel."""
    lines = Lines(kind.placeholder or kind.example, each(lambda field, typed: check_address(field, kind.name, typed)))
    return Option(lines, NOTICES, kind.field_label, kind.help)


EXTERNALS = Choice(
    "check", "record", {"ignore": "Leave them out", "record": "Record them", "check": "Check each of them once"}
)

NEVER, AUTO, ALWAYS = "never", "auto", "always"
RENDER = Choice(
    "auto",
    NEVER,
    {NEVER: "Never", AUTO: "Pages that need it", ALWAYS: "Always"},
)


BUILT_IN, SCRAPY = "builtin", "scrapy"
ENGINE = Choice(SCRAPY, BUILT_IN, {BUILT_IN: "Built in", SCRAPY: "Scrapy"})


LATE, EARLY = "late", "early"
ACK = Choice(
    EARLY,
    LATE,
    {
        LATE: "Late: a page whose worker dies is tried again",
        EARLY: "Early: a page whose worker dies is lost",
    },
)

SCREENSHOT_AREA = Choice(
    WHOLE_PAGE, VIEWPORT, {VIEWPORT: "The viewport, 1280 by 800 pixels", WHOLE_PAGE: "The whole page"}
)
SCREENSHOT_FORMAT = Choice(PNG, WEBP, {WEBP: "WebP", PNG: "PNG", JPEG: "JPEG"})


def _check_css(field: str, typed: Sequence[str]) -> None:
    for selector in typed:
        check_selector(field, "Wait for an element", selector)


_DOTTED_NAME = re.compile(r"([A-Za-z_]\w*\.)+[A-Za-z_]\w*", re.ASCII)
MAX_SPIDER_NAME = 200  # characters


def _check_spider(field: str, typed: str) -> None:
    if not _DOTTED_NAME.fullmatch(typed) or len(typed) > MAX_SPIDER_NAME:
        raise BadInput(field, f"{typed!r} names no spider; give module.Class, such as shop.spiders.Prices.")


def _check_login_url(field: str, typed: str) -> None:
    try:
        parse_user_url(typed)
    except BadInput as error:
        raise BadInput(field, f"This is no log-in page: {error.message}") from None


def _check_login_check(field: str, typed: str) -> None:
    check_selector(field, "Sign of being logged in", typed)


FIRST = OptionGroup("", "", "limits")
LIMITS = OptionGroup("Limits", "when to stop", "limits")
SITE = OptionGroup("Scope", "hosts, paths, patterns", "scope")
LOGIN = OptionGroup("Log-in", "a form with user and password", "log-in")
LINKS = OptionGroup("Links", "following them, links to other sites", "links and sitemaps")
TRAPS = OptionGroup("Traps", "calendars, filters, parameters", "links and sitemaps")
SITEMAPS = OptionGroup("Sitemaps", "pages listed by the site", "links and sitemaps")
POLITENESS = OptionGroup("Politeness", "robots.txt, delay, connections", "politeness")
QUEUE = OptionGroup("Queue", "which pages come first, shares of the workers", "queue")
REPORTS = OptionGroup("Reports", "further checks", "reports")
RENDERING = OptionGroup("Rendering", "run the scripts of pages in a browser", "rendering")
SCRAPY_GROUP = OptionGroup("Scrapy", "middlewares and pipelines of your own", "scrapy")
CACHING = OptionGroup("Caching", "reuse what was crawled before", "caching")
CONTENT = OptionGroup("Content", "HTML, text, Markdown, WARC, screenshots, PDF", "extracted fields and kept content")
NOTICES = OptionGroup("Notices", "receivers and events")


class CrawlOptions(msgspec.Struct, metaclass=DescribedStruct, frozen=True, kw_only=True):
    """What the user chose for one crawl. Stored as JSON on the crawl row.

    Form, command, API and docs/options.md are derived from the entries, with the options in this order.
    """

    max_pages: int | None = option(Whole("500"), FIRST, "Page limit", "Request at most this many pages.")
    max_depth: int | None = option(
        Whole("3", hint="; for the start URL alone, set the page limit to 1"),
        FIRST,
        "Depth limit",
        "Follow at most this many links in a row.",
    )
    max_bytes: int | None = option(Size("2GB"), LIMITS, "Limit on bytes", "Stop when about this much has been read.")
    deadline: float | None = option(
        Span("2h"), LIMITS, "Time for the crawl", "End after this time. Pages open then are not requested."
    )
    page_ttl: float | None = option(
        Span("30m"), LIMITS, "Time for a page", "Give up a page this long after it was found."
    )
    page_timeout: float | None = option(
        Span("10s", empty="the installation's"),
        LIMITS,
        "Page timeout",
        "Abort a request for a page after this time. The page is tried again as after any timeout; robots.txt and "
        "sitemaps may take longer.",
    )
    stay_open: bool = option(
        Switch(),
        LIMITS,
        "Keep it open",
        "Wait for more pages when none is left. It is finished when a user says so.",
    )
    subdomains: bool = option(Switch(), SITE, "Include subdomains", "Include the hosts below the start URLs' hosts.")
    hosts: tuple[str, ...] = option(
        Lines("*.example.org", each(check_host), "HOST"),
        SITE,
        "Further hosts",
        "Also crawl these hosts. They may have ports; *.example.org means all hosts below example.org.",
        flag="--host",
    )
    path_prefixes: tuple[str, ...] = option(
        Lines("/docs/", each(check_prefix), "PATH"),
        SITE,
        "Only below these paths",
        "Crawl only paths with one of these prefixes.",
        flag="--path-prefix",
    )
    include: tuple[str, ...] = option(
        Lines(r"/20\d\d/", check_patterns, "RE"),
        SITE,
        "Only URLs that match",
        "Crawl only URLs matching a regular expression.",
    )
    exclude: tuple[str, ...] = option(
        Lines(r"\?print=1$", check_patterns, "RE"),
        SITE,
        "No URLs that match",
        "Skip URLs matching a regular expression.",
    )
    login_url: str = option(
        Text("https://example.com/login", _check_login_url, "no log-in"),
        LOGIN,
        "Log-in form",
        "Log in at this page first. Its form is sent once for all workers, with the values given for its fields, and "
        "again when the site has ended the session. Log-out links are not followed.",
    )
    login_check: str = option(
        Text("a.my-account", _check_login_check, "the form is gone"),
        LOGIN,
        "Sign of being logged in",
        "CSS selector that matches only after log-in. Without one, the log-in has worked if its form is gone.",
        command_help="CSS selector that matches only after log-in",
    )
    drop_parameters: tuple[str, ...] = by_hand(
        query_params.TRACKING_PARAMETERS, "Query parameters that change nothing about a page."
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
    traps: bool = option(
        Switch(True, has_both=True),
        TRAPS,
        "Detect endless series",
        "Set endless series aside. A calendar or a filter makes such pages; you can release them later.",
    )
    obey_nofollow: bool = option(
        Switch(),
        LINKS,
        "Obey nofollow",
        "Skip links marked nofollow, ugc or sponsored. Of a page that says nofollow, all links are skipped.",
    )
    obey_noindex: bool = option(Switch(), LINKS, "Obey noindex", "Leave noindex pages out of exports.")
    sitemaps: bool = option(
        Switch(has_both=True),
        SITEMAPS,
        "Read the site's sitemaps",
        "Read the site's sitemaps. They are /sitemap.xml and those that robots.txt names.",
    )
    sitemap_urls: tuple[str, ...] = option(
        Lines("https://example.com/news.xml", each(_check_sitemap), "URL"),
        SITEMAPS,
        "Further sitemaps",
        "Read these sitemaps. They are read even if the site's own sitemaps are not.",
        flag="--sitemap",
    )
    delay: float = option(
        Seconds("0.5", most=3600.0), POLITENESS, "Delay", "Minimum seconds between requests to a host."
    )
    per_minute: float | None = option(
        Number("30", most=60_000.0), POLITENESS, "Requests a minute", "Maximum requests per minute to a host."
    )
    concurrency: int = option(
        Whole("4", most=64, default=4),
        POLITENESS,
        "Connections per host",
        "Maximum connections to a host. Counted over all workers.",
    )
    throttle: bool = option(
        Switch(True, has_both=True),
        POLITENESS,
        "Slow down when the site does",
        "Slow down for slow hosts. Also for hosts that respond with errors.",
    )
    obey_robots: bool = option(
        Switch(True),
        POLITENESS,
        "Obey robots.txt",
        "Obey robots.txt. Leave this on for sites that are not yours.",
        flag="--ignore-robots",
        command_help="do not obey robots.txt (on sites you own)",
    )
    user_agent: str = option(
        Text("ExampleBot/1.0 (+https://example.com/bot)", check_user_agent, "the installation's"),
        POLITENESS,
        "User agent",
        "Send this User-Agent header. The rules that robots.txt has for its name, here ExampleBot, are obeyed.",
    )
    ignore_tls_errors: bool = option(
        Switch(),
        POLITENESS,
        "Ignore TLS errors",
        "Accept certificates that are not trusted. Each page says why its server's was not; nobody can tell then who "
        "really answered, and who reads what is sent.",
    )
    priorities: tuple[str, ...] = option(
        Lines("/news/=9", check_priorities, "RE=N"),
        QUEUE,
        "Priorities",
        "Fetch URLs that match sooner or later. A rule is a regular expression, = and 0 (last) to 10 (first); other "
        "pages have 5. The first that matches counts, unless a list or a sitemap gives the page a priority.",
        flag="--priority",
    )
    weight: int = option(
        Whole("8", most=MOST_WEIGHT, default=USUAL_WEIGHT),
        QUEUE,
        "Weight",
        "Share of the workers, 1 to 10. A crawl with 6 gets three times as many batches as one with 2 that runs beside "
        "it.",
    )
    ack: str = option(
        ACK,
        QUEUE,
        "Acknowledge",
        "Acknowledge pages late or early. Late, when they are done: if a worker dies, its pages are tried again. "
        "Early, when a worker takes them: if it dies, its open pages close as lost, and are retried on demand only.",
    )
    near_duplicates: bool = option(Switch(), REPORTS, "Find near-duplicates", "Find pages with nearly the same text.")
    render: str = option(
        RENDER,
        RENDERING,
        "Render in a browser",
        "Run the scripts of pages, in Chromium. What they show is read; it takes a second or so per page and needs a "
        "browser worker (bin/worker --render).",
    )
    wait_for: tuple[str, ...] = option(
        Lines("main article", _check_css, "CSS"),
        RENDERING,
        "Wait for an element",
        "Render until a CSS selector matches. Without one, until the page has loaded and requests nothing any more.",
    )
    render_timeout: float | None = option(
        Span("10s", empty="15 seconds"),
        RENDERING,
        "Time in the browser",
        "Give a page this long in the browser. What it shows by then is read.",
    )
    scroll: bool = option(
        Switch(), RENDERING, "Scroll to the end", "Scroll rendered pages to their end. Some load more then."
    )
    blocked_hosts: tuple[str, ...] = option(
        Lines("*.tracker.example", each(_check_blocked), "HOST"),
        RENDERING,
        "Blocked hosts",
        "Load nothing from these hosts. *.tracker.example means it and all hosts below it; a page's own host is never "
        "blocked.",
        flag="--block-host",
    )
    engine: str = option(
        ENGINE,
        SCRAPY_GROUP,
        "Engine",
        "Run pages through Scrapy. Middlewares and pipelines of your own run, too; it needs a Scrapy worker "
        "(bin/worker --scrapy).",
    )
    spider: str = option(
        Text("shop.spiders.Prices", _check_spider, "none", "NAME"),
        SCRAPY_GROUP,
        "Spider",
        "Call a spider of your own with each page. Its items are the page's fields, and the requests it yields its "
        "links.",
    )
    revisit: bool = option(
        Switch(),
        CACHING,
        "Ask only for what changed",
        "Get only what changed since the last crawl. Unchanged pages are not sent again.",
    )
    response_ttl: float | None = option(
        Span("10m", empty="never"),
        CACHING,
        "Maximum response age",
        "Reuse responses up to this age. They come from other crawls; the site gets no request.",
        flag="--cache",
    )
    fields: tuple[FieldRule, ...] = by_hand(
        (),
        "Extraction rules, read from each page: objects with `name` and `selector` (CSS) or `xpath`, and if wanted "
        "`what`, `attribute`, `many`, `pattern` and `type`.",
    )
    keep: tuple[str, ...] = by_hand(
        (),
        "Keep the content of pages in these formats: `html`, `text`, `markdown`, `warc`, and of rendered pages "
        "`screenshot`, `pdf`.",
    )
    screenshot: str = option(
        SCREENSHOT_AREA,
        CONTENT,
        "Screenshot area",
        "Screenshots show the viewport or the whole page. Of a page higher than 16,000 pixels they show the top.",
    )
    screenshot_format: str = option(
        SCREENSHOT_FORMAT,
        CONTENT,
        "Screenshot format",
        "Store screenshots as WebP, PNG or JPEG. WebP takes the least room, PNG keeps every pixel as it was.",
    )
    private_hosts: tuple[str, ...] = ()  # host, host:port or CIDR; "*" = every address that is not public
    notify: ClassVar[object] = OptionFamily("tuple[str, ...]", {kind.option: _receivers(kind) for kind in KINDS})
    notify_events: tuple[str, ...] = by_hand(
        DEFAULT_EVENTS,
        "The events they are notified of: `crawl.started`, `crawl.paused`, `crawl.finished`, `crawl.failed`, "
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
        entry.check(getattr(options, field))
    for parameter in options.drop_parameters:
        query_params.check_parameter("drop_parameters", parameter)
    check_rules("fields", options.fields)
    uses_cache = options.revisit or options.response_ttl is not None
    check_keep("keep", options.keep, renders=options.render != NEVER)
    for field in ("screenshot", "screenshot_format"):
        if getattr(options, field) != getattr(DEFAULTS, field) and SCREENSHOT not in options.keep:
            raise BadInput(
                field,
                f"{OPTIONS[field].label} says something about screenshots, and this crawl keeps none: choose "
                f"{_KEPT_PICTURE} with it, or leave it out.",
            )
    if options.render != NEVER and uses_cache:
        raise BadInput(
            "render",
            "What a browser shows may change while the page's own HTML does not, so pages are not rendered together "
            "with the options to ask only for what changed or to reuse responses. Leave out these, or do not render.",
        )
    if options.engine == SCRAPY and options.render != NEVER:
        raise BadInput(
            "engine",
            "Scrapy runs no scripts of pages, so they are not rendered in a browser with it. Leave out the option to "
            "render (“Render in a browser” on the form), or choose the engine “Built in”.",
        )
    if options.engine == SCRAPY and options.login_url:
        raise BadInput(
            "engine",
            "Pages that run through Scrapy are not logged in. Leave out the log-in, or choose the engine “Built in”.",
        )
    if options.spider and uses_cache:
        raise BadInput(
            "spider",
            "A spider sees the responses that arrive, so it is not used together with the options to ask only for what "
            "changed or to reuse responses. Leave out these, or the spider.",
        )
    if options.login_url and uses_cache:
        raise BadInput(
            "login_url",
            "What is behind a log-in is not shared with other crawls, so a crawl that logs in cannot ask only for what "
            "changed or reuse responses. Leave out these options, or the log-in.",
        )
    if options.login_url and options.render != NEVER and WARC in options.keep:
        raise BadInput(
            "login_url",
            "A WARC of what a browser loads would hold the cookies of the session. Leave out the log-in, or do not "
            "render, or do not keep a WARC.",
        )
    if options.render_timeout is not None and options.render_timeout > MAX_RENDER_SECONDS:
        most, given = f"{MAX_RENDER_SECONDS:g} seconds", f"{options.render_timeout:g} s"
        raise BadInput("render_timeout", f"Time in the browser must be at most {most}, not {given}.")
    chosen_events("notify_events", options.notify_events)
    if Event.PAGE in options.notify_events and not any(getattr(options, name) for name in PAGE_RECEIVERS):
        raise BadInput("notify_events", "Only webhooks get page notices; add one, or leave out the event `page`.")
    return options


RECEIVERS = {kind.name: kind.option for kind in KINDS}
"""The option that holds the addresses of each kind of channel."""

MAY_BE_SECRET = tuple(kind.option for kind in KINDS if kind.is_web)
"""Those whose addresses are stored encrypted."""

PAGE_RECEIVERS = tuple(kind.option for kind in KINDS if kind.takes_pages)
"""Those whose receivers can get page notices."""

CHANGEABLE = (
    *("max_pages", "deadline", "stay_open", "include", "exclude", "priorities", "login_check", "delay"),
    *("per_minute", "concurrency"),
    *RECEIVERS.values(),
    "notify_events",
)
"""The options that a user may change while a crawl runs."""
