"""Schemas of reports, comparisons and the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Schema
from pydantic import ConfigDict, Field, RootModel

from crawler.api.addresses import address
from crawler.api.openapi import CRAWL_ID
from crawler.api.paging import by_position
from crawler.api.schemas.crawl import CRAWL_LINE_EXAMPLE, ROOT, CrawlLine
from crawler.api.schemas.fields import fields_of
from crawler.core.text.controls import Surface, spoken
from crawler.models import Crawl
from crawler.reports import comparison
from crawler.reports.catalogue import report
from crawler.reports.catalogue.entries import REPORTS
from crawler.reports.catalogue.report import Report
from crawler.reports.graph import Graph, nodes, summary

Cell = str | int | None


class ReportColumn(Schema):
    name: str = Field(description="The key of its cells.")
    title: str
    kind: report.CellType = Field(description="The type of its cells. A `url` cell may have several URLs, one a line.")


class ReportRow(Schema):
    cells: dict[str, Cell] = Field(description="By the names of the columns.")
    page: int | None = Field(description="The id of the page of the line.")
    key: str | None = Field(
        description="The value of `/lines?key=` for the details of this line; null without details."
    )


class ReportTable(Schema):
    columns: list[ReportColumn]
    items: list[ReportRow]
    next: str | None = Field(description="The address of the next page; null on the last one.")


def columns_of(columns: Iterable[report.ReportColumn]) -> list[dict[str, str]]:
    return [fields_of(ReportColumn, column) for column in columns]


def table_of(
    request: HttpRequest,
    columns: Sequence[report.ReportColumn],
    lines: Callable[[slice], Sequence[report.ReportRow]],
    cursor: str | None,
    limit: int,
) -> dict[str, Any]:
    """A page of the lines, with the columns."""
    names = [column.name for column in columns]
    listed = by_position(request, lines, cursor, limit)
    return {**listed, "columns": columns_of(columns), "items": [_line_of(names, line) for line in listed["items"]]}


def _line_of(names: Sequence[str], line: report.ReportRow) -> dict[str, Any]:
    return {"cells": dict(zip(names, line.cells, strict=True)), "page": line.page, "key": line.part or None}


COLUMNS_EXAMPLE: list[dict[str, str]] = [
    {"name": "url", "title": "Page", "kind": "url"},
    {"name": "answer", "title": "Response", "kind": "answer"},
]
LINE_EXAMPLE: dict[str, Any] = {
    "cells": {"url": "https://example.com/gone", "answer": "404"},
    "page": 4712,
    "key": "4712",
}
TABLE_EXAMPLE: dict[str, Any] = {"columns": COLUMNS_EXAMPLE, "items": [LINE_EXAMPLE], "next": None}


OTHER_ID = "7d1f0f43-0d8e-4c59-8f0e-2f6f1c9b7e20"


class Comparable(Schema):
    """Crawls to compare a crawl with."""

    items: list[CrawlLine]


class ChangeEntry(Schema):
    """One way in which pages differ."""

    slug: str
    title: str
    about: str
    number: int = Field(description="Pages with this difference.")
    url: str


class Comparison(Schema):
    """The differences between a crawl and an earlier one."""

    crawl: UUID
    other: UUID
    other_options: list[str] = Field(description="Options that differ, which may explain differences.")
    are_over: bool = Field(description="False while one of them still runs, so that the numbers will change.")
    changes: list[ChangeEntry]


class ChangeWhole(ChangeEntry, ReportTable):
    """The pages that differ in one way."""


def comparison_of(crawl: Crawl, other: Crawl) -> dict[str, Any]:
    numbers = comparison.changes_between(crawl, other)
    return {
        "crawl": crawl.id,
        "other": other.id,
        "other_options": comparison.other_options(crawl, other),
        "are_over": crawl.is_over and other.is_over,
        "changes": [compared_entry_of(crawl, other, change, numbers[change.slug]) for change in comparison.CHANGES],
    }


def compared_entry_of(crawl: Crawl, other: Crawl, change: comparison.Change, number: int) -> dict[str, Any]:
    url = address("crawls", crawl.id, "comparisons", other.id, change.slug)
    return fields_of(ChangeEntry, change, number=number, url=url)


COMPARED_EXAMPLE = fields_of(
    ChangeEntry, comparison.CHANGES_BY_SLUG["new"], number=1, url=f"{ROOT}/.../comparisons/.../new"
)
COMPARISON_EXAMPLE: dict[str, Any] = {
    "crawl": CRAWL_ID,
    "other": OTHER_ID,
    "other_options": ["max_pages"],
    "are_over": True,
    "changes": [COMPARED_EXAMPLE],
}
CHANGE_EXAMPLE: dict[str, Any] = {**COMPARED_EXAMPLE, **TABLE_EXAMPLE}
COMPARABLE_EXAMPLE: dict[str, Any] = {"items": [{**CRAWL_LINE_EXAMPLE, "id": OTHER_ID, "url": f"{ROOT}/{OTHER_ID}"}]}


class ReportGroup(RootModel[str]):
    """The headings of the list of reports."""

    model_config = ConfigDict(json_schema_extra={"enum": [*dict.fromkeys(str(each.group) for each in REPORTS)]})


class ReportEntry(Schema):
    """A report in the list of reports."""

    slug: str
    title: str
    group: ReportGroup
    about: str
    remedy: str = Field(description="How to fix it.")
    noun: str = Field(description="The unit of the number.")
    is_finding: bool = Field(description="False when its number is neither good nor bad.")
    number: int | None = Field(description="The number of lines; null without data, or while it is being counted.")
    lacking: str = Field(description='Why this crawl has no data for it, and what to do; "" when it has.')
    not_requested: str = Field(
        description='The pages missing from the report because they were not requested; "" = none.'
    )
    url: str


class Reports(Schema):
    items: list[ReportEntry]
    is_counting: bool = Field(description="Some numbers take long: request them again in a moment.")


class ReportWhole(ReportEntry, ReportTable):
    """A report with a page of its lines."""


class ReportPart(ReportTable):
    """The part of one line of a report."""

    title: str


def entry_of(crawl: Crawl, report: Report, number: int | None) -> dict[str, Any]:
    return fields_of(
        ReportEntry,
        report,
        number=number,
        lacking=spoken(report.lacking(crawl), Surface.API),
        not_requested=spoken(report.not_requested(crawl), Surface.API),
        url=address("crawls", crawl.id, "reports", report.slug),
    )


ENTRY_EXAMPLE: dict[str, Any] = {
    "slug": "broken-links",
    "title": "Broken links",
    "group": "Links and redirects",
    "about": "Pages that responded with an error (4xx, 5xx) or not at all, and the pages that link to them.",
    "remedy": "Correct the link, restore the page, or redirect it.",
    "noun": "page",
    "is_finding": True,
    "number": 1,
    "lacking": "",
    "not_requested": "Not requested, so not known to work: 14 pages (forbidden by robots.txt).",
    "url": f"{ROOT}/.../reports/broken-links",
}
REPORT_EXAMPLE: dict[str, Any] = {**ENTRY_EXAMPLE, **TABLE_EXAMPLE}
PART_EXAMPLE: dict[str, Any] = {"title": "Links to https://example.com/gone", **TABLE_EXAMPLE}


class GraphNode(Schema):
    """A page, or a folder of a large crawl."""

    page: int | None = Field(description="The id of the page; null for a folder.")
    url: str = Field(description="The URL of the page, or the URL prefix of the folder.")
    name: str
    title: str
    status: str
    depth: int
    pages: int = Field(description="The number of its pages.")
    parent: int | None = Field(description="The node it was first found on, by its index in the list.")
    linked_from: int
    links: int
    answers: dict[str, int]


class SiteGraph(Schema):
    within: str
    pages: int
    is_cut: bool = Field(description="Whether pages are missing because there are too many.")
    has_links: bool = Field(
        description="Whether the lines are all links; otherwise the links by which pages were first found."
    )
    has_counts: bool = Field(description="`linked_from` is known.")
    summary: str
    nodes: list[GraphNode]
    lines: list[tuple[int, int, int]] = Field(description="[from, to, links]: indexes of the nodes.")


def graph_shown(graph: Graph) -> dict[str, Any]:
    return fields_of(SiteGraph, graph, summary=summary(graph), nodes=nodes(graph))


GRAPH_EXAMPLE: dict[str, Any] = {
    "within": "",
    "pages": 2,
    "is_cut": False,
    "has_links": True,
    "has_counts": True,
    "summary": "2 pages.",
    "nodes": [
        {
            "page": 4711,
            "url": "https://example.com/",
            "name": "example.com",
            "title": "Start",
            "status": "200",
            "depth": 0,
            "pages": 1,
            "parent": None,
            "linked_from": 1,
            "links": 1,
            "answers": {"ok": 1},
        }
    ],
    "lines": [[0, 1, 1]],
}
