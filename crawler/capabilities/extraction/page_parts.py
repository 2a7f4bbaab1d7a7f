"""The fields extracted from one page, with the reasons for missing values."""

from __future__ import annotations

from typing import Any

from crawler.models import Page, PageFacts
from crawler.reports.page_parts import Known, PagePart, Report
from crawler.reports.page_table import value_words


def _values(page: Page, facts: PageFacts | None) -> dict[str, Any]:
    return {"fields": facts.fields if facts else {}, "notes": facts.notes if facts else {}}


def fields(report: Report) -> Known:
    return [(name, _noted(value_words(value), report["notes"].get(name))) for name, value in report["fields"].items()]


def _noted(value: str, note: str | None) -> str:
    return f"{value} ({note})" if note else value


PAGE_PARTS = (PagePart(name="fields", title="Extracted fields", values=_values, lines=fields),)
