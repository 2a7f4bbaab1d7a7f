"""Stores how pages loaded in a browser, for transactions of the writer."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

import msgspec

from crawler.core.pages.page_load import PageLoad
from crawler.core.protocol.messages import PageResult
from crawler.storage.bulk import Row, Statement
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


def store(crawl: UUID, results: Iterable[PageResult]) -> None:
    """Store the loads of those pages that a browser rendered, in place of earlier ones; without any, no statement."""
    crawl_id = stored_id(crawl)
    _STORE.run([_row(result.id, crawl_id, result.load) for result in results if result.load is not None])


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
