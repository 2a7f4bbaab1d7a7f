"""Lists whose lines are JSON objects (JSONL), with the same names as the columns of a table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, NamedTuple

import msgspec

from crawler.core.errors import BadInput
from crawler.core.url_lists.reader import NOT_BEFORE, PRIORITY, TTL, URL_NAMES, ColumnChoice
from crawler.core.url_lists.values import BadValue

ENDINGS = (".jsonl", ".ndjson")

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class ObjectRow(NamedTuple):
    """One object as typed; "" = not given."""

    url: str
    priority: str
    ttl: str
    not_before: str
    meta: dict[str, Any]


def has_objects(first_line: str, file_name: str) -> bool:
    """Whether the lines of a list are JSON objects: by its file's name, or by its first line."""
    return PurePath(file_name.lower().removesuffix(".gz")).suffix in ENDINGS or first_line.lstrip().startswith("{")


def row_of(line: str, columns: ColumnChoice) -> ObjectRow:
    """The values of one object. Raises BadValue; BadInput ("list_column", "priority_column") where a column was chosen
    by its number."""
    for field, typed in (("list_column", columns.url), ("priority_column", columns.priority)):
        if typed.strip().isdecimal():
            raise BadInput(field, "The lines of this list are JSON objects; enter a key instead of a number.")
    try:
        found = _decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        raise BadValue('The line is not a JSON object such as {"url": "https://example.com/"}.') from None
    return row_of_object(found, columns)


def row_of_object(found: Mapping[str, Any], columns: ColumnChoice) -> ObjectRow:
    """The same of an object. Raises BadValue."""
    names = {name.strip().lower(): name for name in reversed(list(found))}  # of two that differ in case, the first
    urls = [columns.url.strip().lower()] if columns.url.strip() else URL_NAMES
    url = next((names[name] for name in urls if name in names), None)
    if url is None:
        raise BadValue(f"The object has no {urls[0]!r}.")
    priority, ttl, not_before = (
        names.get(name) for name in (columns.priority.strip().lower() or PRIORITY, TTL, NOT_BEFORE)
    )
    known = {url, priority, ttl, not_before}
    meta = {
        name: value for name, value in found.items() if name.strip() and name not in known and value not in (None, "")
    }
    return ObjectRow(_typed(found, url), _typed(found, priority), _typed(found, ttl), _typed(found, not_before), meta)


def _typed(found: Mapping[str, Any], name: str | None) -> str:
    """A value as in a table."""
    value = found.get(name) if name is not None else None
    return "" if value is None else str(value).strip()
