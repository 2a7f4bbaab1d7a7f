"""The pages of a crawl as JSON lines: one JSON object a line, in UTF-8."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Unpack

import msgspec

from crawler.exports.rows import ExportFilter, rows
from crawler.models import Crawl

_ENDS = {"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}  # those below U+0020 are escaped in JSON anyway
_encode = msgspec.json.Encoder().encode


def lines(crawl: Crawl, **chosen: Unpack[ExportFilter]) -> Iterator[str]:
    """One line a page, each ending with a line feed."""
    return map(line_of, rows(crawl, **chosen))


def line_of(value: Any) -> str:
    """The value as one line, for programs as well to which other characters end a line (Python's `splitlines`): a site
    is not to write records of its own."""
    line = _encode(value).decode()
    if not line.isascii():
        for end, escape in _ENDS.items():
            line = line.replace(end, escape)
    return f"{line}\n"
