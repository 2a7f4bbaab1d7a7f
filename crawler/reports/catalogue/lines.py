"""Where the lines of a report come from: the database, a ranking, or a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.db.models import QuerySet

from crawler.reports.catalogue.report import Line

AT_ONCE = 500  # rows in memory at a time


class Selected:
    """One line for each row of a question to the database."""

    def __init__(self, rows: QuerySet[Any, Any], line_of: Callable[..., Line]) -> None:
        """`rows` are tuples in an order that is the same each time; `line_of` gets the values of one."""
        self._rows, self._line_of = rows, line_of

    def count(self) -> int:
        return self._rows.count()

    def __getitem__(self, places: slice) -> Sequence[Line]:
        return [self._line_of(*row) for row in self._rows[places]]

    def __iter__(self) -> Iterator[Line]:
        return (self._line_of(*row) for row in self._rows.iterator(chunk_size=AT_ONCE))


class Ranked:
    """Lines whose order had to be worked out; what stands in them is looked up for those that are shown."""

    def __init__(self, order: Sequence[Any], lines_of: Callable[[Sequence[Any]], Sequence[Line]]) -> None:
        self._order, self._lines_of = order, lines_of

    def count(self) -> int:
        return len(self._order)

    def __getitem__(self, places: slice) -> Sequence[Line]:
        return self._lines_of(self._order[places])

    def __iter__(self) -> Iterator[Line]:
        for at in range(0, len(self._order), AT_ONCE):
            yield from self._lines_of(self._order[at : at + AT_ONCE])


class Listed:
    """Lines that are all there."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines

    def count(self) -> int:
        return len(self._lines)

    def __getitem__(self, places: slice) -> Sequence[Line]:
        return self._lines[places]

    def __iter__(self) -> Iterator[Line]:
        return iter(self._lines)
