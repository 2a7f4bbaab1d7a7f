"""The pages of a crawl as comma-separated values (RFC 4180) that a spreadsheet can open without running any of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from crawler.exports.rows import KEYS, rows
from crawler.models import Crawl, Page

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001 (wide forms run as well)
"""What makes a spreadsheet take a cell for a formula. Titles and errors are written by strangers."""


def lines(crawl: Crawl, *, externals: bool = False, among: QuerySet[Page] | None = None) -> Iterator[str]:
    """The header and one record a page, each ending with CR LF."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(KEYS)
    yield _taken(buffer)
    for row in rows(crawl, externals=externals, among=among):
        writer.writerow(map(defused, row.values()))
        yield _taken(buffer)


def defused(cell: Any) -> Any:
    """The cell, behind an apostrophe when it is text that a spreadsheet would run as a formula."""
    if isinstance(cell, str) and cell.lstrip(" ").startswith(FORMULA_STARTS):
        return f"'{cell}"
    return cell


def _taken(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text
