"""What one line of an export holds, whatever the format: the pages of a crawl as plain dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Unpack

from crawler.exports.columns import NOTES, OF_FACTS, OF_PAGES, USUAL, column_name, fields_of
from crawler.exports.selection import Chosen, selected
from crawler.models import Crawl, Page, PageFacts

CHUNK = 1000  # pages in memory at a time; also the most parameters one look for parents or facts needs

KEYS = tuple(column.name for column in USUAL)
"""The keys of every row, in the order of a table's columns; those of extracted fields come behind them."""

_PAGE_KEYS = tuple(column.name for column in OF_PAGES)
_PAGE_FIELDS = ("id", *("parent_id" if key == "parent" else key for key in _PAGE_KEYS))
_FACT_FIELDS = tuple(column.name for column in OF_FACTS)
_NO_FACTS: Mapping[str, Any] = {**dict.fromkeys(_FACT_FIELDS), "fields": {}, "notes": {}}


def rows(crawl: Crawl, **chosen: Unpack[Chosen]) -> Iterator[dict[str, Any]]:
    """One row a page (see `selection`), in the order the pages were discovered; memory stays bounded however many there
    are.

    One query streams the pages; for each CHUNK of them one finds the parents' URLs and one the facts. `parent`,
    `outcome`, `http_status`, `redirect_to`, `fetched_at` and `canonical` are None where there is none, and so is all
    that only an answer tells; `fetched_at` is ISO 8601 in UTC. A field has the value that its rule made: text, a
    number, a truth value, a list, or None; behind the fields NOTES is an object, or None where nothing is missing.
    """
    names = {field: column_name(field) for field in fields_of(crawl)}
    pages = selected(crawl, **chosen).values(*_PAGE_FIELDS).iterator(chunk_size=CHUNK)
    while chunk := list(islice(pages, CHUNK)):
        parents, facts = _urls(page["parent_id"] for page in chunk), _facts(page["id"] for page in chunk)
        yield from (_row(page, parents, facts.get(page["id"], _NO_FACTS), names) for page in chunk)


def page_rows(crawl: Crawl, page_ids: Sequence[int]) -> list[dict[str, Any]]:
    """The rows of some closed pages, in the order given, whatever they ask of robots."""
    names = {field: column_name(field) for field in fields_of(crawl)}
    found = Page.objects.filter(crawl=crawl, id__in=page_ids, status=Page.CLOSED)
    pages = {page["id"]: page for page in found.values(*_PAGE_FIELDS)}
    parents, facts = _urls(page["parent_id"] for page in pages.values()), _facts(pages)
    return [_row(pages[id], parents, facts.get(id, _NO_FACTS), names) for id in page_ids if id in pages]


def _urls(page_ids: Iterable[int | None]) -> dict[int, str]:
    wanted = {page_id for page_id in page_ids if page_id is not None}
    return dict(Page.objects.filter(id__in=wanted).values_list("id", "url"))


def _facts(page_ids: Iterable[int]) -> dict[int, Mapping[str, Any]]:
    found = PageFacts.objects.filter(page_id__in=list(page_ids)).values("page_id", "fields", "notes", *_FACT_FIELDS)
    return {facts["page_id"]: facts for facts in found}


def _row(
    page: dict[str, Any], parents: dict[int, str], facts: Mapping[str, Any], names: dict[str, str]
) -> dict[str, Any]:
    row = dict(zip(("id", *_PAGE_KEYS), page.values(), strict=True))
    del row["id"]
    row["parent"] = parents.get(page["parent_id"])
    row["outcome"] = page["outcome"] or None
    row["redirect_to"] = page["redirect_to"] or None
    row["fetched_at"] = page["fetched_at"].isoformat(timespec="milliseconds") if page["fetched_at"] else None
    row.update((name, facts[name]) for name in _FACT_FIELDS)
    row["canonical"] = facts["canonical"] or None
    row.update((name, facts["fields"].get(field)) for field, name in names.items())
    if names:
        row[NOTES] = facts["notes"] or None
    return row
