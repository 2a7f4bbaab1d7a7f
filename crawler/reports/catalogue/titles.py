"""Titles, descriptions and headings that are missing, repeated or too many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from django.db.models import Count, Min, Q, QuerySet

from crawler.core.pages.page_fields import FIELDS
from crawler.models import Crawl, Page
from crawler.reports import result_cache
from crawler.reports.catalogue.page_queries import IS_HTML, html_pages
from crawler.reports.catalogue.report import (
    PAGES,
    Cells,
    CellType,
    PageRows,
    RankedRows,
    Report,
    ReportColumn,
    ReportGroup,
    ReportRow,
    ReportTable,
    RowDetail,
    page_column,
    page_line,
    page_report,
)

_PAGE = ("url", "title")

NO_TITLE = IS_HTML & Q(title="")
NO_DESCRIPTION = IS_HTML & Q(facts__description="")
NO_H1 = IS_HTML & Q(facts__h1_count__gte=0, facts__h1="")
SEVERAL = IS_HTML & Q(facts__h1_count__gt=1)


def _groups(text: str, crawl: Crawl) -> QuerySet[Any, Any]:
    """Texts of several pages, those with the most pages first: text, pages, first page."""
    texts = html_pages(crawl).filter(**{f"{text}__gt": ""}).values(text)
    groups: QuerySet[Any, Any] = texts.annotate(pages=Count("id"), first=Min("id")).filter(pages__gt=1)
    return groups.order_by("-pages", "first")


def _group_lines(text: str, crawl: Crawl) -> RankedRows:
    sizes = result_cache.cached(f"same-{text}", lambda: list(_groups(text, crawl).values_list("first", "pages")), crawl)
    return RankedRows(sizes, partial(_texts, text))


def _texts(text: str, groups: Sequence[tuple[int, int]]) -> list[ReportRow]:
    """A line for each group, with the text of its first page."""
    texts = dict(Page.objects.filter(id__in=[first for first, _ in groups]).values_list("id", text))
    return [ReportRow((texts[first], pages), part=str(first)) for first, pages in groups if first in texts]


def _group(text: str, crawl: Crawl, key: str) -> RowDetail | None:
    """The pages with the text of this page."""
    found = html_pages(crawl).filter(id=int(key)).values_list(text, flat=True).first() if key.isdecimal() else None
    if not found:
        return None
    pages = html_pages(crawl).filter(**{text: found}).order_by("id")
    return RowDetail(str(found), tuple(map(page_column, _PAGE)), PageRows(crawl, pages, _PAGE, page_line))


def _members(text: str, crawl: Crawl) -> Iterator[Cells]:
    repeated = _groups(text, crawl).order_by().values(text)
    pages = html_pages(crawl).filter(**{f"{text}__in": repeated}).order_by(text, "id")
    return (line.cells for line in PageRows(crawl, pages, (text, "url"), page_line))


def _duplicates(name: str, **described: Any) -> Report:
    text, heading = FIELDS[name].path, page_column(name)
    return Report(
        group=ReportGroup.TEXTS,
        columns=(heading, PAGES),
        lines=partial(_group_lines, text),
        part=partial(_group, text),
        whole=ReportTable((heading, page_column("url")), partial(_members, text)),
        **described,
    )


MISSING_TITLES = page_report(
    NO_TITLE,
    _PAGE,
    slug="missing-titles",
    title="Missing titles",
    group=ReportGroup.TEXTS,
    about="Pages without a title element, or with an empty one.",
    remedy="Give each page its own title: it is the headline in search results, and the name of the tab.",
    praise="Every page has a title.",
)
DUPLICATE_TITLES = _duplicates(
    "title",
    slug="duplicate-titles",
    title="Duplicate titles",
    about="Titles that several pages share.",
    remedy="Give each page its own title. If the pages are the same, redirect one to the other, or name one of them "
    "canonical.",
    praise="Every title is unique.",
    noun="title",
)
MISSING_DESCRIPTIONS = page_report(
    NO_DESCRIPTION,
    _PAGE,
    slug="missing-descriptions",
    title="Missing descriptions",
    group=ReportGroup.TEXTS,
    about="Pages without a meta description, or with an empty one.",
    remedy="Describe the page in a sentence or two; otherwise search engines choose a text.",
    praise="Every page has a description.",
)
DUPLICATE_DESCRIPTIONS = _duplicates(
    "description",
    slug="duplicate-descriptions",
    title="Duplicate descriptions",
    about="Meta descriptions that several pages share.",
    remedy="Write one for each page, or none.",
    praise="Every description is unique.",
    noun="description",
)
MISSING_H1 = page_report(
    NO_H1,
    _PAGE,
    slug="missing-h1",
    title="Missing headings",
    group=ReportGroup.TEXTS,
    about="Pages without a main heading (h1), or with an empty one.",
    remedy="Begin the content with one h1 that names it; screen readers jump to it.",
    praise="Every page has a main heading.",
)
SEVERAL_H1 = page_report(
    SEVERAL,
    ("url", "h1", "h1_count"),
    largest="h1_count",
    slug="several-h1",
    title="Several headings",
    group=ReportGroup.TEXTS,
    about="Pages with more than one main heading (h1).",
    remedy="Keep one h1 for the subject of the page, and make the others h2. Logos and sidebars need none.",
    praise="No page has more than one main heading.",
    columns=(
        page_column("url"),
        ReportColumn("h1", "First heading"),
        ReportColumn("number", "Headings", CellType.NUMBER),
    ),
)
DUPLICATE_H1 = _duplicates(
    "h1",
    slug="duplicate-h1",
    title="Duplicate headings",
    about="Main headings (h1) that several pages share.",
    remedy="Give each page its own main heading.",
    praise="Every main heading is unique.",
    noun="heading",
)
