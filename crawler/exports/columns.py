"""Which columns an export of pages has, and what kind of value stands in each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from crawler.models import Crawl


class Kind(StrEnum):
    """What the values of a column are, for formats that have types. Each may be missing."""

    TEXT = "text"
    NUMBER = "number"  # whole
    TRUTH = "truth"
    MOMENT = "moment"  # ISO 8601 in UTC
    ANY = "any"  # text, a number, a truth value or a list of them, by an extraction rule


@dataclass(frozen=True)
class Column:
    """One column of a table of pages."""

    name: str
    kind: Kind = Kind.TEXT


OF_PAGES = (
    Column("url"),
    Column("status", Kind.NUMBER),
    Column("outcome"),
    Column("http_status", Kind.NUMBER),
    Column("content_type"),
    Column("title"),
    Column("depth", Kind.NUMBER),
    Column("parent"),
    Column("redirect_to"),
    Column("bytes", Kind.NUMBER),
    Column("elapsed_ms", Kind.NUMBER),
    Column("attempts", Kind.NUMBER),
    Column("fetched_at", Kind.MOMENT),
    Column("error"),
    Column("directives"),
    Column("rel"),
    Column("not_followed", Kind.NUMBER),
    Column("reused", Kind.TRUTH),
    Column("kind"),
    Column("in_sitemap", Kind.TRUTH),
    Column("linked", Kind.TRUTH),
    Column("lastmod"),
)
"""From the pages' own rows, of the same names; `parent` is the URL of theirs."""

OF_FACTS = (
    Column("description"),
    Column("h1"),
    Column("canonical"),
    Column("words", Kind.NUMBER),
    Column("first_byte_ms", Kind.NUMBER),
)
"""From what is kept beside a page that was answered."""

USUAL = (*OF_PAGES, *OF_FACTS)
NOTES = "field_notes"
"""Of a crawl that extracts fields: an object with a sentence for each field that has no value, or not all of it."""

TAKEN = frozenset((*(column.name for column in USUAL), NOTES))


def columns_of(crawl: Crawl) -> tuple[Column, ...]:
    """The usual ones, then one for each field the crawl extracts, and one that says why some have no value."""
    names = [column_name(field) for field in fields_of(crawl)]
    return (*USUAL, *(Column(name, Kind.ANY) for name in (*names, *([NOTES] if names else []))))


def fields_of(crawl: Crawl) -> list[str]:
    """The names of the crawl's extraction rules, in their order."""
    rules: tuple[Any, ...] = getattr(crawl.chosen, "fields", ())
    return [str(rule.name) for rule in rules]


def column_name(field: str) -> str:
    """The column of an extracted field: its own name, or "field_NAME" where a usual column has that already."""
    return f"field_{field}" if field in TAKEN else field
