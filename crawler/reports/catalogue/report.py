"""What a report is: its words, its columns, its lines, and what lies behind a line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

from django.db.models import Q

from crawler.models import Crawl
from crawler.reports.catalogue.chosen import site_pages

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
