"""A table that was worked out from a crawl, as the API shows it: a report, what lies behind one of its lines, or what
differs between two crawls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.http import HttpRequest
from ninja import Schema
from pydantic import Field

from crawler.api.paging import by_slice
from crawler.reports.catalogue import report

Cell = str | int | None


class Column(Schema):
    name: str = Field(description="The key of its cells.")
    title: str
    kind: report.Kind = Field(description="What its cells hold. Those of `url` may hold several, a line each.")


class Line(Schema):
    cells: dict[str, Cell] = Field(description="By the names of the columns.")
    page: int | None = Field(description="The id of the page the line is about.")
    key: str | None = Field(
        description="What `/lines?key=` is asked for to see what lies behind; null when nothing does."
    )


class Table(Schema):
    columns: list[Column]
    items: list[Line]
    next: str | None = Field(description="The address of the next page; null behind the last.")


def columns_of(columns: Iterable[report.Column]) -> list[dict[str, str]]:
    return [{"name": column.name, "title": column.title, "kind": column.kind} for column in columns]


def table_of(
    request: HttpRequest,
    columns: Sequence[report.Column],
    lines: Callable[[slice], Sequence[report.Line]],
    cursor: str | None,
    limit: int,
) -> dict[str, Any]:
    """A page of the lines, with the columns."""
    names = [column.name for column in columns]
    listed = by_slice(request, lines, cursor, limit)
    return {**listed, "columns": columns_of(columns), "items": [_line_of(names, line) for line in listed["items"]]}


def _line_of(names: Sequence[str], line: report.Line) -> dict[str, Any]:
    return {"cells": dict(zip(names, line.cells, strict=True)), "page": line.page, "key": line.part or None}


COLUMNS_EXAMPLE: list[dict[str, str]] = [
    {"name": "url", "title": "Page", "kind": "url"},
    {"name": "answer", "title": "Answer", "kind": "answer"},
]
LINE_EXAMPLE: dict[str, Any] = {
    "cells": {"url": "https://example.com/gone", "answer": "404"},
    "page": 4712,
    "key": "4712",
}
EXAMPLE: dict[str, Any] = {"columns": COLUMNS_EXAMPLE, "items": [LINE_EXAMPLE], "next": None}
