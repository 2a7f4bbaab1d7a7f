"""Pages with the same or nearly the same text."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from django.db.models import Count, Min, QuerySet

from crawler.core.html.simhash import alike
from crawler.core.text.controls import by_surface
from crawler.models import Crawl, Page
from crawler.reports import result_cache
from crawler.reports.catalogue.page_queries import html_pages
from crawler.reports.catalogue.report import (
    PAGES,
    Cell,
    Cells,
    CellType,
    PageRows,
    RankedRows,
    Report,
    ReportColumn,
    ReportGroup,
    ReportRow,
    ReportRows,
    ReportTable,
    RowDetail,
    page_column,
)
from crawler.storage.bulk import chunks

_COMPARED = by_surface(command="--near-duplicates", page="“Find near-duplicates”", api="`near_duplicates`")


_GROUPS = (ReportColumn("first", "First page", CellType.URL), PAGES)
_MEMBERS = (page_column("url"), page_column("title"), page_column("words"), page_column("canonical"))
_WHOLE = (ReportColumn("group", "Similar to", CellType.URL), *_MEMBERS)
_FIELDS = ("url", "title", "facts__words", "facts__canonical")

Size = tuple[int, int]
"""The first page of a group, and its number of pages."""


def _read(crawl: Crawl) -> QuerySet[Page]:
    """Pages with text."""
    return html_pages(crawl).filter(facts__words__gt=0)


def _member(page: int, url: str, title: str, words: int, canonical: str) -> ReportRow:
    return ReportRow((url, title, words, canonical), page)


def _group_lines(groups: Sequence[Size]) -> list[ReportRow]:
    urls = dict(Page.objects.filter(id__in=[first for first, _ in groups]).values_list("id", "url"))
    return [ReportRow((urls[first], pages), first, str(first)) for first, pages in groups if first in urls]


def _title(page: int) -> str:
    return f"Pages similar to {Page.objects.get(id=page).url}"


# The same text, by its digest


def _groups(crawl: Crawl) -> QuerySet[Any, Any]:
    digests: QuerySet[Any, Any] = _read(crawl).values("facts__digest").annotate(pages=Count("id"), first=Min("id"))
    return digests.filter(pages__gt=1).order_by("-pages", "first")


def _lines(crawl: Crawl) -> ReportRows:
    sizes = result_cache.cached("same-content", lambda: list(_groups(crawl).values_list("first", "pages")), crawl)
    return RankedRows(sizes, _group_lines)


def _part(crawl: Crawl, key: str) -> RowDetail | None:
    found = _read(crawl).filter(id=int(key)).values_list("facts__digest", flat=True) if key.isdecimal() else []
    for digest in found:
        pages = _read(crawl).filter(facts__digest=digest).order_by("id")
        return RowDetail(_title(int(key)), _MEMBERS, PageRows(crawl, pages, _FIELDS, _member))
    return None


def _whole(crawl: Crawl) -> Iterator[Cells]:
    """Each page with the first of its group, group by group."""
    digests = _groups(crawl).order_by().values("facts__digest")
    pages = _read(crawl).filter(facts__digest__in=digests).order_by("facts__digest", "id")
    first: Cell = None
    last: Cell = ""
    for line in PageRows(crawl, pages, ("facts__digest", *_FIELDS), _with_digest):
        digest, *cells = line.cells
        if digest != last:
            first, last = cells[0], digest
        yield first, *cells


def _with_digest(page: int, digest: bytes, *cells: Any) -> ReportRow:
    return ReportRow((bytes(digest).hex(), *cells), page)


# Nearly the same text, by simhash


def _alike(crawl: Crawl) -> list[array[int]]:
    """Groups with more than one text; pages with the same text have their own report."""
    return result_cache.cached("alike", lambda: _compared(crawl), crawl)


def _compared(crawl: Crawl) -> list[array[int]]:
    rows = _read(crawl).filter(facts__sketch__gt=b"").order_by("id").values_list("id", "facts__sketch", "facts__digest")
    sketches, digests = dict[int, bytes](), dict[int, bytes]()
    for page, sketch, digest in rows.iterator():
        sketches[page], digests[page] = bytes(sketch), bytes(digest)
    return [result_cache.packed(pages) for pages in alike(sketches) if len({digests[page] for page in pages}) > 1]


def _alike_lines(crawl: Crawl) -> ReportRows:
    return RankedRows([(pages[0], len(pages)) for pages in _alike(crawl)], _group_lines)


def _alike_part(crawl: Crawl, key: str) -> RowDetail | None:
    first = int(key) if key.isdecimal() else 0
    for pages in _alike(crawl):
        if pages[0] == first:
            return RowDetail(_title(first), _MEMBERS, RankedRows(pages, _members))
    return None


def _members(ids: Sequence[int]) -> list[ReportRow]:
    rows = Page.objects.filter(id__in=list(ids)).order_by("id").values_list("id", *_FIELDS)
    return [_member(*row) for row in rows]


def _alike_whole(crawl: Crawl) -> Iterator[Cells]:
    for pages in _alike(crawl):
        members = [line for part in chunks(pages) for line in _members(part)]
        yield from ((members[0].cells[0], *line.cells) for line in members)


def _not_compared(crawl: Crawl) -> str:
    if crawl.chosen.near_duplicates:
        return ""
    return f"This crawl did not compare the texts of pages. Crawl again with {_COMPARED}."


_report = partial(Report, group=ReportGroup.CONTENT, columns=_GROUPS, noun="group")

DUPLICATE_CONTENT = _report(
    slug="duplicate-content",
    title="Duplicate content",
    about="Pages with the same visible text, word for word.",
    remedy="Keep one and redirect the others to it. If all must stay, name one of them canonical.",
    praise="No duplicate pages.",
    lines=_lines,
    part=_part,
    whole=ReportTable(_WHOLE, _whole),
)
NEAR_DUPLICATES = _report(
    slug="near-duplicates",
    title="Near-duplicates",
    about="Pages whose visible texts differ in about one word of two hundred, in groups of similar pages.",
    remedy="Make the pages more distinct, merge them, or name one of them canonical.",
    praise="No near-duplicate pages.",
    lines=_alike_lines,
    part=_alike_part,
    whole=ReportTable(_WHOLE, _alike_whole),
    lacking=_not_compared,
)
