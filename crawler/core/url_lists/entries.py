"""The entries of a URL list, line by line: a URL with its values, or an error; and the report of an import."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

import msgspec

from crawler.core.errors import BadInput
from crawler.core.url_lists.json_lines import has_objects, row_of
from crawler.core.url_lists.reader import MAX_BYTES, NUL, ColumnChoice, Layout, ListLine, layout_of, lines_of, rows_of
from crawler.core.url_lists.values import BadValue, Values, values_of
from crawler.core.urls.normalise import normalise, parse_user_url

PROBED_LINES = 1000  # a file without a URL among them is no URL list
MAX_LINES = 50_000_000

_SCHEMES = ("http://", "https://")
_USUAL = Values()


class Entry(NamedTuple):
    """A line with a URL."""

    line: int  # from 1
    url: str  # normalised
    priority: int | None = None  # this and the following as in `Values`
    ttl: float | None = None
    not_before: float | None = None
    meta: Mapping[str, Any] | None = None


class Invalid(NamedTuple):
    """A line without a valid URL."""

    line: int
    text: str
    why: str  # a sentence


def entries_of(
    pieces: Iterable[bytes],
    file_name: str,
    columns: ColumnChoice | None = None,
    max_lines: int = MAX_LINES,
    max_bytes: int | None = MAX_BYTES,
) -> Iterator[Entry | Invalid]:
    """An item for each line of a list: text with one URL per line, a table (CSV), or JSON objects (JSONL).

    Blank lines are skipped, in text also comments (#), in a table the header. Raises BadInput
    ("list", "list_column", "priority_column"), before the first item whenever it is no list of URLs at all.
    """
    lines = (line for line in lines_of(pieces, max_bytes) if line.fault or line.text.strip())
    beginning = list(islice(lines, PROBED_LINES))
    _refuse_noise(beginning, file_name)
    whole = chain(beginning, lines)
    clear = [line for line in beginning if not (line.fault or _is_comment(line.text))]
    columns = columns or ColumnChoice()
    if clear and has_objects(clear[0].text, file_name):
        items = _in_objects(whole, columns)
    else:
        layout = layout_of(clear, file_name, columns) if clear else None
        items = _in_text(whole) if layout is None else _in_table(whole, layout)
    return _at_most(max_lines, _of_some_use(items, file_name))


def _refuse_noise(beginning: Sequence[ListLine], file_name: str) -> None:
    if not beginning:
        raise BadInput("list", f"{file_name} is not a list of URLs: it is empty.")
    for line in beginning:
        if line.fault == NUL:
            raise BadInput(
                "list",
                f"{file_name} is not a list of URLs: line {line.number:,} contains NUL bytes, like binary files. "
                "Save it as text or CSV, in UTF-8.",
            )


def _is_comment(text: str) -> bool:
    return text.lstrip().startswith("#")


def _in_text(lines: Iterable[ListLine]) -> Iterator[Entry | Invalid]:
    for line in lines:
        if line.fault:
            yield Invalid(line.number, line.text, line.fault)
        elif not _is_comment(line.text):
            yield _judged(line.number, line.text.strip())


def _in_table(lines: Iterator[ListLine], layout: Layout) -> Iterator[Entry | Invalid]:
    below_header = (line for line in lines if line.number > layout.header)
    for row in rows_of(below_header, layout.delimiter):
        if row.fault:
            yield Invalid(row.number, row.text, row.fault)
        elif any(field.strip() for field in row.fields):
            yield _in_row(row.number, row.fields, layout)


def _in_row(number: int, fields: list[str], layout: Layout) -> Entry | Invalid:
    typed = _field(fields, layout.url)
    if not typed:
        return Invalid(number, layout.delimiter.join(fields), f"Column {layout.url + 1}, which has the URLs, is empty.")
    priority, ttl, not_before = (_field(fields, place) for place in (layout.priority, layout.ttl, layout.not_before))
    meta = {name: value for name, place in layout.meta if (value := _field(fields, place))}
    try:
        return _judged(number, typed, values_of(priority, ttl, not_before, meta))
    except BadValue as error:
        return Invalid(number, layout.delimiter.join(fields), str(error))


def _in_objects(lines: Iterable[ListLine], columns: ColumnChoice) -> Iterator[Entry | Invalid]:
    for line in lines:
        if line.fault:
            yield Invalid(line.number, line.text, line.fault)
            continue
        try:
            row = row_of(line.text, columns)
            values = values_of(row.priority, row.ttl, row.not_before, row.meta)
        except BadValue as error:
            yield Invalid(line.number, line.text, str(error))
        else:
            yield _judged(line.number, row.url, values)


def _field(fields: list[str], place: int | None) -> str:
    return fields[place].strip() if place is not None and place < len(fields) else ""


def _judged(number: int, typed: str, values: Values = _USUAL) -> Entry | Invalid:
    url = normalise(typed) if typed.startswith(_SCHEMES) and "\t" not in typed else None
    if url is not None:  # as `parse_user_url` would, in a third of the time
        return Entry(number, url, *values)
    try:
        return Entry(number, parse_user_url(typed), *values)
    except BadInput as error:
        return Invalid(number, typed, error.message)


def _of_some_use(items: Iterator[Entry | Invalid], file_name: str) -> Iterator[Entry | Invalid]:
    """The same, buffered until the first entry; BadInput if there is none among the first PROBED_LINES."""
    held: list[Entry | Invalid] = []
    for item in items:
        held.append(item)
        if isinstance(item, Entry):
            yield from held
            break
        if len(held) == PROBED_LINES:
            raise BadInput("list", _useless(held, file_name))
    else:
        raise BadInput("list", _useless(held, file_name))
    yield from items


def _useless(held: Sequence[Entry | Invalid], file_name: str) -> str:
    first = next((item for item in held if isinstance(item, Invalid)), None)
    if first is None:
        return f"{file_name} is not a list of URLs: it contains only comments or column names."
    tried = "its only line cannot" if len(held) == 1 else f"none of its first {len(held):,} lines can"
    return f"{file_name} is not a list of URLs: {tried} be used. Line {first.line:,}: {first.why}"


def _at_most(max_lines: int, items: Iterator[Entry | Invalid]) -> Iterator[Entry | Invalid]:
    for number, item in enumerate(items, start=1):
        if number > max_lines:
            raise BadInput("list", f"The list has more than {max_lines:,} lines; split it.")
        yield item


# The report of an import.

MAX_EXAMPLES = 1000  # invalid lines that are kept
MAX_SHOWN = 200  # characters of each


class ListReport(msgspec.Struct, frozen=True):
    """Blank lines, comments and the names of columns are not counted, so that lines = taken + duplicates + invalid."""

    taken: int = 0  # pages
    duplicates: int = 0  # lines with the URL of an earlier line
    invalid: int = 0
    examples: tuple[Invalid, ...] = ()

    @property
    def lines(self) -> int:
        return self.taken + self.duplicates + self.invalid

    def plus(self, items: Sequence[Entry | Invalid], taken: int) -> ListReport:
        """The report after these items, of which so many were taken."""
        invalid = [item for item in items if isinstance(item, Invalid)]
        return ListReport(
            taken=self.taken + taken,
            duplicates=self.duplicates + len(items) - len(invalid) - taken,
            invalid=self.invalid + len(invalid),
            examples=self.examples + tuple(invalid[: MAX_EXAMPLES - len(self.examples)]),
        )

    def to_counts(self) -> dict[str, int]:
        return {"lines": self.lines, "taken": self.taken, "invalid": self.invalid, "duplicates": self.duplicates}

    def to_plain(self) -> dict[str, Any]:
        """As JSON values, for the crawl's row."""
        examples = [
            {"line": item.line, "text": storable(item.text)[:MAX_SHOWN], "why": storable(item.why)}
            for item in self.examples
        ]
        return {**self.to_counts(), "examples": examples}


def storable(text: str) -> str:
    """On one line, and without NUL, which PostgreSQL cannot store."""
    return " ".join(text.replace("\0", "\ufffd").splitlines())
