"""What Firecrawl's API takes and gives, as far as it can be had here. Names are Firecrawl's."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from ninja import Schema
from pydantic import ConfigDict, Field

from crawler.core.firecrawl import LIMIT, Asked

LARGEST = 2**31
NEVER = datetime(9999, 12, 31, tzinfo=UTC)


class Firecrawls(Schema):
    """What is not known is passed over, as Firecrawl's own clients send more than is documented."""

    model_config = ConfigDict(extra="ignore")


class ScrapeOptions(Firecrawls):
    formats: list[str | dict[str, Any]] = Field([], description="Only `links` can be had.")


class CrawlRequest(Firecrawls):
    """A crawl to be started."""

    url: str
    limit: int = Field(LIMIT, ge=1, le=LARGEST)
    maxDepth: int | None = Field(None, ge=1, le=LARGEST, description="Links in a row.")  # noqa: N815
    maxDiscoveryDepth: int | None = Field(None, ge=1, le=LARGEST)  # noqa: N815
    includePaths: list[str] = []  # noqa: N815
    excludePaths: list[str] = []  # noqa: N815
    regexOnFullURL: bool = False  # noqa: N815
    crawlEntireDomain: bool = False  # noqa: N815
    allowBackwardLinks: bool = False  # noqa: N815
    allowSubdomains: bool = False  # noqa: N815
    allowExternalLinks: bool = False  # noqa: N815
    ignoreSitemap: bool = False  # noqa: N815
    sitemap: Literal["include", "skip", "only"] = "include"
    ignoreQueryParameters: bool = False  # noqa: N815
    delay: float = Field(0, ge=0, le=3600)
    maxConcurrency: int | None = Field(None, ge=1, le=64)  # noqa: N815
    webhook: str | dict[str, Any] | None = None
    scrapeOptions: ScrapeOptions = ScrapeOptions(formats=[])  # noqa: N815

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

    url: str
    search: str = Field("", max_length=500)
    limit: int = Field(5000, ge=1, le=100_000)
    includeSubdomains: bool = True  # noqa: N815


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
