"""Replaces the extracted fields of pages that are closed, in a transaction that begins by locking the crawl's row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from crawler.core.pages.content_formats import HTML
from crawler.core.pages.hook_calls import HookCall
from crawler.models import Crawl, PageFacts
from crawler.storage import hook_calls
from crawler.storage.bulk import Statement
from crawler.storage.sql import as_json

_REPLACE = Statement(
    """
    UPDATE crawler_pagefacts SET fields = {fields}, notes = {notes} {rows}
    WHERE crawler_pagefacts.page_id = {page}
    """,
    {"page": "bigint", "fields": "jsonb", "notes": "jsonb"},
)


@dataclass(frozen=True)
class ExtractedFields:
    """What was extracted from the kept HTML of one page."""

    page: int
    place: list[Any]  # of the HTML, as the page's row named it
    fields: Mapping[str, Any]
    notes: Mapping[str, str]
    calls: tuple[HookCall, ...] = ()


def lock(crawl: UUID) -> None:
    """Lock the crawl's row until the transaction ends."""
    Crawl.objects.select_for_update().filter(id=crawl).first()


def replace(crawl: UUID, readings: Sequence[ExtractedFields]) -> None:
    """Replace the fields of these pages, within the caller's transaction, which has locked the crawl's row. A page that
    was fetched again since its HTML was read keeps the fields it has."""
    known = dict(PageFacts.objects.filter(page_id__in=[one.page for one in readings]).values_list("page_id", "kept"))
    current = [one for one in readings if known.get(one.page, {}).get(HTML) == one.place]
    _REPLACE.run([{"page": one.page, "fields": as_json(one.fields), "notes": as_json(one.notes)} for one in current])
    hook_calls.store(crawl, (call for one in current for call in one.calls), hook_calls.ON_KEPT_PAGE)
