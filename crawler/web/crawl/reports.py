"""The views of reports and comparisons: lists with numbers, lines, the parts of a line, and files."""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from crawler.accounts.permissions import visible_crawls
from crawler.core.text.controls import Surface, spoken
from crawler.models import Crawl
from crawler.reports import comparison, text
from crawler.reports.catalogue.entries import BUDGET, BY_SLUG, REPORTS, Numbers, number_of, numbers_of
from crawler.reports.catalogue.report import Report, ReportGroup
from crawler.reports.comparison import CHANGES, CHANGES_BY_SLUG, Change, ChangedPages, changes_between
from crawler.web.crawl.crawls import visible_crawl
from crawler.web.decorators import page_to_read
from crawler.web.tables.rows import names, table_of, table_response


@page_to_read
def crawl_reports(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """All reports with their numbers. The page reloads itself until all of them are counted."""
    crawl = visible_crawl(request, crawl_id)
    numbers = numbers_of(crawl, BUDGET)
    entries = [_entry(crawl, report, numbers) for report in REPORTS]
    groups = [(name, list(members)) for name, members in groupby(entries, key=lambda entry: entry["group"])]
    context = {"crawl": crawl, "groups": groups, "is_counting": any(entry["is_counting"] for entry in entries)}
    return render(request, "crawler/reports.html", context)


@page_to_read
def crawl_report(request: HttpRequest, crawl_id: UUID, slug: str) -> HttpResponse:
    """One report with a page of its lines."""
    crawl, report = visible_crawl(request, crawl_id), _named(slug)
    context: dict[str, Any] = {"crawl": crawl, "report": report, "lacking": _lacking(crawl, report)}
    context["not_requested"] = spoken(report.not_requested(crawl), Surface.PAGE)
    if not context["lacking"]:
        opened = partial(_part_address, crawl, report)
        context |= table_of(
            request, crawl, report.columns, report.lines(crawl), opened, bars=report.group is ReportGroup.FIGURES
        )
        context["count"] = text.counted(number_of(crawl, report), report.noun)
    return render(request, "crawler/report.html", context)


@page_to_read
def crawl_report_part(request: HttpRequest, crawl_id: UUID, slug: str, key: str) -> HttpResponse:
    """The part of one line of a report."""
    crawl, report = visible_crawl(request, crawl_id), _named(slug)
    part = None if report.lacking(crawl) else report.part(crawl, key)
    if part is None:
        raise Http404
    context = {"crawl": crawl, "report": report, "part": part}
    table = table_of(request, crawl, part.columns, part.lines, lambda key: "")
    context["count"] = text.counted(table["found"].paginator.count, "page")
    return render(request, "crawler/report_part.html", context | table)


@page_to_read
def crawl_report_export(request: HttpRequest, crawl_id: UUID, slug: str, export_format: str) -> StreamingHttpResponse:
    """A whole report as a file, streamed."""
    crawl, report = visible_crawl(request, crawl_id), _named(slug)
    rows = () if report.lacking(crawl) else report.rows(crawl)
    return table_response(f"{slug}-{crawl.id}", export_format, names(report.whole_columns), rows)


def _named(slug: str) -> Report:
    if slug not in BY_SLUG:
        raise Http404
    return BY_SLUG[slug]


def _part_address(crawl: Crawl, report: Report, key: str) -> str:
    return reverse("crawl-report-part", args=[crawl.id, report.slug, key])


def _lacking(crawl: Crawl, report: Report) -> str:
    return spoken(report.lacking(crawl), Surface.PAGE)


def _entry(crawl: Crawl, report: Report, numbers: Numbers) -> dict[str, Any]:
    """One line of the list of reports. `tone`: good = no lines, warn = some, calm = neither good nor bad, none = no
    data yet."""
    lacking, number = _lacking(crawl, report), numbers.get(report.slug)
    entry: dict[str, Any] = {"group": str(report.group), "slug": report.slug, "title": report.title}
    entry |= {"is_counting": not lacking and number is None, "number": "", "tone": ""}
    if lacking:
        return entry | {"said": lacking}
    if number is None:
        return entry | {"said": "Still being counted."}
    if number == 0:
        return entry | {"said": report.praise, "tone": "good", "number": "0"}
    tone = "warn" if report.is_finding else "calm"
    return entry | {"said": report.about, "tone": tone, "number": text.counted(number, report.noun)}


@page_to_read
def crawl_compare(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """The crawls this one can be compared with."""
    crawl = visible_crawl(request, crawl_id)
    others = comparison.comparable(crawl, visible_crawls(request.user))
    return render(request, "crawler/compare.html", {"crawl": crawl, "others": others})


@page_to_read
def crawl_comparison(request: HttpRequest, crawl_id: UUID, other_id: UUID) -> HttpResponse:
    """The numbers of pages that are new, gone and changed since the other crawl."""
    context = _sides(request, crawl_id, other_id)
    numbers = changes_between(context["crawl"], context["other"])
    context["changes"] = [_compared_entry(change, numbers[change.slug]) for change in CHANGES]
    return render(request, "crawler/comparison.html", context)


@page_to_read
def crawl_comparison_change(request: HttpRequest, crawl_id: UUID, other_id: UUID, slug: str) -> HttpResponse:
    """A page of the pages that differ in one way."""
    context, change = _sides(request, crawl_id, other_id), _comparison_named(slug)
    known = changes_between(context["crawl"], context["other"])[slug]
    lines = ChangedPages(context["crawl"], context["other"], change, known)
    context |= table_of(request, context["crawl"], change.columns, lines, lambda key: "")
    context |= {"change": change, "count": text.counted(known, "page")}
    return render(request, "crawler/comparison_change.html", context)


@page_to_read
def crawl_comparison_export(
    request: HttpRequest, crawl_id: UUID, other_id: UUID, slug: str, export_format: str
) -> StreamingHttpResponse:
    """All pages that differ in one way as a file, streamed."""
    sides, change = _sides(request, crawl_id, other_id), _comparison_named(slug)
    rows = comparison.rows(sides["crawl"], sides["other"], change)
    return table_response(f"{slug}-{crawl_id}-{other_id}", export_format, names(change.columns), rows)


def _sides(request: HttpRequest, crawl_id: UUID, other_id: UUID) -> dict[str, Any]:
    """Both crawls, if the user may see both, and what makes them hard to compare."""
    crawl = visible_crawl(request, crawl_id)
    other: Crawl = get_object_or_404(visible_crawls(request.user), pk=other_id)
    if crawl.pk == other.pk:
        raise Http404
    return {
        "crawl": crawl,
        "other": other,
        "other_options": comparison.other_options(crawl, other),
        "are_over": crawl.is_over and other.is_over,
    }


def _comparison_named(slug: str) -> Change:
    if slug not in CHANGES_BY_SLUG:
        raise Http404
    return CHANGES_BY_SLUG[slug]


def _compared_entry(change: Change, number: int) -> dict[str, str]:
    return {
        "slug": change.slug,
        "title": change.title,
        "number": text.counted(number, "page") if number else "0",
        "said": change.about if number else change.praise,
        "tone": "calm" if number else "good",
    }
