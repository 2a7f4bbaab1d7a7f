"""A span for each attempt at a page, below that of its batch."""

from __future__ import annotations

from typing import Self

from crawler.capabilities.telemetry import conf, tracing
from crawler.core.pages.outcomes import Category
from crawler.core.protocol.messages import PageResult, PageTask
from crawler.fetcher.host_slot import RateLimited
from crawler.fetcher.page_step import Fetch, PageStep, SliceContext, Stage


class TraceStep(PageStep):
    stage = Stage.CHECK
    reads_document = False

    def __init__(self, context: SliceContext) -> None:
        self._context = context

    @classmethod
    def of(cls, context: SliceContext) -> Self | None:
        return cls(context) if conf.sends_traces() else None

    def around(self, task: PageTask, fetch: Fetch) -> PageResult | RateLimited:
        began = self._context.now()
        result = fetch(task)
        if isinstance(result, PageResult):
            self._note(task, result, began)
        return result

    def _note(self, task: PageTask, result: PageResult, began: float) -> None:
        batch = self._context.batch
        attributes: dict[str, tracing.Value] = {
            "url.full": task.url,
            "server.address": self._context.host,
            "http.response.body.size": result.bytes,
            "page.id": task.id,
            "page.attempt": task.attempt,
            "page.outcome": result.outcome.value,
        }
        if result.http_status is not None:
            attributes["http.response.status_code"] = result.http_status
        failed = result.error or result.outcome.value if result.outcome.category is Category.FAILED else ""
        ended = self._context.now()
        tracing.note("page", batch.crawl, began, ended, below=batch.id, failed=failed, attributes=attributes)


PAGE_STEPS = (TraceStep,)
