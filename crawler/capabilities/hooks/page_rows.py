"""Counts the calls with pages that are closed."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from crawler.capabilities.hooks import counts
from crawler.core.protocol.discovery import Discovery
from crawler.core.protocol.messages import PageResult
from crawler.storage.page_rows import PageRows


def _store(crawl: UUID, closings: Sequence[PageResult], found: Sequence[Discovery]) -> None:
    counts.store(crawl, closings)


PAGE_ROWS = (PageRows(_store),)
