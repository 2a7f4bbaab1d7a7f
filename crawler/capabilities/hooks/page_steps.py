"""HTML pages are given to the hooks with `on_page`."""

from __future__ import annotations

from typing import Self

from crawler.capabilities.hooks.on_page import PageHooks
from crawler.fetcher.page_step import PageStep, SliceContext, Stage, Visit


class HookStep(PageStep):
    stage = Stage.CHANGE

    def __init__(self, hooks: PageHooks) -> None:
        self._hooks = hooks

    @classmethod
    def of(cls, context: SliceContext) -> Self | None:
        hooks = PageHooks.of(context.batch.crawl)
        return cls(hooks) if hooks else None

    def finish(self, visit: Visit) -> None:
        if visit.html is not None and visit.result is not None:
            visit.result = self._hooks.applied(visit.result, visit.task.url, visit.html)


PAGE_STEPS = (HookStep,)
