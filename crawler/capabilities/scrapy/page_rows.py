"""Stores what a user's spider said about pages it yielded requests for."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from crawler.core.protocol.discovery import Discovery
from crawler.core.protocol.messages import PageResult
from crawler.models import Page, SpiderRequest
from crawler.storage.bulk import Statement, is_among
from crawler.storage.page_rows import PageRows
from crawler.storage.sql import storable, stored_id

_STORE = Statement(
    """
    INSERT INTO crawler_spiderrequest (crawl_id, key, request) SELECT {crawl}, {key}, {request} {rows}
    WHERE NOT EXISTS (
        SELECT 1 FROM crawler_page WHERE crawler_page.crawl_id = {crawl} AND crawler_page.key = {key}
    )
    ON CONFLICT DO NOTHING
    """,
    {"crawl": "uuid", "key": "bytea", "request": "text"},
)


def _store(crawl: UUID, closings: Sequence[PageResult], found: Sequence[Discovery]) -> None:
    """Of pages that are inserted afterwards: one that has a row was found in another way first."""
    crawl_id = stored_id(crawl)
    _STORE.run(
        [{"crawl": crawl_id, "key": page.key, "request": storable(page.request)} for page in found if page.request]
    )


def _delete(crawl: UUID, page_ids: Sequence[int]) -> None:
    keys = Page.objects.filter(is_among("id", page_ids)).values("key")
    stored = SpiderRequest.objects.filter(crawl_id=crawl)
    stored.filter(key__in=keys)._raw_delete(SpiderRequest.objects.db)


PAGE_ROWS = (PageRows(_store, _delete),)
