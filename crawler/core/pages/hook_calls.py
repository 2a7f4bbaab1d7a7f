"""Calls of hooks as results and tables have them: which hook, whether it failed, the fields it found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

MAX_ERROR = 300  # characters of an error
MAX_COLUMNS = 50  # fields of one hook in a crawl that become columns; others stand beside their page alone

TEXT, NUMBER, BOOLEAN, JSON, UNKNOWN = "text", "number", "boolean", "json", ""
"""The types of a hook's field. JSON: a list or an object, or values of several types."""


class HookCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call of `on_page`."""

    hook: str  # the class, as the settings name it
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
    """The types of a hook's fields, with those of further values; at most MAX_COLUMNS, the first."""
    types = dict(known)
    for name, kind in further.items():
        if name not in types and len(types) >= MAX_COLUMNS:
            continue
        before = types.get(name, UNKNOWN)
        types[name] = kind if before == UNKNOWN else before if kind in (UNKNOWN, before) else JSON
    return types
