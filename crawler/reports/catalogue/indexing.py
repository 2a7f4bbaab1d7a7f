"""Pages that search engines leave out of their results, and why."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from django.db.models import Case, CharField, Count, Q, QuerySet, Value, When

from crawler.core.pages.outcomes import ERROR_RESPONSES, ERRORS, FAILURES, SUCCESSES, Outcome
from crawler.models import Crawl
from crawler.reports import result_cache
from crawler.reports.catalogue.page_queries import IS_CANONICAL_ELSEWHERE, IS_NOINDEX, answer
from crawler.reports.catalogue.report import (
    PAGES,
    RESPONSE,
    Cells,
    PageRows,
    Report,
    ReportColumn,
    ReportGroup,
    ReportRow,
    ReportRows,
    ReportTable,
    RowDetail,
    RowList,
    page_column,
)
from crawler.storage.queries import site_pages

REASONS = {
    "error": "responds with an error",
    "no_answer": "does not respond",
    "redirect": "redirects",
    "robots": "forbidden by robots.txt",
    "noindex": "marked noindex",
    "canonical": "has another canonical URL",
}
"""Reason -> text. Of several reasons the first counts, as for a search engine."""

_WHY = Case(
    When(outcome__in=ERROR_RESPONSES, then=Value("error")),
    When(outcome__in=FAILURES, then=Value("no_answer")),
    When(outcome=Outcome.REDIRECT, then=Value("redirect")),
    When(outcome=Outcome.ROBOTS, then=Value("robots")),
    When(IS_NOINDEX, outcome__in=SUCCESSES, then=Value("noindex")),
    When(IS_CANONICAL_ELSEWHERE, outcome__in=SUCCESSES, then=Value("canonical")),
    default=Value(""),
    output_field=CharField(),
)
IS_LEFT_OUT = Q(outcome__in=[*ERRORS, Outcome.REDIRECT, Outcome.ROBOTS]) | (
    Q(outcome__in=SUCCESSES) & (IS_NOINDEX | IS_CANONICAL_ELSEWHERE)
)
_PAGE = (page_column("url"), RESPONSE, ReportColumn("note", "Details"))
_WHOLE = (_PAGE[0], ReportColumn("why", "Why"), *_PAGE[1:])
_FIELDS = ("url", "outcome", "http_status", "redirect_to", "error", "directives", "facts__canonical")


def _left_out(crawl: Crawl) -> QuerySet[Any, Any]:
    return site_pages(crawl).filter(IS_LEFT_OUT).annotate(why=_WHY)


def _lines(crawl: Crawl) -> ReportRows:
    counted = _left_out(crawl).order_by().values_list("why").annotate(pages=Count("id"))
    pages = result_cache.cached("non-indexable", lambda: dict(counted), crawl)
    return RowList([ReportRow((REASONS[why], pages[why]), part=why) for why in REASONS if why in pages])


def _part(crawl: Crawl, why: str) -> RowDetail | None:
    if why not in REASONS:
        return None
    pages = _left_out(crawl).filter(why=why).order_by("id")
    return RowDetail(REASONS[why].capitalize(), _PAGE, PageRows(crawl, pages, _FIELDS, partial(_line, why)))


def _line(why: str, page: int, url: str, outcome: str, http_status: int | None, *said: str | None) -> ReportRow:
    return ReportRow((url, answer(outcome, http_status), _note(why, *said)), page)


def _note(why: str, redirect_to: str | None, error: str | None, directives: str | None, canonical: str | None) -> Any:
    return {"redirect": redirect_to, "noindex": directives, "canonical": canonical}.get(why, error)


def _whole(crawl: Crawl) -> Iterator[Cells]:
    for row in _left_out(crawl).order_by("id").values_list("why", "id", *_FIELDS).iterator():
        url, *rest = _line(*row).cells
        yield (url, REASONS[row[0]], *rest)


NON_INDEXABLE = Report(
    slug="non-indexable",
    title="Non-indexable pages",
    group=ReportGroup.INDEXING,
    about="Pages that cannot appear in search results, each with its first reason.",
    remedy="Often this is intended. Look for pages that should be found: remove the noindex or the line of "
    "robots.txt, or make each its own canonical page.",
    praise="Search engines can index every page.",
    columns=(ReportColumn("why", "Why"), PAGES),
    lines=_lines,
    which=IS_LEFT_OUT,
    part=_part,
    whole=ReportTable(_WHOLE, _whole),
    is_finding=False,
)
