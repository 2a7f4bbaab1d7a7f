"""Reads fields from HTML pages. An error here never changes the page's outcome; a note names the missing field."""

from __future__ import annotations

import logging
from typing import Self

from msgspec.structs import replace
from rq.timeouts import BaseTimeoutException

from crawler.capabilities.extraction.options import ExtractionOptions
from crawler.core.extraction.rules import FieldRule
from crawler.fetcher.page_step import PageStep, SliceContext, Stage, Visit

log = logging.getLogger(__name__)


class FieldStep(PageStep):
    """The document cannot be used afterwards."""

    stage = Stage.READ

    def __init__(self, rules: tuple[FieldRule, ...]) -> None:
        self._rules = rules

    @classmethod
    def of(cls, context: SliceContext) -> Self | None:
        rules = ExtractionOptions.of(context.policy).fields
        return cls(rules) if rules else None

    def finish(self, visit: Visit) -> None:
        if visit.document is None or visit.result is None:
            return
        from crawler.core.extraction import extractor  # which loads BeautifulSoup, that a crawl without rules lacks
        from crawler.fetcher.xpath.evaluator import evaluate
        from crawler.reports.extraction_text import notes_of

        try:
            found = extractor.extract(visit.document, visit.task.url, self._rules, evaluate)
        except BaseTimeoutException:
            raise  # RQ ends this job
        except Exception:
            log.exception("no fields could be read from %s", visit.task.url)
            found = extractor.nothing(self._rules, extractor.FieldFault.UNREADABLE)
        facts = replace(visit.result.facts, fields=found.values, notes=notes_of(found))
        visit.result = replace(visit.result, facts=facts)


PAGE_STEPS = (FieldStep,)
