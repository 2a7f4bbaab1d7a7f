"""The reports of a crawl: all with their numbers; each with its lines, what lies behind one, and as a file."""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from crawler.models import Crawl
from crawler.reports import words
from crawler.reports.catalogue.counted import BUDGET, Numbers, number_of, numbers_of
from crawler.reports.catalogue.entries import BY_SLUG, REPORTS
from crawler.reports.catalogue.report import Group, Report
from crawler.web.cells import names, table_of
from crawler.web.crawls import visible_crawl
from crawler.web.shell import page
from crawler.web.tables import table_response


@never_cache
@require_GET
@page
def crawl_reports(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """All reports with their numbers. What takes long to count is counted when the page is asked for again, which it
    does by itself."""
    crawl = visible_crawl(request, crawl_id)
    numbers = numbers_of(crawl, BUDGET)
    entries = [_entry(crawl, report, numbers) for report in REPORTS]
    groups = [(name, list(members)) for name, members in groupby(entries, key=lambda entry: entry["group"])]
    context = {"crawl": crawl, "groups": groups, "is_counting": any(entry["is_counting"] for entry in entries)}
    return render(request, "crawler/reports.html", context)


@never_cache
@require_GET
@page
def crawl_report(request: HttpRequest, crawl_id: UUID, slug: str) -> HttpResponse:
    """One report, a page of its lines at a time."""
    crawl, report = visible_crawl(request, crawl_id), _named(slug)
    context: dict[str, Any] = {"crawl": crawl, "report": report, "lacking": report.lacking(crawl)}
    if not context["lacking"]:
        opened = partial(_part_address, crawl, report)
        context |= table_of(
            request, crawl, report.columns, report.lines(crawl), opened, bars=report.group is Group.FIGURES
        )
        context["count"] = words.counted(number_of(crawl, report), report.noun)
    return render(request, "crawler/report.html", context)


@never_cache
@require_GET
@page
def crawl_report_part(request: HttpRequest, crawl_id: UUID, slug: str, key: str) -> HttpResponse:
    """What lies behind one line of a report."""
    crawl, report = visible_crawl(request, crawl_id), _named(slug)
    part = None if report.lacking(crawl) else report.part(crawl, key)
    if part is None:
        raise Http404
    context = {"crawl": crawl, "report": report, "part": part}
    table = table_of(request, crawl, part.columns, part.lines, lambda key: "")
    context["count"] = words.counted(table["found"].paginator.count, "page")
    return render(request, "crawler/report_part.html", context | table)


@never_cache
@require_GET
@page
def crawl_report_export(request: HttpRequest, crawl_id: UUID, slug: str, export_format: str) -> StreamingHttpResponse:
    """All of a report as a file, streamed."""
    crawl, report = visible_crawl(request, crawl_id), _named(slug)
    rows = () if report.lacking(crawl) else report.rows(crawl)
    return table_response(f"{slug}-{crawl.id}", export_format, names(report.whole_columns), rows)


def _named(slug: str) -> Report:
    if slug not in BY_SLUG:
        raise Http404
    return BY_SLUG[slug]


def _part_address(crawl: Crawl, report: Report, key: str) -> str:
    return reverse("crawl-report-part", args=[crawl.id, report.slug, key])


def _entry(crawl: Crawl, report: Report, numbers: Numbers) -> dict[str, Any]:
    """One line of the list of reports. `tone`: good = there is nothing, warn = there is something, calm = no judgement,
    none = it cannot be told, or not yet."""
    lacking, number = report.lacking(crawl), numbers.get(report.slug)
    entry: dict[str, Any] = {"group": report.group.value, "slug": report.slug, "title": report.title}
    entry |= {"is_counting": not lacking and number is None, "number": "", "tone": ""}
    if lacking:
        return entry | {"said": lacking}
    if number is None:
        return entry | {"said": "Still being counted."}
    if number == 0:
        return entry | {"said": report.praise, "tone": "good", "number": "0"}
    tone = "warn" if report.is_finding else "calm"
    return entry | {"said": report.about, "tone": tone, "number": words.counted(number, report.noun)}
