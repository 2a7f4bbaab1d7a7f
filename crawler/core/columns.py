"""A list that is a table: in which columns its URLs and priorities stand, and its rows, read from a stream of lines."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import NamedTuple

from crawler.core.errors import BadInput
from crawler.core.lines import Line

URL_NAMES = ("url", "urls", "address", "link", "loc", "uri", "href")
PRIORITY_NAMES = ("priority",)
MAX_COLUMNS = 10_000
ROW_LINES = 100  # physical lines one row may take; a quote that is open for longer was never closed

UNCLOSED = "A quote in this row is not closed, or text stands behind it."

_DELIMITERS = "\t,;|"  # in this order: a URL holds no tab, and rather a semicolon than a comma


@dataclass(frozen=True)
class Columns:
    """The columns somebody chose, by name or by number from 1; "" = find out."""

    url: str = ""
    priority: str = ""

    @property
    def names(self) -> set[str]:
        """The chosen columns that are named, as `_names` writes them."""
        return {typed.strip().lower() for typed in (self.url, self.priority) if typed and not typed.isdecimal()}


@dataclass(frozen=True)
class Layout:
    """Where things stand in a table."""

    delimiter: str
    url: int  # place in the row, from 0
    priority: int | None
    header: int  # number of the line with the columns' names; 0 = there is none


class Row(NamedTuple):
    """One row of a table, or one line that none could be made of."""

    number: int  # of its first line
    fields: list[str]
    text: str  # its first line
    fault: str = ""


def layout_of(beginning: Sequence[Line], file_name: str, columns: Columns) -> Layout | None:
    """The layout of a list that begins with these lines; None = it is no table but has one URL a line.

    A table is known by its file's name, by a chosen column, or by a first line that names a column of URLs. BadInput
    ("list_column", "priority_column") when a chosen column is not there.
    """
    extension = PurePath(file_name.lower().removesuffix(".gz")).suffix
    delimiters = "\t" if extension == ".tsv" else _DELIMITERS
    known = {*URL_NAMES, *columns.names}
    for delimiter in delimiters:
        names = _names(beginning[0], delimiter)
        if known.intersection(names):
            return _with_header(beginning, delimiter, names, columns)
    if extension not in (".csv", ".tsv") and not (columns.url or columns.priority):
        return None
    delimiter, url = _found(beginning, delimiters)
    chosen, priority = _chosen(columns, [])
    return Layout(delimiter, url if chosen is None else chosen, priority, header=0)


def rows_of(lines: Iterator[Line], delimiter: str) -> Iterator[Row]:
    """The rows of a table. A quoted field may span lines; after a quote that is never closed the next line is tried."""
    put_back: deque[Line] = deque()
    while (line := put_back.popleft() if put_back else next(lines, None)) is not None:
        if line.fault:
            yield Row(line.number, [], line.text, line.fault)
        elif '"' not in line.text:
            yield Row(line.number, line.text.split(delimiter), line.text)
        else:
            yield _quoted(line, lines, put_back, delimiter)


def _quoted(first: Line, lines: Iterator[Line], put_back: deque[Line], delimiter: str) -> Row:
    taken: list[Line] = []

    def physical() -> Iterator[str]:
        yield first.text + "\n"
        while len(taken) < ROW_LINES and (line := put_back.popleft() if put_back else next(lines, None)) is not None:
            taken.append(line)
            if line.fault:
                return
            yield line.text + "\n"

    try:
        return Row(first.number, next(_reader(physical(), delimiter)), first.text)
    except csv.Error:
        put_back.extendleft(reversed(taken))
        return Row(first.number, [], first.text, UNCLOSED)


def _reader(lines: Iterator[str], delimiter: str) -> Iterator[list[str]]:
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)


def _fields(line: Line, delimiter: str) -> list[str]:
    """The fields of a row that takes one line."""
    return _quoted(line, iter(()), deque(), delimiter).fields


def _names(line: Line, delimiter: str) -> list[str]:
    return [field.strip().lower() for field in _fields(line, delimiter)]


def _with_header(beginning: Sequence[Line], delimiter: str, names: list[str], columns: Columns) -> Layout:
    url, priority = _chosen(columns, names)
    if url is None:
        url = _first_of(URL_NAMES, names)
    if url is None:
        url = _found(beginning, delimiter)[1]
    if priority is None:
        priority = _first_of(PRIORITY_NAMES, names)
    return Layout(delimiter, url, priority, header=beginning[0].number)


def _first_of(known: Sequence[str], names: list[str]) -> int | None:
    return next((place for place, name in enumerate(names) if name in known), None)


def _chosen(columns: Columns, names: list[str]) -> tuple[int | None, int | None]:
    """Where the chosen columns stand; None where none was chosen."""
    return _place("list_column", columns.url, names), _place("priority_column", columns.priority, names)


def _place(field: str, typed: str, names: list[str]) -> int | None:
    chosen = typed.strip().lower()
    if not chosen:
        return None
    if chosen in names:
        return names.index(chosen)
    if chosen.isdecimal() and 0 < int(chosen[:9]) <= MAX_COLUMNS:
        return int(chosen) - 1
    there = f"its columns are: {', '.join(names)}" if names else "its first line names no columns; give a number from 1"
    raise BadInput(field, f"The list has no column {typed!r}; {there}.")


def _found(beginning: Sequence[Line], delimiters: str) -> tuple[str, int]:
    """The delimiter and the place of the first field that is a URL; else the first field, cut as the first line is."""
    for line in beginning:
        for delimiter in delimiters:
            fields = _fields(line, delimiter)
            for place, field in enumerate(fields):
                if len(fields) > 1 and field.strip().lower().startswith(("http://", "https://")):
                    return delimiter, place
    return next((delimiter for delimiter in delimiters if delimiter in beginning[0].text), ","), 0
