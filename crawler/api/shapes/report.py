"""A report as the API shows it."""

from __future__ import annotations

from typing import Any

from ninja import Schema
from pydantic import Field

from crawler.api.shapes import table
from crawler.api.shapes.crawl import ROOT
from crawler.models import Crawl
from crawler.reports.catalogue.report import Group, Report


class ReportEntry(Schema):
    """A report in the list of reports."""

    slug: str
    title: str
    group: Group
    about: str
    remedy: str = Field(description="What to do about it.")
    noun: str = Field(description="What is counted.")
    is_finding: bool = Field(description="False when its number is good or bad for nobody.")
    number: int | None = Field(
        description="How many there are; null when it cannot be told, or is still being counted."
    )
    lacking: str = Field(description='Why this crawl cannot tell, and what to do; "" when it can.')
    url: str


class Reports(Schema):
    items: list[ReportEntry]
    is_counting: bool = Field(description="Some numbers take long: ask again in a moment.")


class ReportWhole(ReportEntry, table.Table):
    """A report with a page of its lines."""


class ReportPart(table.Table):
    """What lies behind one line of a report."""

    title: str


def entry_of(crawl: Crawl, report: Report, number: int | None) -> dict[str, Any]:
    return {
        "slug": report.slug,
        "title": report.title,
        "group": report.group,
        "about": report.about,
        "remedy": report.remedy,
        "noun": report.noun,
        "is_finding": report.is_finding,
        "number": number,
        "lacking": report.lacking(crawl),
        "url": f"{ROOT}/{crawl.id}/reports/{report.slug}",
    }


ENTRY_EXAMPLE: dict[str, Any] = {
    "slug": "broken-links",
    "title": "Broken links",
    "group": "Links and redirects",
    "about": "Pages of the site that do not answer well, with the pages that link to them.",
    "remedy": "Mend the links, or bring the pages back.",
    "noun": "page",
    "is_finding": True,
    "number": 1,
    "lacking": "",
    "url": f"{ROOT}/.../reports/broken-links",
}
EXAMPLE: dict[str, Any] = {**ENTRY_EXAMPLE, **table.EXAMPLE}
PART_EXAMPLE: dict[str, Any] = {"title": "Links to https://example.com/gone", **table.EXAMPLE}
