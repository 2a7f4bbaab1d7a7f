"""The pages of a crawl as JSON lines: one JSON object a line, in UTF-8."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from django.db.models import QuerySet

from crawler.exports.rows import rows
from crawler.models import Crawl, Page

_encode = msgspec.json.Encoder().encode


def lines(crawl: Crawl, *, externals: bool = False, among: QuerySet[Page] | None = None) -> Iterator[str]:
    """One line a page, each ending with a line feed."""
    for row in rows(crawl, externals=externals, among=among):
        yield _encode(row).decode() + "\n"
