"""Compares two crawls page by page: new, removed and changed pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet

from crawler.core.errors import BadInput
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.cache_policy import uses_cache
from crawler.core.pages.outcomes import SUCCESSES, UNJUDGED, Outcome
from crawler.core.protocol.messages import PAGE
from crawler.models import Crawl, Page
from crawler.reports import result_cache, text
from crawler.reports.catalogue.entries import NUMBER_TTL_S, RUNNING_NUMBER_TTL_S
from crawler.reports.catalogue.page_queries import answer
from crawler.reports.catalogue.report import RESPONSE, Cells, CellType, ReportColumn, ReportRow, page_column
from crawler.storage.database import streaming_cursor

ROWS_READ = 500  # rows in memory at a time
MAX_OFFERED = 20  # other crawls to compare with

_PAGE = page_column("url")


def _among(outcomes: Sequence[Outcome]) -> str:
    return ", ".join(f"'{outcome.value}'" for outcome in outcomes)


def _said(page: str) -> str:
    """The response of a page; 304 counts as 200."""
    said = f"{page}.outcome || '/' || coalesce({page}.http_status, 0)"
    return f"CASE WHEN {page}.outcome = '{Outcome.UNCHANGED}' THEN '{Outcome.SUCCESS}/200' ELSE {said} END"


def _only(one: str, other: str) -> str:
    """Pages of one crawl that the other does not have."""
    return f"""page.crawl_id = %({one})s AND page.kind = '{PAGE}' AND NOT EXISTS (
            SELECT 1 FROM crawler_page twin
            WHERE twin.crawl_id = %({other})s AND twin.key = page.key AND twin.kind = '{PAGE}')
    """  # noqa: S608 (made of our own words)


_ONE = "crawler_page page"
_BOTH = f"""{_ONE}
    JOIN crawler_page twin ON twin.crawl_id = %(before)s AND twin.key = page.key AND twin.kind = '{PAGE}'
"""
_OF_THE_CRAWL = f"page.crawl_id = %(now)s AND page.kind = '{PAGE}'"
_BOTH_GOOD = f"AND page.outcome IN ({_among(SUCCESSES)}) AND twin.outcome IN ({_among(SUCCESSES)})"


@dataclass(frozen=True, kw_only=True)
class Change:
    """One way in which the pages of two crawls differ."""

    slug: str
    title: str
    about: str
    praise: str  # shown when there is none
    columns: tuple[ReportColumn, ...]
    selected: str  # the page's id and the columns; a response is an outcome and a status
    tables: str  # the FROM clause
    condition: str  # the WHERE clause
    is_of_now: bool = True  # the page belongs to the later crawl


CHANGES = (
    Change(
        slug="new",
        title="New",
        about="Pages that the earlier crawl did not have.",
        praise="No new pages.",
        columns=(_PAGE, RESPONSE, page_column("title")),
        selected="page.id, page.url, page.outcome, page.http_status, page.title",
        tables=_ONE,
        condition=_only("now", "before"),
    ),
    Change(
        slug="gone",
        title="Gone",
        about="Pages of the earlier crawl that this crawl did not find.",
        praise="No pages are gone.",
        columns=(
            _PAGE,
            ReportColumn("answer", "Response before", CellType.ANSWER),
            ReportColumn("title", "Title before"),
        ),
        selected="page.id, page.url, page.outcome, page.http_status, page.title",
        tables=_ONE,
        condition=_only("before", "now"),
        is_of_now=False,
    ),
    Change(
        slug="status",
        title="Changed response",
        about="Pages that both crawls requested, with a different response.",
        praise="Every page responded as before.",
        columns=(_PAGE, ReportColumn("before", "Before", CellType.ANSWER), ReportColumn("now", "Now", CellType.ANSWER)),
        selected="page.id, page.url, twin.outcome, twin.http_status, page.outcome, page.http_status",
        tables=_BOTH,
        condition=f"""{_OF_THE_CRAWL} AND page.status = 1 AND twin.status = 1 AND {_said("page")} <> {_said("twin")}
            AND page.outcome NOT IN ({_among(UNJUDGED)}) AND twin.outcome NOT IN ({_among(UNJUDGED)})""",
    ),
    Change(
        slug="title",
        title="Changed title",
        about="Pages with a 2xx response in both crawls and a different title.",
        praise="No title changed.",
        columns=(_PAGE, ReportColumn("before", "Before"), ReportColumn("now", "Now")),
        selected="page.id, page.url, twin.title, page.title",
        tables=_BOTH,
        condition=f"{_OF_THE_CRAWL} {_BOTH_GOOD} AND page.title <> twin.title",
    ),
    Change(
        slug="content",
        title="Changed content",
        about="Pages with a 2xx response in both crawls whose visible text changed, even by one word.",
        praise="No content changed.",
        columns=(
            _PAGE,
            page_column("title"),
            ReportColumn("words_before", "Words before", CellType.NUMBER),
            ReportColumn("words_now", "Words now", CellType.NUMBER),
        ),
        selected="page.id, page.url, page.title, facts_twin.words, facts.words",
        tables=f"""{_BOTH} JOIN crawler_pagefacts facts ON facts.page_id = page.id
            JOIN crawler_pagefacts facts_twin ON facts_twin.page_id = twin.id""",
        condition=f"""{_OF_THE_CRAWL} {_BOTH_GOOD} AND facts.digest <> facts_twin.digest
            AND length(facts.digest) > 0 AND length(facts_twin.digest) > 0""",
    ),
)
CHANGES_BY_SLUG = {change.slug: change for change in CHANGES}


class ChangedPages:
    """The pages of two crawls that differ in one way, in the order of their discovery."""

    def __init__(self, now: Crawl, before: Crawl, change: Change, known: int | None = None) -> None:
        """`known`: their number, if it is counted already."""
        prepared = Crawl._meta.pk.get_db_prep_value
        self._sides = now, before
        self._crawls = {"now": prepared(now.id, connection), "before": prepared(before.id, connection)}
        self._change, self._known = change, known

    def count(self) -> int:
        if self._known is not None:
            return self._known
        if self._is_kept:
            return len(self._ids)
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) {self._found}", self._crawls)
            return int(cursor.fetchone()[0])

    def __getitem__(self, places: slice) -> Sequence[ReportRow]:
        if self._is_kept:
            return self._lines(self._ids[places])
        start = places.start or 0
        with connection.cursor() as cursor:
            cursor.execute(
                f"{self._question} LIMIT %(limit)s OFFSET %(offset)s",
                {**self._crawls, "limit": places.stop - start, "offset": start},
            )
            return [self._line(row) for row in cursor.fetchall()]

    def __iter__(self) -> Iterator[ReportRow]:
        if self._is_kept:
            for at in range(0, len(self._ids), ROWS_READ):
                yield from self._lines(self._ids[at : at + ROWS_READ])
            return
        with streaming_cursor(connection) as cursor:
            cursor.execute(self._question, self._crawls)
            while rows := cursor.fetchmany(ROWS_READ):
                yield from map(self._line, rows)

    @property
    def _question(self) -> str:
        return f"SELECT {self._change.selected} {self._found} ORDER BY page.id"

    @property
    def _found(self) -> str:
        return f"FROM {self._change.tables} WHERE {self._change.condition}"

    @property
    def _is_kept(self) -> bool:
        return result_cache.are_kept(*self._sides)

    @cached_property
    def _ids(self) -> Sequence[int]:
        """The ids of the pages are cached when both crawls are over."""
        return result_cache.cached(f"changed-{self._change.slug}", self._asked, *self._sides)

    def _asked(self) -> Sequence[int]:
        with streaming_cursor(connection) as cursor:
            cursor.execute(f"SELECT page.id {self._found} ORDER BY page.id", self._crawls)
            return result_cache.packed(
                page for rows in iter(lambda: cursor.fetchmany(ROWS_READ), []) for (page,) in rows
            )

    def _lines(self, ids: Sequence[int]) -> Sequence[ReportRow]:
        if not ids:
            return []
        change, among = self._change, ", ".join(map(str, ids))  # only numbers
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT {change.selected} FROM {change.tables} WHERE page.id IN ({among}) ORDER BY page.id",  # noqa: S608
                self._crawls,
            )
            return [self._line(row) for row in cursor.fetchall()]

    def _line(self, row: Sequence[Any]) -> ReportRow:
        page, *values = row
        rest = iter(values)
        cells = tuple(
            answer(next(rest), next(rest)) if column.kind is CellType.ANSWER else next(rest)
            for column in self._change.columns
        )
        return ReportRow(cells, page if self._change.is_of_now else None)


def changes_between(now: Crawl, before: Crawl) -> dict[str, int]:
    """Slug -> the number of pages that differ so; cached."""
    key = f"comparison:{result_cache.moment_of(now)}:{result_cache.moment_of(before)}"
    numbers = result_cache.cache_for(now, before)
    known: dict[str, int] | None = numbers.get(key)
    if known is None:
        known = {change.slug: ChangedPages(now, before, change).count() for change in CHANGES}
        numbers.set(key, known, NUMBER_TTL_S if now.is_over and before.is_over else RUNNING_NUMBER_TTL_S)
    return known


def rows(now: Crawl, before: Crawl, change: Change) -> Iterator[Cells]:
    return (line.cells for line in ChangedPages(now, before, change))


def change_named(slug: str) -> Change:
    """The change of this name; BadInput when there is none."""
    if slug not in CHANGES_BY_SLUG:
        raise BadInput("change", f"No change is called {slug!r}. Choose one of: {', '.join(CHANGES_BY_SLUG)}.")
    return CHANGES_BY_SLUG[slug]


def comparable(crawl: Crawl, among: QuerySet[Crawl]) -> list[Crawl]:
    """Crawls to compare this one with: the previous run, then others with the same start URLs, newest first."""
    others = among.exclude(id=crawl.id)
    alike = others.filter(start_urls=crawl.start_urls, source=crawl.source).order_by("-created_at")[:MAX_OFFERED]
    before = others.filter(next_runs=crawl)
    return list({found.id: found for found in chain(before, alike)}.values())


def other_options(now: Crawl, before: Crawl) -> list[str]:
    """The options in which the two crawls differ, which can cause differences between unchanged pages."""
    one, other = now.chosen, before.chosen
    unlike = (name for name in CrawlOptions.__struct_fields__ if getattr(one, name) != getattr(other, name))
    return [name for name in unlike if not name.startswith("notify")]


# A crawl and earlier ones: cached responses, and differences from the previous run.

COMPARED = 200_000  # pages; more take too long to compare in a request


@dataclass(frozen=True)
class Comparison:
    """The differences of two runs, by URL."""

    new: int  # pages the previous run did not have
    gone: int  # pages only the previous run had
    unchanged: int  # pages with a 304 response

    def __str__(self) -> str:
        parts = [f"{text.count(self.new)} new", f"{text.count(self.gone)} gone"]
        return ", ".join([*parts, f"{text.count(self.unchanged)} confirmed unchanged"] if self.unchanged else parts)


def from_memory(crawl: Crawl) -> str:
    """The numbers of 304 and cached responses in a sentence; "" for a crawl that requests everything."""
    if not uses_cache(crawl.chosen):
        return ""
    unchanged = crawl.tallies.outcomes.get(Outcome.UNCHANGED, 0)
    reused = Page.objects.filter(crawl=crawl, reused=True).count() if crawl.chosen.response_ttl is not None else 0
    parts = []
    if unchanged:
        parts.append(f"{text.counted(unchanged, 'page')} unchanged since last time")
    if reused:
        parts.append(f"{text.counted(reused, 'page')} not requested, because a response was cached")
    return f"{'; '.join(parts)}." if parts else ""


def compared(crawl: Crawl) -> Comparison | None:
    """The crawl compared with the previous run; None while either runs, without one, and for very large ones."""
    previous = crawl.previous
    if previous is None or not crawl.is_over or not previous.is_over:
        return None
    if max(crawl.discovered, previous.discovered) > COMPARED:
        return None
    return Comparison(
        new=_only_in(crawl, previous),
        gone=_only_in(previous, crawl),
        unchanged=crawl.tallies.outcomes.get(Outcome.UNCHANGED, 0),
    )


def _only_in(one: Crawl, other: Crawl) -> int:
    same = Page.objects.filter(crawl=other, key=OuterRef("key"), kind=PAGE)
    return Page.objects.filter(~Exists(same), crawl=one, kind=PAGE).count()
