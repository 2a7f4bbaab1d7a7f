"""Stores what a user's spider said about pages it yielded requests for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from crawler.capabilities.scrapy.options import ScrapyOptions
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.protocol.discovery import Discovery
from crawler.core.protocol.messages import PAGE, PageResult
from crawler.core.urls.normalise import key_of
from crawler.models import Page, SpiderRequest
from crawler.storage.bulk import Statement, chunks, is_among
from crawler.storage.page_rows import PageRows
from crawler.storage.queries import OpenPage
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
    _STORE.run([{"crawl": crawl_id, "key": page.key, "request": storable(page.note)} for page in found if page.note])


def _delete(crawl: UUID, page_ids: Sequence[int]) -> None:
    keys = Page.objects.filter(is_among("id", page_ids)).values("key")
    stored = SpiderRequest.objects.filter(crawl_id=crawl)
    stored.filter(key__in=keys)._raw_delete(SpiderRequest.objects.db)


def _notes(crawl: UUID, options: CrawlOptions, pages: Iterable[OpenPage]) -> dict[str, str]:
    if not ScrapyOptions.of(options).spider:
        return {}
    urls = {key_of(page.url): page.url for page in pages if page.kind == PAGE}
    found = dict[str, str]()
    for keys in chunks(list(urls)):
        rows = SpiderRequest.objects.filter(crawl_id=crawl, key__in=keys)
        found |= {urls[bytes(key)]: request for key, request in rows.values_list("key", "request")}
    return found


PAGE_ROWS = (PageRows(_store, _delete, _notes),)
