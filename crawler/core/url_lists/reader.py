"""The lines and rows of a URL list: decompression, decoding and CSV, with only a few pieces in memory."""

from __future__ import annotations

import codecs
import csv
import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import PurePath
from typing import NamedTuple

import msgspec

from crawler.core.errors import BadInput
from crawler.core.text.gzip import MAGIC, Broken, gunzipped
from crawler.core.url_lists.values import MAX_META_COLUMNS

PIECE_BYTES = 64 * 1024  # read at a time
MAX_LENGTH = 10_000  # characters of a line
MAX_BYTES = 4 * 1024**3  # of the whole decoded list: a few KB may decode to any size

TOO_LONG = f"The line is longer than {MAX_LENGTH:,} characters."
NUL = "The line contains NUL bytes, so it is not text."
NOT_TEXT = "The line is not text in UTF-8 or Latin-1."

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_MAX_LINE_BYTES = 4 * (MAX_LENGTH + 1)  # certainly more than MAX_LENGTH characters
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")  # control characters of Latin-1


class ListLine(NamedTuple):
    """One physical line, without its end."""

    number: int  # from 1
    text: str
    fault: str  # why it is invalid; "" = valid


def lines_of(pieces: Iterable[bytes], max_bytes: int | None = MAX_BYTES) -> Iterator[ListLine]:
    """The lines of a file in pieces of any size; BadInput("list") when it cannot be read to its end, or has more than
    `max_bytes` once it is unpacked (None = no limit).

    1. Unpack gzip, which is known by its first bytes.
    2. Decode UTF-16 if there is its byte order mark, and drop UTF-8's.
    3. Cut at LF, CRLF or CR. What a line has beyond MAX_LENGTH is dropped, and the line marked.
    4. Decode each line as UTF-8, else as Latin-1, if that makes text of it.
    """
    unpacked = _as_utf8(_unpacked(pieces))
    plain = unpacked if max_bytes is None else _within(max_bytes, unpacked)
    for number, line in enumerate(_cut(plain), start=1):
        text, fault = _decoded(line)
        yield ListLine(number, text, fault)


def _begin(pieces: Iterable[bytes], size: int) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes, and all pieces including them."""
    rest, begin = iter(pieces), b""
    while len(begin) < size:
        piece = next(rest, None)
        if piece is None:
            break
        begin += piece
    return begin[:size], chain([begin], rest)


def _unpacked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    magic, whole = _begin(pieces, len(MAGIC))
    return _gunzipped(whole) if magic == MAGIC else whole


def _gunzipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    try:
        yield from gunzipped(pieces)
    except Broken as broken:
        raise BadInput("list", f"The list cannot be decompressed: {broken}. Check that the file is complete.") from None


def _as_utf8(pieces: Iterable[bytes]) -> Iterator[bytes]:
    begin, whole = _begin(pieces, len(codecs.BOM_UTF8))
    if begin.startswith(_UTF_16):
        decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")
        return (decoder.decode(piece, final=not piece).encode() for piece in chain(filter(None, whole), [b""]))
    if begin == codecs.BOM_UTF8:
        first = next(whole)
        return chain([first[len(begin) :]], whole)
    return whole


def _within(max_bytes: int, pieces: Iterable[bytes]) -> Iterator[bytes]:
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > max_bytes:
            raise BadInput("list", f"The list is larger than {max_bytes:,} bytes after decompression; split it.")
        yield piece


def _cut(pieces: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        block = rest + piece
        end = max(block.rfind(b"\n"), block.rfind(b"\r", 0, -1)) + 1  # a CR at the end may be part of CRLF
        yield from block[:end].splitlines()
        rest = block[end:]
        if len(rest) > _MAX_LINE_BYTES:
            rest = rest[:_MAX_LINE_BYTES] + rest[-1:]  # its end may be that CR
    yield from rest.splitlines()


def _decoded(line: bytes) -> tuple[str, str]:
    """The text, and its fault."""
    if len(line) > _MAX_LINE_BYTES:
        return line[:MAX_LENGTH].decode(errors="replace"), TOO_LONG
    try:
        text, fault = line.decode(), ""
    except UnicodeDecodeError:
        text = line.decode("latin-1")
        fault = NOT_TEXT if _CONTROLS.search(text) else ""
    if b"\0" in line:
        return text[:MAX_LENGTH], NUL
    return text[:MAX_LENGTH], TOO_LONG if len(text) > MAX_LENGTH else fault


# Tables (CSV): their columns, and the rows.

URL_NAMES = ("url", "urls", "address", "link", "loc", "uri", "href")
PRIORITY, TTL, NOT_BEFORE = "priority", "ttl", "not_before"
MAX_COLUMNS = 10_000
MAX_ROW_LINES = 100  # physical lines of one row; a longer quote was never closed

UNCLOSED = "A quote in this row is not closed, or is followed by text."

_DELIMITERS = "\t,;|"  # in this order: a URL has no tab, and more likely a semicolon than a comma


class ColumnChoice(msgspec.Struct, frozen=True):
    """The columns that the user chose, by name or by number from 1; "" = detect."""

    url: str = ""
    priority: str = ""

    @property
    def names(self) -> set[str]:
        """The columns chosen by name, as `_names` writes them."""
        return {typed.strip().lower() for typed in (self.url, self.priority) if typed and not typed.isdecimal()}


class Layout(msgspec.Struct, frozen=True):
    """The layout of a table."""

    delimiter: str
    url: int  # index in the row, from 0
    priority: int | None
    header: int  # number of the line with the columns' names; 0 = there is none
    ttl: int | None = None
    not_before: int | None = None
    meta: tuple[tuple[str, int], ...] = ()  # name and index of each of the other columns


class ListRow(NamedTuple):
    """One row of a table, or one invalid line."""

    number: int  # of its first line
    fields: list[str]
    text: str  # its first line
    fault: str = ""


def layout_of(beginning: Sequence[ListLine], file_name: str, columns: ColumnChoice) -> Layout | None:
    """The layout of a list that begins with these lines; None = no table, but one URL per line.

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


def rows_of(lines: Iterator[ListLine], delimiter: str) -> Iterator[ListRow]:
    """The rows of a table. A quoted field may span lines; after an unclosed quote the next line is read."""
    put_back: deque[ListLine] = deque()
    while (line := put_back.popleft() if put_back else next(lines, None)) is not None:
        if line.fault:
            yield ListRow(line.number, [], line.text, line.fault)
        elif '"' not in line.text:
            yield ListRow(line.number, line.text.split(delimiter), line.text)
        else:
            yield _quoted(line, lines, put_back, delimiter)


def _quoted(first: ListLine, lines: Iterator[ListLine], put_back: deque[ListLine], delimiter: str) -> ListRow:
    taken: list[ListLine] = []

    def physical() -> Iterator[str]:
        yield first.text + "\n"
        while (
            len(taken) < MAX_ROW_LINES and (line := put_back.popleft() if put_back else next(lines, None)) is not None
        ):
            taken.append(line)
            if line.fault:
                return
            yield line.text + "\n"

    try:
        return ListRow(first.number, next(_reader(physical(), delimiter)), first.text)
    except csv.Error:
        put_back.extendleft(reversed(taken))
        return ListRow(first.number, [], first.text, UNCLOSED)


def _reader(lines: Iterator[str], delimiter: str) -> Iterator[list[str]]:
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)


def _fields(line: ListLine, delimiter: str) -> list[str]:
    """The fields of a row of one line."""
    return _quoted(line, iter(()), deque(), delimiter).fields


def _names(line: ListLine, delimiter: str) -> list[str]:
    return [field.strip().lower() for field in _fields(line, delimiter)]


def _with_header(beginning: Sequence[ListLine], delimiter: str, names: list[str], columns: ColumnChoice) -> Layout:
    url, priority = _chosen(columns, names)
    if url is None:
        url = _first_of(URL_NAMES, names)
    if url is None:
        url = _found(beginning, delimiter)[1]
    if priority is None:
        priority = _first_of((PRIORITY,), names)
    ttl, not_before = _first_of((TTL,), names), _first_of((NOT_BEFORE,), names)
    meta = _further(beginning[0], delimiter, {url, priority, ttl, not_before})
    return Layout(delimiter, url, priority, beginning[0].number, ttl, not_before, meta)


def _further(header: ListLine, delimiter: str, known: Collection[int | None]) -> tuple[tuple[str, int], ...]:
    """The names, as written, and indexes of the other columns. One without a name, or with that of a column before it,
    is left out."""
    columns: dict[str, int] = {}
    for place, field in enumerate(_fields(header, delimiter)):
        columns.setdefault(field.strip(), place)
    places = {name: place for name, place in columns.items() if name and place not in known}
    if len(places) > MAX_META_COLUMNS:
        raise BadInput(
            "list",
            f"Line {header.number} names {len(places)} additional columns; the results can have at most "
            f"{MAX_META_COLUMNS}. Remove some of them.",
        )
    return tuple(places.items())


def _first_of(known: Sequence[str], names: list[str]) -> int | None:
    return next((place for place, name in enumerate(names) if name in known), None)


def _chosen(columns: ColumnChoice, names: list[str]) -> tuple[int | None, int | None]:
    """The indexes of the chosen columns; None where none was chosen."""
    return _place("list_column", columns.url, names), _place("priority_column", columns.priority, names)


def _place(field: str, typed: str, names: list[str]) -> int | None:
    chosen = typed.strip().lower()
    if not chosen:
        return None
    if chosen in names:
        return names.index(chosen)
    if chosen.isdecimal() and 0 < int(chosen[:9]) <= MAX_COLUMNS:
        return int(chosen) - 1
    there = (
        f"its columns are: {', '.join(names)}" if names else "its first line has no column names; enter a number from 1"
    )
    raise BadInput(field, f"The list has no column {typed!r}; {there}.")


def _found(beginning: Sequence[ListLine], delimiters: str) -> tuple[str, int]:
    """The delimiter and the index of the first field that is a URL; else of the first field."""
    for line in beginning:
        for delimiter in delimiters:
            fields = _fields(line, delimiter)
            for place, field in enumerate(fields):
                if len(fields) > 1 and field.strip().lower().startswith(("http://", "https://")):
                    return delimiter, place
    return next((delimiter for delimiter in delimiters if delimiter in beginning[0].text), ","), 0
