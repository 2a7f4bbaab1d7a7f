"""Stores how pages loaded in a browser, and which ones need it."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import msgspec

from crawler.capabilities.browser.page_load import PageLoad
from crawler.capabilities.browser.result_fields import LOAD, NEEDS_SCRIPTS
from crawler.core.protocol.discovery import Discovery
from crawler.core.protocol.messages import PageResult
from crawler.models import PageLoad as PageLoadRow
from crawler.models import ScriptPage
from crawler.storage.bulk import Row, Statement, is_among
from crawler.storage.page_rows import PageRows
from crawler.storage.sql import as_json, stored_id

_COLUMNS = {
    "lcp_ms": "integer",
    "cls": "double precision",
    "resource_bytes": "bigint",
    "resources": "integer",
    "failed_requests": "integer",
    "blocked_requests": "integer",
    "console_errors": "integer",
    "console": "jsonb",
    "requests": "jsonb",
}

_STORE = Statement(
    f"""
    INSERT INTO crawler_pageload (page_id, crawl_id, {", ".join(_COLUMNS)})
    SELECT {{page}}, {{crawl}}, {", ".join(f"{{{column}}}" for column in _COLUMNS)} {{rows}}
    WHERE true ON CONFLICT (page_id) DO UPDATE SET {", ".join(f"{column} = excluded.{column}" for column in _COLUMNS)}
    """,
    {"page": "bigint", "crawl": "uuid", **_COLUMNS},
)


def _store(crawl: UUID, closings: Sequence[PageResult], found: Sequence[Discovery]) -> None:
    """Store the loads of those pages that a browser rendered, in place of earlier ones; without any, no statement."""
    crawl_id = stored_id(crawl)
    _STORE.run([_row(result.id, crawl_id, load) for result in closings if (load := LOAD.of(result)) is not None])


def _delete(crawl: UUID, page_ids: Sequence[int]) -> None:
    PageLoadRow.objects.filter(is_among("page_id", page_ids))._raw_delete(PageLoadRow.objects.db)


def _row(page: int, crawl_id: object, load: PageLoad) -> Row:
    numbers = {column: getattr(load, column) for column, kind in _COLUMNS.items() if kind != "jsonb"}
    requests = msgspec.to_builtins(load.requests)
    return {
        "page": page,
        "crawl": crawl_id,
        **numbers,
        "console": as_json(load.console),
        "requests": as_json(requests),
    }


_STORE_NEED = Statement(
    """
    INSERT INTO crawler_scriptpage (page_id, crawl_id, reason) SELECT {page}, {crawl}, {reason} {rows}
    WHERE true ON CONFLICT (page_id) DO UPDATE SET reason = excluded.reason
    """,
    {"page": "bigint", "crawl": "uuid", "reason": "text"},
)


def _store_needs(crawl: UUID, closings: Sequence[PageResult], found: Sequence[Discovery]) -> None:
    crawl_id = stored_id(crawl)
    reasons = [(result.id, why) for result in closings if (why := NEEDS_SCRIPTS.of(result))]
    _STORE_NEED.run([{"page": page, "crawl": crawl_id, "reason": why} for page, why in reasons])


def _delete_needs(crawl: UUID, page_ids: Sequence[int]) -> None:
    ScriptPage.objects.filter(is_among("page_id", page_ids))._raw_delete(ScriptPage.objects.db)


PAGE_ROWS = (PageRows(_store, _delete, is_of_result=True), PageRows(_store_needs, _delete_needs, is_of_result=True))
