"""Reads fields from HTML pages. An error here never changes the page's outcome; a note names the missing field."""

from __future__ import annotations

from typing import Self

from msgspec.structs import replace

from crawler.capabilities.extraction.options import ExtractionOptions
from crawler.core.errors import MissingHere
from crawler.core.extraction.rules import FieldRule
from crawler.extras import XPATH
from crawler.fetcher.page_step import PageStep, SliceContext, Stage, Visit


class FieldStep(PageStep):
    """The document cannot be used afterwards."""

    stage = Stage.READ

    def __init__(self, rules: tuple[FieldRule, ...]) -> None:
        self._rules = rules

    @classmethod
    def of(cls, context: SliceContext) -> Self | None:
        """Raises MissingHere."""
        rules = ExtractionOptions.of(context.policy).fields
        if any(rule.xpath for rule in rules) and XPATH.missing:
            raise MissingHere(XPATH.missing)
        return cls(rules) if rules else None

    def finish(self, visit: Visit) -> None:
        if visit.document is None or visit.result is None:
            return
        from crawler.fetcher.xpath.evaluator import evaluate
        from crawler.reports.extraction_text import extracted  # loads BeautifulSoup, which a crawl without rules lacks

        values, notes = extracted(visit.document, visit.task.url, self._rules, evaluate)
        visit.result = replace(visit.result, facts=replace(visit.result.facts, fields=values, notes=notes))


PAGE_STEPS = (FieldStep,)
