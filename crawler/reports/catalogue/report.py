"""What a report is: its words, its columns, its lines, and what lies behind a line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from django.db.models import Q, QuerySet

from crawler.models import Crawl, Page
from crawler.reports import result_cache
from crawler.reports.catalogue.page_queries import site_pages

Cell = str | int | None
Cells = tuple[Cell, ...]


class Kind(StrEnum):
    """What the cells of a column hold."""

    URL = "url"
    TEXT = "text"
    NUMBER = "number"
    MILLISECONDS = "ms"
    BYTES = "bytes"
    ANSWER = "answer"  # "404", or the words for an outcome without a response


class Column(NamedTuple):
    name: str  # for programs
    title: str  # for people
    kind: Kind = Kind.TEXT
    opens: bool = False  # its cells lead to what lies behind their lines


class Line(NamedTuple):
    cells: Cells  # one for each column
    page: int | None = None  # the page the line is about
    part: str = ""  # what `Report.part` is asked for to see more; "" = there is no more


class Lines(Protocol):
    """The lines of a report, of which only those are had that are asked for."""

    def count(self) -> int: ...

    def __getitem__(self, places: slice) -> Sequence[Line]: ...

    def __iter__(self) -> Iterator[Line]: ...


class Part(NamedTuple):
    """What lies behind one line."""

    title: str
    columns: tuple[Column, ...]
    lines: Lines


class Whole(NamedTuple):
    """A report as one table, with what lies behind its lines: for files and programs."""

    columns: tuple[Column, ...]
    rows: Callable[[Crawl], Iterable[Cells]]


class Group(StrEnum):
    """The headings under which reports stand."""

    LINKS = "Links and redirects"
    TEXTS = "Titles, descriptions and headings"
    CONTENT = "Content"
    INDEXING = "Search engines"
    WEIGHT = "Speed and size"
    FIGURES = "The site in figures"


def _nothing(crawl: Crawl) -> str:
    return ""


@dataclass(frozen=True, kw_only=True)
class Report:
    slug: str  # in addresses and commands
    title: str
    group: Group
    about: str  # what it tells, in a sentence or two
    remedy: str  # what to do about it
    praise: str  # what to say when there is nothing
    columns: tuple[Column, ...]
    lines: Callable[[Crawl], Lines]
    noun: str = "page"  # what is counted
    which: Q | None = None  # the pages of the site it counts: so many reports are counted in one reading
    number: Callable[[Crawl], int] | None = None  # how many; without either, as many as there are lines
    is_finding: bool = True  # False: its number is good or bad for nobody
    part: Callable[[Crawl, str], Part | None] = field(default=lambda crawl, key: None)  # None: there is no such part
    lacking: Callable[[Crawl], str] = _nothing  # why this crawl cannot tell, and what to do; "" = it can
    whole: Whole | None = None  # None = the lines are all there is

    def count(self, crawl: Crawl) -> int:
        if self.which is not None:
            return site_pages(crawl).filter(self.which).count()
        return self.number(crawl) if self.number else self.lines(crawl).count()

    @property
    def whole_columns(self) -> tuple[Column, ...]:
        return self.whole.columns if self.whole else self.columns

    def rows(self, crawl: Crawl) -> Iterable[Cells]:
        """All of it, one row after the other, each with a cell for each of `whole_columns`; memory stays bounded."""
        return self.whole.rows(crawl) if self.whole else (line.cells for line in self.lines(crawl))


# Where the lines of a report come from: the database, a ranking, or a list.

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
        return result_cache.are_kept(self._crawl)

    @cached_property
    def _ids(self) -> Sequence[int]:
        return result_cache.ids_of(self._crawl, self._pages)

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
