"""The fields that were extracted from pages: which a crawl has, and their replacement by other ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any
from uuid import UUID

import msgspec

from crawler.core.pages.code_calls import merged
from crawler.core.pages.content_formats import HTML
from crawler.core.protocol.messages import PageResult
from crawler.core.protocol.page_readers import page_readers
from crawler.models import Crawl, PageFacts
from crawler.storage.bulk import Statement
from crawler.storage.sql import as_json

_REPLACE = Statement(
    """
    UPDATE crawler_pagefacts SET fields = {fields}, notes = {notes} {rows}
    WHERE crawler_pagefacts.page_id = {page}
    """,
    {"page": "bigint", "fields": "jsonb", "notes": "jsonb"},
)


class ExtractedFields(msgspec.Struct, frozen=True):
    """What was extracted from the kept HTML of one page."""

    place: list[Any]  # of the HTML, as the page's row named it
    result: PageResult


def found_types(crawl: Crawl) -> dict[str, str]:
    """The fields that users' own code found in the crawl, with their types, in alphabetical order."""
    types: dict[str, str] = {}
    for fields in chain.from_iterable(reader.found(crawl.id) for reader in page_readers()):
        types = merged(types, fields)
    return dict(sorted(types.items()))


def names_of(crawl: Crawl) -> list[str]:
    """The names of the crawl's extraction rules, in their order, and of the fields that users' own code found."""
    rules = (str(rule["name"]) for rule in crawl.options.get("fields", ()))
    return list(dict.fromkeys([*rules, *found_types(crawl)]))


def lock(crawl: UUID) -> None:
    """Lock the crawl's row until the transaction ends."""
    Crawl.objects.select_for_update().filter(id=crawl).first()


def replace(crawl: UUID, readings: Sequence[ExtractedFields]) -> None:
    """Replace the fields of these pages, within the caller's transaction, which has locked the crawl's row. A page that
    was fetched again since its HTML was read keeps the fields it has."""
    ids = [one.result.id for one in readings]
    known = dict(PageFacts.objects.filter(page_id__in=ids).values_list("page_id", "kept"))
    current = [one.result for one in readings if known.get(one.result.id, {}).get(HTML) == one.place]
    _REPLACE.run(
        [
            {"page": result.id, "fields": as_json(result.facts.fields), "notes": as_json(result.facts.notes)}
            for result in current
        ]
    )
    for reader in page_readers():
        reader.store(crawl, current)
