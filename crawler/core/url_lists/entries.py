"""The entries of a URL list, line by line: a URL with its priority, or an error; and the report of an import."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, NamedTuple

from crawler.core.crawl.messages import USUAL_PRIORITY
from crawler.core.errors import BadInput
from crawler.core.url_lists.reader import NUL, Columns, Layout, Line, layout_of, lines_of, rows_of
from crawler.core.urls.normalise import from_person, normalise

PROBED_LINES = 1000  # a file without a URL among them is no URL list
MAX_LINES = 50_000_000

_SCHEMES = ("http://", "https://")


class Entry(NamedTuple):
    """A line with a URL."""

    line: int  # from 1
    url: str  # normalised
    priority: int


class Invalid(NamedTuple):
    """A line without a valid URL."""

    line: int
    text: str
    why: str  # a sentence


def entries_of(
    pieces: Iterable[bytes], file_name: str, columns: Columns | None = None, max_lines: int = MAX_LINES
) -> Iterator[Entry | Invalid]:
    """An item for each line of a list: text with one URL per line, or a table (CSV).

    Blank lines are skipped, in text also comments (#), in a table the header. Raises BadInput
    ("list", "list_column", "priority_column"), before the first item whenever it is no list of URLs at all.
    """
    lines = (line for line in lines_of(pieces) if line.fault or line.text.strip())
    beginning = list(islice(lines, PROBED_LINES))
    _refuse_noise(beginning, file_name)
    whole = chain(beginning, lines)
    clear = [line for line in beginning if not (line.fault or _is_comment(line.text))]
    layout = layout_of(clear, file_name, columns or Columns()) if clear else None
    items = _in_text(whole) if layout is None else _in_table(whole, layout)
    return _at_most(max_lines, _of_some_use(items, file_name))


def priority_of(typed: str) -> int | None:
    """A priority in a list: a whole number from 0 to 10, or from 0.0 to 1.0 as in sitemaps; the default if empty; None
    if invalid."""
    if not typed:
        return USUAL_PRIORITY
    if re.fullmatch(r"[0-9]|10", typed):
        return int(typed)
    if re.fullmatch(r"0?\.[0-9]+|1\.0+", typed):
        return int(float(typed) * 10 + 0.5)
    return None


def _refuse_noise(beginning: Sequence[Line], file_name: str) -> None:
    if not beginning:
        raise BadInput("list", f"{file_name} is not a list of URLs: it is empty.")
    for line in beginning:
        if line.fault == NUL:
            raise BadInput(
                "list",
                f"{file_name} is not a list of URLs: line {line.number:,} holds NUL bytes, as binary files do. "
                "Save it as text or CSV, in UTF-8.",
            )


def _is_comment(text: str) -> bool:
    return text.lstrip().startswith("#")


def _in_text(lines: Iterable[Line]) -> Iterator[Entry | Invalid]:
    for line in lines:
        if line.fault:
            yield Invalid(line.number, line.text, line.fault)
        elif not _is_comment(line.text):
            yield _judged(line.number, line.text.strip(), USUAL_PRIORITY)


def _in_table(lines: Iterator[Line], layout: Layout) -> Iterator[Entry | Invalid]:
    below_header = (line for line in lines if line.number > layout.header)
    for row in rows_of(below_header, layout.delimiter):
        if row.fault:
            yield Invalid(row.number, row.text, row.fault)
        elif any(field.strip() for field in row.fields):
            yield _in_row(row.number, row.fields, layout)


def _in_row(number: int, fields: list[str], layout: Layout) -> Entry | Invalid:
    typed = _field(fields, layout.url)
    if not typed:
        return Invalid(number, layout.delimiter.join(fields), f"Column {layout.url + 1}, that of the URLs, is empty.")
    wish = _field(fields, layout.priority)
    priority = priority_of(wish)
    if priority is None:
        return Invalid(number, wish, f"{wish[:40]!r} is no priority: give 0 (last) to 10 (first), or 0.0 to 1.0.")
    return _judged(number, typed, priority)


def _field(fields: list[str], place: int | None) -> str:
    return fields[place].strip() if place is not None and place < len(fields) else ""


def _judged(number: int, typed: str, priority: int) -> Entry | Invalid:
    url = normalise(typed) if typed.startswith(_SCHEMES) and "\t" not in typed else None
    if url is not None:  # as `from_person` would, in a third of the time
        return Entry(number, url, priority)
    try:
        return Entry(number, from_person(typed), priority)
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
        return f"{file_name} is not a list of URLs: it holds nothing but comments or names of columns."
    tried = "its only line cannot" if len(held) == 1 else f"none of its first {len(held):,} lines can"
    return f"{file_name} is not a list of URLs: {tried} be used. Line {first.line:,}: {first.why}"


def _at_most(max_lines: int, items: Iterator[Entry | Invalid]) -> Iterator[Entry | Invalid]:
    for number, item in enumerate(items, start=1):
        if number > max_lines:
            raise BadInput("list", f"The list has more than {max_lines:,} lines; split it up.")
        yield item


# The report of an import.

MAX_EXAMPLES = 1000  # invalid lines that are kept
MAX_SHOWN = 200  # characters of each


@dataclass(frozen=True)
class ListReport:
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
