"""Which pages of a crawl were closed last: a few ids kept on the crawl's row, so that nobody has to look for them among
a million pages while the crawl runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice

from crawler.core.outcomes import Kind, Outcome
from crawler.core.retries import is_dead_letter
from crawler.core.work import PageResult

KEPT = 12  # pages in each list; the page of a crawl shows as many

Recent = Mapping[str, Sequence[int]]
"""List -> ids of pages, the newest first; plain so that it can live in a JSON column.

closed     the pages that were asked for and closed last
troubled   those that failed or answered with an error status, dead letters aside: they have a list of theirs
"""


def with_closed(recent: Recent, results: Sequence[PageResult]) -> dict[str, list[int]]:
    """The lists after these pages were closed, one after another."""
    newest_first = [result for result in reversed(results) if result.fetched_at > 0]
    troubled = (result for result in newest_first if is_trouble(result.outcome) and not is_dead_letter(result))
    return {
        "closed": _first(newest_first, recent.get("closed", ())),
        "troubled": _first(troubled, recent.get("troubled", ())),
    }


def is_trouble(outcome: Outcome) -> bool:
    """Whether a page that closed so is one to look into."""
    return outcome.kind is Kind.FAILED or outcome in {Outcome.CLIENT_ERROR, Outcome.SERVER_ERROR}


def _first(results: Iterable[PageResult], before: Sequence[int]) -> list[int]:
    """The newest, each once: a dead letter that was sent again closes a second time."""
    ids = chain((result.id for result in results), before)
    return list(islice(dict.fromkeys(ids), KEPT))
