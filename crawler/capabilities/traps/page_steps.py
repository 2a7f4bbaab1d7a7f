"""Reads what pages say, in crawls with a branch that grows."""

from typing import Self

from msgspec.structs import replace

from crawler.capabilities.traps.crawl_keys import LISTENING
from crawler.capabilities.traps.novelty import said_of, said_of_unread
from crawler.capabilities.traps.result_fields import SAID
from crawler.core.html.document import Document, attribute
from crawler.core.pages.outcomes import Outcome
from crawler.fetcher.page_step import PageStep, SliceContext, Stage, Visit

_OBJECTS = "img[src], video[src], audio[src], source[src], iframe[src], embed[src], object[data]"
MAX_OBJECTS_READ = 50


class NoveltyStep(PageStep):
    """Before those that change the document."""

    stage = Stage.CHECK

    @classmethod
    def of(cls, context: SliceContext) -> Self | None:
        is_listening = context.frontier.redis.exists(context.frontier.keys.of(LISTENING))
        return cls() if is_listening else None

    def finish(self, visit: Visit) -> None:
        if visit.result is None or visit.result.outcome is not Outcome.SUCCESS:
            return
        url = visit.task.url
        if visit.document is None:
            said = said_of_unread(url)
        else:
            body = visit.document.tree.body
            text = body.text(separator="\n") if body is not None else ""
            said = said_of(url, text, _objects(visit.document))
        visit.result = replace(visit.result, **SAID.given(said))


def _objects(document: Document) -> list[str]:
    shown = document.tree.css(_OBJECTS)[:MAX_OBJECTS_READ]
    return [attribute(node, "src") or attribute(node, "data") for node in shown]


PAGE_STEPS = (NoveltyStep,)
