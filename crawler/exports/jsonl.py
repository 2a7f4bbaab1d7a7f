"""The pages of a crawl as JSON lines: one JSON object a line, in UTF-8."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Unpack

import msgspec

from crawler.exports.rows import rows
from crawler.exports.selection import Chosen
from crawler.models import Crawl

_encode = msgspec.json.Encoder().encode


def lines(crawl: Crawl, **chosen: Unpack[Chosen]) -> Iterator[str]:
    """One line a page, each ending with a line feed."""
    for row in rows(crawl, **chosen):
        yield _encode(row).decode() + "\n"
