"""Two crawls side by side as the API shows them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from ninja import Schema
from pydantic import Field

from crawler.api.described import CRAWL_ID
from crawler.api.shapes import table
from crawler.api.shapes.crawl import LINE_EXAMPLE, ROOT, CrawlLine
from crawler.models import Crawl
from crawler.reports import comparison

OTHER_ID = "7d1f0f43-0d8e-4c59-8f0e-2f6f1c9b7e20"


class Comparable(Schema):
    """Crawls that one can be compared with."""

    items: list[CrawlLine]


class ChangeEntry(Schema):
    """One way in which pages differ."""

    slug: str
    title: str
    about: str
    number: int = Field(description="Pages that differ so.")
    url: str


class Comparison(Schema):
    """What differs between a crawl and an earlier one."""

    crawl: UUID
    other: UUID
    other_options: list[str] = Field(description="Options that are not the same, so that other pages may be found.")
    are_over: bool = Field(description="False while one of them still runs: then the numbers will change.")
    changes: list[ChangeEntry]


class ChangeWhole(ChangeEntry, table.Table):
    """The pages that differ in one way."""


def comparison_of(crawl: Crawl, other: Crawl) -> dict[str, Any]:
    numbers = comparison.changes_between(crawl, other)
    return {
        "crawl": crawl.id,
        "other": other.id,
        "other_options": comparison.other_options(crawl, other),
        "are_over": crawl.is_over and other.is_over,
        "changes": [entry_of(crawl, other, change, numbers[change.slug]) for change in comparison.CHANGES],
    }


def entry_of(crawl: Crawl, other: Crawl, change: comparison.Change, number: int) -> dict[str, Any]:
    return {
        "slug": change.slug,
        "title": change.title,
        "about": change.about,
        "number": number,
        "url": f"{ROOT}/{crawl.id}/comparisons/{other.id}/{change.slug}",
    }


ENTRY_EXAMPLE: dict[str, Any] = {
    "slug": "new",
    "title": "New",
    "about": "Pages that the earlier crawl did not know.",
    "number": 1,
    "url": f"{ROOT}/.../comparisons/.../new",
}
EXAMPLE: dict[str, Any] = {
    "crawl": CRAWL_ID,
    "other": OTHER_ID,
    "other_options": ["max_pages"],
    "are_over": True,
    "changes": [ENTRY_EXAMPLE],
}
CHANGE_EXAMPLE: dict[str, Any] = {**ENTRY_EXAMPLE, **table.EXAMPLE}
COMPARABLE_EXAMPLE: dict[str, Any] = {"items": [{**LINE_EXAMPLE, "id": OTHER_ID, "url": f"{ROOT}/{OTHER_ID}"}]}
