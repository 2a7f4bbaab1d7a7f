"""The pages of a crawl as comma-separated values (RFC 4180) that a spreadsheet can open without running any of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Unpack

from crawler.exports.cells import separate
from crawler.exports.columns import columns_of
from crawler.exports.rows import rows
from crawler.exports.selection import Chosen
from crawler.models import Crawl


def lines(crawl: Crawl, **chosen: Unpack[Chosen]) -> Iterator[str]:
    """The header and one record a page, each ending with CR LF."""
    names = [column.name for column in columns_of(crawl)]
    return table(names, (row.values() for row in rows(crawl, **chosen)))


def table(names: Sequence[str], records: Iterable[Iterable[Any]]) -> Iterator[str]:
    """Any table in this form: its header, and one record a row."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(map(separate, names))
    yield _taken(buffer)
    for record in records:
        writer.writerow(map(separate, record))
        yield _taken(buffer)


def _taken(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text
