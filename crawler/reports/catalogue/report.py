"""The parts of a report: description, columns, lines, and the pages behind a line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from django.db.models import Q, QuerySet

from crawler.core.pages.page_field import Unit, ValueType
from crawler.core.pages.page_fields import FIELDS
from crawler.models import Crawl, Page
from crawler.reports import result_cache
from crawler.storage.queries import site_pages

Cell = str | int | None
Cells = tuple[Cell, ...]


class CellType(StrEnum):
    """The type of the cells of a column."""

    URL = "url"
    TEXT = "text"
    NUMBER = "number"
    MILLISECONDS = "ms"
    BYTES = "bytes"
    ANSWER = "answer"  # "404", or an outcome in words


class ReportColumn(NamedTuple):
    name: str  # for programs
    title: str  # for users
    kind: CellType = CellType.TEXT
    opens: bool = False  # its cells link to the parts of their lines


def page_column(name: str) -> ReportColumn:
    """The column of a field of a page."""
    field = FIELDS[name]
    return ReportColumn(field.name, field.label, _KINDS.get(field.unit) or _KINDS.get(field.type, CellType.TEXT))


_KINDS: dict[Unit | ValueType, CellType] = {
    Unit.MILLISECONDS: CellType.MILLISECONDS,
    Unit.BYTES: CellType.BYTES,
    ValueType.URL: CellType.URL,
    ValueType.INTEGER: CellType.NUMBER,
}


RESPONSE = ReportColumn("answer", "Response", CellType.ANSWER)
PAGES = ReportColumn("pages", "Pages", CellType.NUMBER, opens=True)


class ReportRow(NamedTuple):
    cells: Cells  # one for each column
    page: int | None = None  # the page the line is about
    part: str = ""  # the key for `Report.part`; "" = the line has no part


class ReportRows(Protocol):
    """The lines of a report; a slice reads only its own."""

    def count(self) -> int: ...

    def __getitem__(self, places: slice) -> Sequence[ReportRow]: ...

    def __iter__(self) -> Iterator[ReportRow]: ...


class RowDetail(NamedTuple):
    """The pages or links that one line counts."""

    title: str
    columns: tuple[ReportColumn, ...]
    lines: ReportRows


class ReportTable(NamedTuple):
    """A report as one table, with the parts of its lines: for files and programs."""

    columns: tuple[ReportColumn, ...]
    rows: Callable[[Crawl], Iterable[Cells]]


class ReportGroup(StrEnum):
    """The headings of the list of reports. A capability may have one of its own."""

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
    group: str  # the heading
    about: str  # what it shows, in a sentence or two
    remedy: str  # what to do about it
    praise: str  # shown when it has no lines
    columns: tuple[ReportColumn, ...]
    lines: Callable[[Crawl], ReportRows]
    noun: str = "page"  # of the lines
    which: Q | None = None  # the pages of the site it counts; one query counts all such reports
    number: Callable[[Crawl], int] | None = None  # without this and `which`, the number of lines
    is_finding: bool = True  # False: its number is neither good nor bad
    part: Callable[[Crawl, str], RowDetail | None] = field(
        default=lambda crawl, key: None
    )  # None: there is no such part
    lacking: Callable[[Crawl], str] = (
        _nothing  # why this crawl has no data for it, and what to do, to be `spoken`; "" = it has
    )
    not_requested: Callable[[Crawl], str] = _nothing  # what it cannot know of this crawl; to be `spoken`
    whole: ReportTable | None = None  # None = the lines are all there is

    def count(self, crawl: Crawl) -> int:
        if self.which is not None:
            return site_pages(crawl).filter(self.which).count()
        return self.number(crawl) if self.number else self.lines(crawl).count()

    @property
    def whole_columns(self) -> tuple[ReportColumn, ...]:
        return self.whole.columns if self.whole else self.columns

    def rows(self, crawl: Crawl) -> Iterable[Cells]:
        """All rows, each with a cell for each of `whole_columns`, with bounded memory."""
        return self.whole.rows(crawl) if self.whole else (line.cells for line in self.lines(crawl))


# The sources of lines: a query, a ranking, or a list.

ROWS_PER_CHUNK = 500


class PageRows:
    """One line for each page of a query.

    The ids of a crawl that cannot change any more are cached, so that the query runs once and any slice reads only its
    own pages.
    """

    def __init__(
        self, crawl: Crawl, pages: QuerySet[Page], fields: Sequence[str], line_of: Callable[..., ReportRow]
    ) -> None:
        """`pages` have a stable order; `line_of` gets the id of one, and its fields."""
        self._crawl, self._pages, self._fields, self._line_of = crawl, pages, ("id", *fields), line_of

    def count(self) -> int:
        return len(self._ids) if self._is_cached else self._pages.count()

    def __getitem__(self, places: slice) -> Sequence[ReportRow]:
        if self._is_cached:
            return self._lines(self._ids[places])
        return [self._line_of(*row) for row in self._pages.values_list(*self._fields)[places]]

    def __iter__(self) -> Iterator[ReportRow]:
        if self._is_cached:
            for at in range(0, len(self._ids), ROWS_PER_CHUNK):
                yield from self._lines(self._ids[at : at + ROWS_PER_CHUNK])
        else:
            rows = self._pages.values_list(*self._fields).iterator(chunk_size=ROWS_PER_CHUNK)
            yield from (self._line_of(*row) for row in rows)

    @property
    def _is_cached(self) -> bool:
        return result_cache.are_kept(self._crawl)

    @cached_property
    def _ids(self) -> Sequence[int]:
        return result_cache.ids_of(self._crawl, self._pages)

    def _lines(self, ids: Sequence[int]) -> Sequence[ReportRow]:
        found = {row[0]: row for row in Page.objects.filter(id__in=list(ids)).values_list(*self._fields)}
        return [self._line_of(*found[page]) for page in ids if page in found]


class RankedRows:
    """Lines in a computed order; only the cells of a slice are read."""

    def __init__(self, order: Sequence[Any], lines_of: Callable[[Sequence[Any]], Sequence[ReportRow]]) -> None:
        self._order, self._lines_of = order, lines_of

    def count(self) -> int:
        return len(self._order)

    def __getitem__(self, places: slice) -> Sequence[ReportRow]:
        return self._lines_of(self._order[places])

    def __iter__(self) -> Iterator[ReportRow]:
        for at in range(0, len(self._order), ROWS_PER_CHUNK):
            yield from self._lines_of(self._order[at : at + ROWS_PER_CHUNK])


class RowList(RankedRows):
    """Lines in memory."""

    def __init__(self, lines: Sequence[ReportRow]) -> None:
        super().__init__(lines, list)


def page_report(which: Q, fields: Sequence[str], *, largest: str = "", **described: Any) -> Report:
    """A report with one line for each page of the site that meets a condition. The cells are fields of the page; the
    order is that of discovery, or by a field with the largest value first."""
    paths = [FIELDS[name].path for name in fields]
    order = [f"-{FIELDS[largest].path}"] if largest else []

    def lines(crawl: Crawl) -> PageRows:
        return PageRows(crawl, site_pages(crawl).filter(which).order_by(*order, "id"), paths, page_line)

    described.setdefault("columns", tuple(map(page_column, fields)))
    return Report(which=which, lines=lines, **described)


def page_line(page: int, *cells: Cell) -> ReportRow:
    return ReportRow(cells, page)
