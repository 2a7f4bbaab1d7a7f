"""What is described of a field of a page, see `core.pages.page_fields`."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

import msgspec


class ValueType(StrEnum):
    """The type of a value, for formats that have types. Any value may be missing."""

    TEXT = "text"
    URL = "URL"
    INTEGER = "integer"
    FLOAT = "float"
    BOOLEAN = "boolean"
    DATETIME = "datetime"  # ISO 8601 in UTC
    DATE = "date"  # ISO 8601: a day, or a time with or without its zone
    JSON = "JSON"


class Unit(StrEnum):
    """The unit of a number, for readers."""

    NONE = ""
    MILLISECONDS = "ms"
    BYTES = "bytes"


PAGE_TABLE = ""
METADATA = "facts"
"""The tables that have the values, each by its relation to a page. `PageFacts` has no row of a page without a response;
those of capabilities are in `reports.page_parts`."""


class Sort(StrEnum):
    """Sort keys of a list of pages; pages with equal values are in the order of their discovery."""

    FOUND = "found"
    URL = "url"
    TITLE = "title"
    STATUS = "status"
    DEPTH = "depth"
    SIZE = "size"
    TIME = "time"


class Ordering(msgspec.Struct, frozen=True):
    """How a list of pages is sorted by a field."""

    key: Sort
    ascending: str  # the label of this choice
    descending: str


class ColumnPlace(msgspec.Struct, frozen=True):
    """The column of the web table that shows a field."""

    position: int
    name: str  # in the query string
    is_default: bool = False  # shown unless the user chooses other columns


class PageField(msgspec.Struct, frozen=True):
    """One field of a page."""

    name: str  # in exports and the API; also the attribute of the row, except `parent`, unless it has another
    label: str
    description: str
    example: Any
    type: ValueType = ValueType.TEXT
    unit: Unit = Unit.NONE
    table: str = PAGE_TABLE
    is_nullable: bool = False  # the database column can be NULL
    empty_is_null: bool = False  # exports and lists of pages have null in place of ""
    is_exported: bool = True
    column: ColumnPlace | None = None  # None = the web table has no such column
    ordering: Ordering | None = None  # None = pages cannot be sorted by it
    kept_as: str = ""  # the attribute of the row, if it has another name
    follows: str = ""  # the field behind which this one of a capability stands; "" = behind all of its table

    @property
    def is_text(self) -> bool:
        return self.type in (ValueType.TEXT, ValueType.URL)

    @property
    def attribute(self) -> str:
        """The attribute of the row that has the value."""
        return self.kept_as or self.name

    @property
    def path(self) -> str:
        """The lookup of the database column from a page."""
        return f"{self.table}__{self.attribute}" if self.table else self.attribute


def in_order(fields: Iterable[PageField], further: Iterable[PageField]) -> tuple[PageField, ...]:
    """The fields of the kernel and of capabilities, each behind the one it follows."""
    placed = list(fields)
    for field in further:
        names = [other.name for other in placed]
        placed.insert(names.index(field.follows) + 1 if field.follows else len(placed), field)
    return tuple(placed)
