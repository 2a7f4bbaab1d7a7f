"""Tables of a report as a terminal shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from crawler.reports import words

AT_ONCE = 500  # rows that are aligned with each other
LONGEST = 120  # characters of a cell; a URL is shown in full

Cells = Sequence[str | int | None]


def text_of(names: Sequence[str], rows: Iterable[Cells]) -> Iterator[str]:
    """The rows below the names of their columns, some hundred lines at a time."""
    lines = chain([tuple(names)], (tuple(map(_shown, row)) for row in rows))
    while part := list(islice(lines, AT_ONCE)):
        yield words.aligned(part)


def _shown(cell: str | int | None) -> str:
    """On one line, and without what would steer the terminal: sites write what they like."""
    text = "" if cell is None else " ".join(str(cell).split())
    text = "".join(letter for letter in text if letter.isprintable())
    is_short = len(text) <= LONGEST or text.startswith(("http://", "https://"))
    return text if is_short else f"{text[: LONGEST - 1]}…"
