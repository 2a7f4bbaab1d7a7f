"""Calls of a user's own code with a page, such as a spider: which, whether it failed, the fields it found."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

MAX_ERROR = 300  # characters of an error
MAX_COLUMNS = 50  # fields of one class in a crawl that become columns; others are shown with their page only

TEXT, NUMBER, BOOLEAN, JSON, UNKNOWN = "text", "number", "boolean", "json", ""
"""The types of such a field. JSON: a list or an object, or values of several types."""


MAX_FIELDS = 50  # the same
MAX_BYTES = 200_000  # of its fields, as JSON
_FIELD_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,49}")  # as that of an extraction rule
_encode, _decode = msgspec.json.Encoder().encode, msgspec.json.decode


class CodeCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call with a page."""

    name: str = msgspec.field(name="hook")  # of the class, as settings or options name it
    error: str = ""  # one line; "" = it returned
    timed_out: bool = False
    fields: dict[str, str] = {}  # name -> type, of the fields it found
    reused: bool = False  # it was called for the cached response; not again


def type_of(value: Any) -> str:
    """The type of a field with this value."""
    match value:
        case None:
            return UNKNOWN
        case bool():
            return BOOLEAN
        case int() | float():
            return NUMBER
        case str():
            return TEXT
        case _:
            return JSON


def merged(known: Mapping[str, str], further: Mapping[str, str]) -> dict[str, str]:
    """The types of fields and of further values; at most the first MAX_COLUMNS."""
    types = dict(known)
    for name, kind in further.items():
        if name not in types and len(types) >= MAX_COLUMNS:
            continue
        before = types.get(name, UNKNOWN)
        types[name] = kind if before == UNKNOWN else before if kind in (UNKNOWN, before) else JSON
    return types


def plain_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as JSON has them. ValueError or TypeError for what cannot be stored."""
    named = dict(fields)
    for name in named:
        if not isinstance(name, str) or not _FIELD_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a field name: begin with a letter, and use only letters, digits and _")
    if len(named) > MAX_FIELDS:
        raise ValueError(f"it found {len(named)} fields; a page can have at most {MAX_FIELDS}")
    encoded = _encode(named)
    if len(encoded) > MAX_BYTES:
        raise ValueError(f"its fields take {len(encoded):,} bytes as JSON; the limit is {MAX_BYTES:,}")
    plain: dict[str, Any] = _decode(encoded)  # dates, decimals and dataclasses are what JSON makes of them
    msgspec.msgpack.encode(plain)  # an integer beyond 64 bits cannot be reported
    return plain
