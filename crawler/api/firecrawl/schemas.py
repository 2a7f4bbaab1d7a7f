"""What Firecrawl's API takes and gives, as far as it can be had here. Names are Firecrawl's."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from ninja import Schema
from pydantic import ConfigDict, Field

from crawler.api.firecrawl.mapping import LIMIT, Asked

LARGEST = 2**31
NEVER = datetime(9999, 12, 31, tzinfo=UTC)


class Firecrawls(Schema):
    """What is not known is passed over, as Firecrawl's own clients send more than is documented."""

    model_config = ConfigDict(extra="ignore")


class ScrapeOptions(Firecrawls):
    formats: list[str | dict[str, Any]] = Field([], description="Only `links` can be had.")


class CrawlRequest(Firecrawls):
    """A crawl to be started."""

    url: str = Field(description="The start URL.")
    limit: int = Field(LIMIT, ge=1, le=LARGEST, description="The most pages to request.")
    maxDepth: int | None = Field(None, ge=1, le=LARGEST, description="Links in a row.")  # noqa: N815
    maxDiscoveryDepth: int | None = Field(  # noqa: N815
        None, ge=1, le=LARGEST, description="The same as `maxDepth`, and preferred to it."
    )
    includePaths: list[str] = Field(  # noqa: N815
        [], description="Take only pages whose path matches one of these regular expressions (RE2)."
    )
    excludePaths: list[str] = Field(  # noqa: N815
        [], description="Leave out pages whose path matches one of these regular expressions (RE2)."
    )
    regexOnFullURL: bool = Field(False, description="Match both against the whole URL.")  # noqa: N815
    crawlEntireDomain: bool = Field(  # noqa: N815
        False, description="Take all pages of the host, also those outside the path of `url`."
    )
    allowBackwardLinks: bool = Field(False, description="The older name of `crawlEntireDomain`.")  # noqa: N815
    allowSubdomains: bool = Field(False, description="Take pages of subdomains, too.")  # noqa: N815
    allowExternalLinks: bool = Field(False, description="Refused when true: other sites are not crawled.")  # noqa: N815
    ignoreSitemap: bool = Field(False, description="Read no sitemaps; the same as `sitemap: skip`.")  # noqa: N815
    sitemap: Literal["include", "skip", "only"] = Field(
        "include", description="Whether to take pages from sitemaps; `only` is refused."
    )
    ignoreQueryParameters: bool = Field(  # noqa: N815
        False, description="Take URLs that differ in the query alone for one page."
    )
    delay: float = Field(0, ge=0, le=3600, description="Seconds between two requests to one host, at least.")
    maxConcurrency: int | None = Field(  # noqa: N815
        None, ge=1, le=64, description="Connections to one host at a time, over all workers."
    )
    webhook: str | dict[str, Any] | None = Field(
        None, description="The address to call when the crawl is over, or an object with it as `url`."
    )
    # No default in the document: client generators leave out an operation whose body has an object as a default.
    scrapeOptions: ScrapeOptions = Field(  # noqa: N815
        default_factory=lambda: ScrapeOptions(formats=[]), description="What each page comes with."
    )

    def asked(self) -> Asked:
        return Asked(
            url=self.url,
            limit=self.limit,
            max_depth=self.maxDiscoveryDepth or self.maxDepth,
            include_paths=tuple(self.includePaths),
            exclude_paths=tuple(self.excludePaths),
            on_full_url=self.regexOnFullURL,
            entire_domain=self.crawlEntireDomain or self.allowBackwardLinks,
            subdomains=self.allowSubdomains,
            skip_sitemap=self.ignoreSitemap or self.sitemap == "skip",
            ignore_query=self.ignoreQueryParameters,
            delay=self.delay,
            concurrency=self.maxConcurrency,
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
    creditsUsed: int = Field(0, description="Nothing costs anything here.")  # noqa: N815
    expiresAt: datetime = Field(NEVER, description="Never, by itself: their clients want a date.")  # noqa: N815
    next: str | None
    data: list[Document]


class Cancelled(Schema):
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
    limit: int = Field(5000, ge=1, le=100_000, description="The most pages to list.")
    includeSubdomains: bool = Field(True, description="Pages of subdomains, too.")  # noqa: N815


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
