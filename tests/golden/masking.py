"""What differs between two crawls of the same pages is covered: ids, moments, durations, ports."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
MOMENT = re.compile(r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
HTTP_DATE = re.compile(r"\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} 20\d\d \d\d:\d\d:\d\d GMT")
DIGEST = re.compile(r"\bsha(?:1|256):[0-9A-Za-z]+")
SERVER = re.compile(r"Python/3\.\d+\.\d+")
SPAN = re.compile(r'("\w*(?:_ms|ms|seconds|per_second|rate)"): ?[\d.e-]+')
IN_GRAPH = re.compile(r'(?<=elapsed_ms">)\d+')
SPANS = ("elapsed_ms", "first_byte_ms", "fetched_at")
"""Columns of a table, and fields of a row."""


def masked(text: str, names: Mapping[str, str]) -> str:
    """`names`: what stands in place of a word of this crawl alone, such as its id."""
    for word, name in names.items():
        text = text.replace(word, name)
    for pattern in (UUID, HTTP_DATE, MOMENT, DIGEST, SERVER):
        text = pattern.sub(lambda found: _name_of(found.re), text)
    return IN_GRAPH.sub("SPAN", SPAN.sub(r"\1: SPAN", text)).replace("\r", "␍")


def masked_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """The same of a row of a table; a moment is told apart from text."""
    return {name: type(value).__name__ if name in SPANS or _is_moment(value) else value for name, value in row.items()}


def _is_moment(value: object) -> bool:
    return isinstance(value, datetime)


def _name_of(pattern: re.Pattern[str]) -> str:
    return {UUID: "UUID", HTTP_DATE: "HTTP-DATE", MOMENT: "MOMENT", DIGEST: "DIGEST", SERVER: "Python/3"}[pattern]
