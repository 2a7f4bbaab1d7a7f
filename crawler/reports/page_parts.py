"""What capabilities tell of a page in full: in its report, on its web page, on the terminal and in the API."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from crawler import registry
from crawler.models import Crawl, Page, PageFacts
from crawler.storage.page_tables import PageTable

Report = Mapping[str, Any]
"""The values of a page, see `reports.page_detail.page_report`."""
Known = list[tuple[str, str]]
"""Names and texts, in display order."""


def _nothing(crawl: Crawl, page: Page, report: Report) -> str:
    return ""


@dataclass(frozen=True)
class PartSchema:
    """A part of a page in the API: the row of a table."""

    table: PageTable
    title: str
    about: str
    lists: dict[str, tuple[Any, Any]] = field(default_factory=dict)  # name -> type and `Field` of other values
    example: dict[str, Any] = field(default_factory=dict)  # of these


@dataclass(frozen=True, kw_only=True)
class PagePart:
    """One section of a page in full."""

    name: str  # in ids of the web page
    title: str

    values: Callable[[Page, PageFacts | None], dict[str, Any]]
    """Its keys of the report, as plain JSON."""

    lines: Callable[[Report], Known]
    """[] = there is nothing to show."""

    details: Callable[[Report], Iterable[str]] = lambda report: ()  # further lines, on the terminal
    template: str = "crawler/page_part.html"
    context: Callable[[Crawl, Page, Report], dict[str, Any]] = lambda crawl, page, report: {}  # for the template

    absent: Callable[[Crawl, Page, Report], str] = _nothing
    """What the web page says when there is nothing to show; "" = it has no such section."""

    schema: PartSchema | None = None


@cache
def page_parts() -> tuple[PagePart, ...]:
    return registry.entries("page_parts", PagePart)


@cache
def part_schemas() -> tuple[PartSchema, ...]:
    return tuple(part.schema for part in page_parts() if part.schema is not None)


def values_of(page: Page, facts: PageFacts | None) -> dict[str, Any]:
    return {key: value for part in page_parts() for key, value in part.values(page, facts).items()}


def sections(crawl: Crawl, page: Page, report: Report) -> Iterator[dict[str, Any]]:
    """Those of the web page: title, template and what it needs."""
    for part in page_parts():
        lines = part.lines(report)
        absent = "" if lines else part.absent(crawl, page, report)
        if lines or absent:
            shown = part.context(crawl, page, report) if lines else {}
            template = part.template if lines else PagePart.template
            told = {"name": part.name, "title": part.title, "lines": lines, "absent": absent}
            yield {**told, "template": template, **shown}
