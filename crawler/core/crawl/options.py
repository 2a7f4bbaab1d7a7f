"""The options of one crawl: their defaults, their limits, and the one place that judges what a person typed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, assert_never
from urllib.parse import urlsplit

import msgspec

from crawler.core.crawl.notices import SECRET, USUAL, Event, Means, check_address, chosen_events, is_sealed
from crawler.core.errors import BadInput
from crawler.core.extraction.rules import FieldRule, check_rules
from crawler.core.text.patterns import check_patterns
from crawler.core.urls import query_params
from crawler.core.urls.normalise import from_person, host_of, normalise, origin_of

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


# Hosts and beginnings of paths, as people type them to say what belongs to their site.

BELOW = "*."  # before a host: those below it, and not the host itself


def check_host(field: str, typed: str) -> None:
    """BadInput when this is not "host", "host:port" or "*.host"."""
    name = typed.strip().removeprefix(BELOW)
    if re.search(r"[\s/?#@*\\]", name) or normalise(f"http://{name}/") is None:
        raise BadInput(
            field,
            f"{typed!r} is not a host; write a name such as shop.example.com, with :port if it has one of its own, "
            "or *.example.com for those below it.",
        )


def check_prefix(field: str, typed: str) -> None:
    """BadInput when no path can begin like this."""
    if not typed.strip().startswith("/") or re.search(r"[?#]", typed):
        raise BadInput(field, f"{typed!r} is not the beginning of a path; write one such as /docs/.")


def host_typed(typed: str) -> str:
    """The one spelling of what has passed `check_host`, as `host_of` gives it; behind "*." when that was typed."""
    star = BELOW if typed.strip().startswith(BELOW) else ""
    url = normalise(f"http://{typed.strip().removeprefix(BELOW)}/")
    return star + (host_of(url).removesuffix(":443") if url else typed.strip())


def prefix_typed(typed: str) -> str:
    """The one spelling of what has passed `check_prefix`, as paths are written in normalised URLs."""
    url = normalise(f"http://host{typed.strip()}")
    return url.removeprefix("http://host") if url else typed.strip()


MAX_CONCURRENCY = 64
MAX_DELAY = 3600.0
MAX_DAYS = 366  # that a deadline may lie ahead
MAX_PER_MINUTE = 60_000.0
EXTERNALS = ("ignore", "record", "check")


class CrawlOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the user chose for one crawl. Stored as JSON on the crawl row."""

    max_pages: int | None = None  # pages asked for, at most; None = no limit
    max_depth: int | None = None  # links from a start URL, at most; None = no limit
    max_bytes: int | None = None  # body bytes read, after which nothing more is asked for; None = no limit
    include: tuple[str, ...] = ()  # a page is taken only if one of these is found in its URL
    exclude: tuple[str, ...] = ()  # a page is not taken if one of these is found in its URL
    subdomains: bool = False  # hosts below the start hosts belong to the site
    hosts: tuple[str, ...] = ()  # further hosts of the site: "host", "host:port", or "*.host" for those below it
    path_prefixes: tuple[str, ...] = ()  # a page is taken only if its path begins with one of these
    recursive: bool = True  # False: what was given is asked for, and nothing it leads to
    externals: str = "record"  # links that leave the site: "ignore" them, "record" them, "check" each once
    traps: bool = True  # quarantine pages of endless series
    drop_parameters: tuple[str, ...] = query_params.USUAL  # query parameters without a meaning for the page; "utm_*"
    sitemaps: bool = False  # take pages from the sitemaps robots.txt names, and from /sitemap.xml
    sitemap_urls: tuple[str, ...] = ()  # further sitemaps
    delay: float = 0.0  # seconds between two requests to one host, at least
    per_minute: float | None = None  # requests a minute to one host, at most; None = no limit
    concurrency: int = 4  # connections to one host at a time, over all workers
    throttle: bool = True  # ask a host less often while it is slow or in trouble
    obey_robots: bool = True
    obey_nofollow: bool = False  # leave out links of nofollow pages, and those with rel nofollow, ugc or sponsored
    obey_noindex: bool = False  # leave noindex pages out of exports
    revisit: bool = False  # ask with ETag and Last-Modified for what changed since last time, and remember for the next
    response_ttl: float | None = None  # seconds an answer is good for, whichever crawl it was for; None = ask always
    near_duplicates: bool = False  # compare what pages say, so that those which say nearly the same are found
    deadline: float | None = None  # seconds the crawl may take; what is open then closes as expired; None = no end
    page_ttl: float | None = None  # seconds a page may stay open before it closes as expired; None = no end
    fields: tuple[FieldRule, ...] = ()  # what is read from each page
    keep: tuple[str, ...] = ()  # forms in which the pages' content is kept, of `core.crawl.options`
    private_hosts: tuple[str, ...] = ()  # host, host:port or CIDR; "*" = every address that is not public
    notify_emails: tuple[str, ...] = ()
    notify_webhooks: tuple[str, ...] = ()  # on a crawl's row they are encrypted
    notify_slack: tuple[str, ...] = ()  # addresses of incoming webhooks; encrypted, too
    notify_discord: tuple[str, ...] = ()  # the same
    notify_events: tuple[str, ...] = (
        USUAL  # what all these are told of, see `core.crawl.notices`; of pages webhooks alone
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


def check_options(options: CrawlOptions) -> CrawlOptions:
    """The same options, or BadInput naming the first field that cannot be used."""
    _check_reach(options)
    _check_manners(options)
    _check_span("deadline", "The time for the crawl", options.deadline)
    _check_span("page_ttl", "The time for a page", options.page_ttl)
    _check_span("response_ttl", "The time an answer is good for", options.response_ttl)
    for field, patterns in (("include", options.include), ("exclude", options.exclude)):
        check_patterns(field, patterns)
    check_rules("fields", options.fields)
    check_keep("keep", options.keep, uses_memory=options.revisit or options.response_ttl is not None)
    for url in options.sitemap_urls:
        _check_sitemap(url)
    _check_notices(options)
    return options


RECEIVERS = {
    Means.EMAIL: "notify_emails",
    Means.WEBHOOK: "notify_webhooks",
    Means.SLACK: "notify_slack",
    Means.DISCORD: "notify_discord",
}
"""The field that holds the addresses of each transport."""

SECRET_RECEIVERS = tuple(field for means, field in RECEIVERS.items() if means in SECRET)
"""Those whose addresses are shown to nobody."""

MAY_BE_SECRET = tuple(field for means, field in RECEIVERS.items() if is_sealed(means))
"""Those whose addresses are stored encrypted."""


def _check_notices(options: CrawlOptions) -> None:
    for means, field in RECEIVERS.items():
        for address in getattr(options, field):
            check_address(field, means, address)
    chosen_events("notify_events", options.notify_events)
    if Event.PAGE in options.notify_events and not options.notify_webhooks:
        raise BadInput("notify_events", "Only webhooks are told of pages; give one, or do not ask for pages.")


def _check_reach(options: CrawlOptions) -> None:
    if options.max_pages is not None and options.max_pages < 1:
        raise BadInput("max_pages", f"The page limit must be 1 or more, not {options.max_pages}.")
    if options.max_depth is not None and options.max_depth < 1:
        raise BadInput(
            "max_depth",
            f"The depth limit must be 1 or more, not {options.max_depth}; "
            "for the start URL alone, set the page limit to 1.",
        )
    if options.max_bytes is not None and options.max_bytes < 1:
        raise BadInput("max_bytes", f"The limit on bytes must be 1 or more, not {options.max_bytes}.")
    if options.externals not in EXTERNALS:
        raise BadInput("externals", f"External links can be {', '.join(EXTERNALS)}; not {options.externals!r}.")
    for host in options.hosts:
        check_host("hosts", host)
    for prefix in options.path_prefixes:
        check_prefix("path_prefixes", prefix)
    for entry in options.drop_parameters:
        query_params.check_parameter("drop_parameters", entry)


def _check_manners(options: CrawlOptions) -> None:
    if options.per_minute is not None and not 0 < options.per_minute <= MAX_PER_MINUTE:
        raise BadInput(
            "per_minute",
            f"Requests a minute must be more than 0 and at most {MAX_PER_MINUTE:,.0f}, not {options.per_minute:g}.",
        )
    if not 0 <= options.delay <= MAX_DELAY:
        raise BadInput("delay", f"The delay must be between 0 and {MAX_DELAY:.0f} seconds, not {options.delay:g}.")
    if not 1 <= options.concurrency <= MAX_CONCURRENCY:
        raise BadInput(
            "concurrency", f"Connections per host must be between 1 and {MAX_CONCURRENCY}, not {options.concurrency}."
        )


def _check_span(field: str, name: str, seconds: float | None) -> None:
    if seconds is not None and not 0 < seconds <= MAX_DAYS * 86400:
        raise BadInput(field, f"{name} must be more than 0 seconds and at most {MAX_DAYS} days, not {seconds:,.10g} s.")


def _check_sitemap(typed: str) -> None:
    try:
        url = from_person(typed)
    except BadInput as error:
        raise BadInput("sitemap_urls", f"This is no sitemap: {error.message}") from None
    if url == f"{origin_of(url)}/":  # "map.xml" alone is read as the name of a host
        raise BadInput(
            "sitemap_urls", f"{typed!r} names a site and no sitemap; give one such as https://example.com/sitemap.xml."
        )


# The usual ways to begin a crawl, and the options each of them stands for.

NO_SECTION = (
    "{} is the whole site and no section of it. Give an address in a folder, such as https://example.com/docs/, or "
    "choose Whole site."
)


class Preset(StrEnum):
    """What a person wants crawled."""

    SITE = "site"  # what the links of the start URL lead to
    SECTION = "section"  # of that, what lies in the start URL's folder
    LIST = "list"  # the URLs that are given, and nothing they lead to
    SITEMAP = "sitemap"  # what the site's sitemaps name, and nothing it leads to


def applied(preset: Preset, options: CrawlOptions, start_urls: Sequence[str]) -> CrawlOptions:
    """The options with what the preset stands for; more that was chosen stays. The URLs are normalised.

    BadInput when a start URL lies in no section.
    """
    match preset:
        case Preset.SITE:
            return options
        case Preset.SECTION:
            return msgspec.structs.replace(options, path_prefixes=(*options.path_prefixes, *sections(start_urls)))
        case Preset.LIST:
            return msgspec.structs.replace(options, recursive=False)
        case Preset.SITEMAP:
            return msgspec.structs.replace(options, recursive=False, sitemaps=True)
    assert_never(preset)


def found_in(options: CrawlOptions, start_urls: Sequence[str], *, listed: bool) -> tuple[Preset, CrawlOptions]:
    """The preset these options can be chosen by, and those that have to be chosen beside it: `applied` backwards."""
    if listed:
        return Preset.LIST, msgspec.structs.replace(options, recursive=True)
    if not options.recursive:
        preset = Preset.SITEMAP if options.sitemaps else Preset.LIST
        return preset, msgspec.structs.replace(options, recursive=True, sitemaps=False)
    if options.path_prefixes and options.path_prefixes == _sections(start_urls):
        return Preset.SECTION, msgspec.structs.replace(options, path_prefixes=())
    return Preset.SITE, options


def sections(start_urls: Sequence[str]) -> tuple[str, ...]:
    """The folders these URLs lie in, each once; BadInput when one of them is that of the whole site."""
    for url in start_urls:
        if _section(url) == "/":
            raise BadInput("start_urls", NO_SECTION.format(url))
    return _sections(start_urls)


def _sections(start_urls: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(_section, start_urls)))


def _section(url: str) -> str:
    """ "/docs/" for /docs/, /docs/intro.html, /docs/intro, and for /docs, which is a folder and no page of the root."""
    path = urlsplit(url).path or "/"
    folder, _, last = path.rpartition("/")
    if not folder and last and "." not in last:
        return f"/{last}/"
    return f"{folder}/"
