"""Firecrawl's requests and responses as far as this project supports them, and their mapping to crawls and options."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, Literal
from urllib.parse import urlsplit

from ninja import Schema
from pydantic import ConfigDict, Field

from crawler.core.protocol.completion import State
from crawler.core.urls.normalise import host_of, parse_user_url, site_of

# The mapping of Firecrawl's options to ours, and of our states to Firecrawl's.
#
# Field names and their meaning are those of Firecrawl's documentation of `POST /v1/crawl` and `/v2/crawl`; docs/api.md
# lists what differs.

LIMIT = 10_000  # default page limit
ANYWHERE = "[^?#]*"  # some of a path
BEHIND = r"(?:[?#].*)?$"  # all that can stand behind a path
_PARTS = re.compile(r"\\.|.", re.DOTALL)  # a character, with the backslash before it


def options_of(asked: CrawlRequest) -> dict[str, Any]:
    """The same as names and values of `CrawlOptions`. BadInput when the URL is none."""
    site = site_of(host_of(parse_user_url(asked.url)))
    options: dict[str, Any] = {
        "max_pages": asked.limit,
        "max_depth": asked.maxDiscoveryDepth or asked.maxDepth,  # links in a row; their maxDepth counts parts of a path
        "include": _patterns(asked.includePaths, asked, site),
        "exclude": _patterns(asked.excludePaths, asked, site),
        "subdomains": asked.allowSubdomains,
        "sitemaps": not asked.ignoreSitemap and asked.sitemap != "skip",
        "path_prefixes": () if asked.crawlEntireDomain or asked.allowBackwardLinks else _below(asked.url),
        "externals": "ignore",
        "delay": asked.delay,
    }
    if asked.ignoreQueryParameters:
        options["drop_parameters"] = ("*",)
    if asked.maxConcurrency is not None:
        options["concurrency"] = asked.maxConcurrency
    return options


def _patterns(patterns: list[str], asked: CrawlRequest, site: str) -> tuple[str, ...]:
    return tuple(patterns if asked.regexOnFullURL else (of_path(pattern, site) for pattern in patterns))


def of_path(pattern: str, site: str) -> str:
    """A pattern that is looked for in a URL's path, as one that is looked for in the whole URL.

    1. The URL begins with the site, or a host below it: so nothing is found in the name of a host.
    2. An alternative that begins with "^" begins where the path does; any other may stand anywhere in it.
    3. One that ends with "$" ends where the path does.
    """
    alternatives = "|".join(_in_path(alternative) for alternative in _alternatives(pattern))
    return rf"^https?://(?:[^/?#]+\.)?{re.escape(site)}(?:{alternatives})"


def _in_path(alternative: str) -> str:
    begin = "" if alternative.startswith("^") else ANYWHERE
    inner = alternative.removeprefix("^")
    if inner.endswith("$") and not inner.endswith(r"\$"):
        return f"{begin}{inner.removesuffix('$')}{BEHIND}"
    return begin + inner


def _alternatives(pattern: str) -> list[str]:
    """What stands between the bars of a pattern that are in no group."""
    found: list[list[str]] = [[]]
    depth, bracket = 0, False
    for part in _PARTS.findall(pattern):
        bracket = part == "[" or (bracket and part != "]")
        depth += 0 if bracket else {"(": 1, ")": -1}.get(part, 0)
        if part == "|" and depth == 0 and not bracket:
            found.append([])
        else:
            found[-1].append(part)
    return ["".join(parts) for parts in found]


def status_of(state: State) -> str:
    """Firecrawl knows three of our states apart: "scraping", "completed", "cancelled"."""
    match state:
        case State.FINISHED:
            return "completed"
        case State.CANCELLED:
            return "cancelled"
        case _:
            return "scraping"


def _below(url: str) -> tuple[str, ...]:
    """The path that children of this URL begin with; nothing for a whole host."""
    path = urlsplit(parse_user_url(url)).path
    folder = path[: path.rfind("/") + 1]
    return (folder,) if folder not in {"", "/"} else ()


LARGEST = 2**31
NEVER = datetime(9999, 12, 31, tzinfo=UTC)


class Firecrawls(Schema):
    """What is not known is passed over, as Firecrawl's own clients send more than is documented."""

    model_config = ConfigDict(extra="ignore")


class ScrapeOptions(Firecrawls):
    formats: list[str | dict[str, Any]] = Field([], description="Only `links` is available.")


class CrawlRequest(Firecrawls):
    """A crawl to be started."""

    url: str = Field(description="The start URL.")
    limit: int = Field(LIMIT, ge=1, le=LARGEST, description="The maximum number of pages to request.")
    maxDepth: int | None = Field(None, ge=1, le=LARGEST, description="The maximum depth.")  # noqa: N815
    maxDiscoveryDepth: int | None = Field(  # noqa: N815
        None, ge=1, le=LARGEST, description="The same as `maxDepth`, and preferred to it."
    )
    includePaths: list[str] = Field(  # noqa: N815
        [], description="Include only pages whose path matches one of these regular expressions (RE2)."
    )
    excludePaths: list[str] = Field(  # noqa: N815
        [], description="Exclude pages whose path matches one of these regular expressions (RE2)."
    )
    regexOnFullURL: bool = Field(False, description="Match both against the whole URL.")  # noqa: N815
    crawlEntireDomain: bool = Field(  # noqa: N815
        False, description="Crawl the whole host, not only the path of `url`."
    )
    allowBackwardLinks: bool = Field(False, description="The old name of `crawlEntireDomain`.")  # noqa: N815
    allowSubdomains: bool = Field(False, description="Include subdomains.")  # noqa: N815
    allowExternalLinks: bool = Field(False, description="Must be false: other sites are not crawled.")  # noqa: N815
    ignoreSitemap: bool = Field(False, description="Read no sitemaps; the same as `sitemap: skip`.")  # noqa: N815
    sitemap: Literal["include", "skip", "only"] = Field(
        "include", description="Whether to take pages from sitemaps; `only` is refused."
    )
    ignoreQueryParameters: bool = Field(  # noqa: N815
        False, description="Treat URLs that differ only in the query as one page."
    )
    delay: float = Field(0, ge=0, le=3600, description="Minimum seconds between requests to a host.")
    maxConcurrency: int | None = Field(  # noqa: N815
        None, ge=1, le=64, description="Maximum connections to a host, over all workers."
    )
    webhook: str | dict[str, Any] | None = Field(
        None, description="The address to call when the crawl is over, or an object with it as `url`."
    )
    # No default in the document: client generators leave out an operation whose body has an object as a default.
    scrapeOptions: ScrapeOptions = Field(  # noqa: N815
        default_factory=lambda: ScrapeOptions(formats=[]), description="The formats of each page."
    )


class CrawlStarted(Schema):
    success: bool
    id: str
    url: str
    warning: str | None = None


class Document(Schema):
    """A page that was fetched."""

    metadata: dict[str, Any]
    links: list[str] | None = None


class CrawlStatus(Schema):
    success: bool
    status: Literal["scraping", "completed", "cancelled"]
    total: int
    completed: int
    creditsUsed: int = Field(0, description="Always 0: crawls are free.")  # noqa: N815
    expiresAt: datetime = Field(NEVER, description="A date that clients expect; crawls do not expire.")  # noqa: N815
    next: str | None
    data: list[Document]


class Cancellation(Schema):
    success: bool
    status: Literal["cancelled"]


class CrawlErrors(Schema):
    errors: list[dict[str, Any]]
    robotsBlocked: list[str]  # noqa: N815


class ActiveCrawls(Schema):
    success: bool
    crawls: list[dict[str, Any]]


class MapRequest(Firecrawls):
    """A site whose pages are to be listed."""

    url: str = Field(description="Any URL of the site.")
    search: str = Field("", max_length=500, description="Only pages with this text in their URL.")
    limit: int = Field(5000, ge=1, le=100_000, description="The maximum number of pages to list.")
    includeSubdomains: bool = Field(True, description="Whether to include subdomains.")  # noqa: N815


class MapAnswer(Schema):
    success: bool
    links: list[str]


STATUS_EXAMPLE: dict[str, Any] = {
    "success": True,
    "status": "completed",
    "total": 36,
    "completed": 36,
    "creditsUsed": 0,
    "expiresAt": "9999-12-31T00:00:00Z",
    "next": None,
    "data": [
        {
            "metadata": {
                "title": "Documentation",
                "description": "How to use it.",
                "url": "https://example.com/docs/",
                "sourceURL": "https://example.com/docs/",
                "statusCode": 200,
                "contentType": "text/html",
            },
            "links": None,
        }
    ],
}
