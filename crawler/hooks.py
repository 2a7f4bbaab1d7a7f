"""What hooks import: `from crawler.hooks import SKIP, Found, PageSeen, Response` (docs/hooks.md)."""

from crawler.capabilities.hooks.types import (
    SKIP,
    CrawlFinished,
    Found,
    OnClosed,
    OnFinished,
    OnPage,
    PageClosed,
    PageSeen,
    Response,
)

__all__ = [
    "SKIP",
    "CrawlFinished",
    "Found",
    "OnClosed",
    "OnFinished",
    "OnPage",
    "PageClosed",
    "PageSeen",
    "Response",
]
