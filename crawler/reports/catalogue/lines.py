"""Where the lines of a report come from: the database, a ranking, or a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from django.db.models import QuerySet

from crawler.models import Crawl, Page
from crawler.reports import kept
from crawler.reports.catalogue.report import Line

AT_ONCE = 500  # rows in memory at a time


class Selected:
    """One line for each of the pages a question to the database finds.

    Of a crawl that cannot change their ids are kept, so that the question is asked once and any part of its answer is
    had by the ids: these few pages are read, however many there are before them.
    """

    def __init__(
        self, crawl: Crawl, pages: QuerySet[Page], fields: Sequence[str], line_of: Callable[..., Line]
    ) -> None:
        """`pages` are in an order that is the same each time; `line_of` gets the id of one, and its fields."""
        self._crawl, self._pages, self._fields, self._line_of = crawl, pages, ("id", *fields), line_of

    def count(self) -> int:
        return len(self._ids) if self._is_kept else self._pages.count()

    def __getitem__(self, places: slice) -> Sequence[Line]:
        if self._is_kept:
            return self._lines(self._ids[places])
        return [self._line_of(*row) for row in self._pages.values_list(*self._fields)[places]]

    def __iter__(self) -> Iterator[Line]:
        if self._is_kept:
            for at in range(0, len(self._ids), AT_ONCE):
                yield from self._lines(self._ids[at : at + AT_ONCE])
        else:
            rows = self._pages.values_list(*self._fields).iterator(chunk_size=AT_ONCE)
            yield from (self._line_of(*row) for row in rows)

    @property
    def _is_kept(self) -> bool:
        return kept.are_kept(self._crawl)

    @cached_property
    def _ids(self) -> Sequence[int]:
        return kept.ids_of(self._crawl, self._pages)

    def _lines(self, ids: Sequence[int]) -> Sequence[Line]:
        found = {row[0]: row for row in Page.objects.filter(id__in=list(ids)).values_list(*self._fields)}
        return [self._line_of(*found[page]) for page in ids if page in found]


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
