"""The pages of a crawl as comma-separated values (RFC 4180) that a spreadsheet can open without running any of it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Unpack

import msgspec

from crawler.exports.rows import Chosen, columns_of, rows
from crawler.models import Crawl

# What may stand in a cell that a spreadsheet opens: flat, and nothing that it would run.

_BEGINS = "[=+@\uff1d\uff0b\uff0d\uff20-]"  # a formula; the wide forms run as well
_UNSEEN = r"[\s\x00-\x20\x7f\xad\u200b-\u200f\u2060\ufeff]"  # programs leave out some of it, each of them other ones
_FORMULA = re.compile(rf"{_UNSEEN}*{_BEGINS}|[\t\r\n]")
"""What makes a spreadsheet take a cell for a formula. Titles and errors are written by strangers."""

_LATER = re.compile(rf'([;\t\r\n])(?=[\s"]*{_BEGINS})')
"""Where a formula would begin if the file were cut at semicolons, tabs or line ends, whatever the quotes around them:
so do spreadsheets where a comma is the decimal mark (OWASP, "CSV Injection")."""

_as_json = msgspec.json.Encoder().encode


def flat(value: Any) -> Any:
    """The value as one harmless cell; a list or an object as JSON."""
    return defused(_as_json(value).decode() if isinstance(value, list | dict) else value)


def defused(cell: Any) -> Any:
    """The cell, behind an apostrophe when it is text that a spreadsheet would run as a formula."""
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


def separate(value: Any) -> Any:
    """The value as a harmless cell of a file in which commas separate cells, and which not everybody cuts there."""
    cell = flat(value)
    if not isinstance(cell, str) or not (";" in cell or "\t" in cell or "\n" in cell or "\r" in cell):
        return cell  # nearly all are: this costs a tenth of what the pattern does
    return _LATER.sub(r"\1'", cell)


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
