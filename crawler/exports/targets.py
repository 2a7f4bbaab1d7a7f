"""What became of the pages that links lead to, for as many pages as there are, in 18 bytes each."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass
from typing import NamedTuple

from crawler.core import linkage
from crawler.core.outcomes import Outcome
from crawler.core.work import EXTERNAL
from crawler.exports.rows import CHUNK
from crawler.exports.selection import NOT_INDEXED
from crawler.models import Crawl, Page

_OPEN, _HIDDEN = 0, -1
_CODES = {outcome: -2 - number for number, outcome in enumerate(Outcome)}
_OUTCOMES = {code: outcome for outcome, code in _CODES.items()}


class Target(NamedTuple):
    """A page of the crawl, or a link that leaves the site."""

    id: int
    answer: str  # HTTP status; else the outcome; "" = open
    is_external: bool
    is_hidden: bool  # it asks to be left out, and the crawl obeys


@dataclass(frozen=True)
class Targets:
    """All pages of a crawl by their short keys (`core.linkage`), sorted, beside each other in arrays."""

    keys: array[int]
    ids: array[int]  # negative when it leaves the site
    codes: array[int]  # HTTP status, or one of the codes above

    def find(self, key: int) -> Target | None:
        """The page with this short key as a number; None = the crawl has no row of it."""
        at = bisect_left(self.keys, key)
        if at == len(self.keys) or self.keys[at] != key:
            return None
        code, page = self.codes[at], self.ids[at]
        answer = str(code) if code > 0 else _OUTCOMES[code].value if code < _HIDDEN else ""
        return Target(abs(page), answer, page < 0, code == _HIDDEN)


def targets_of(crawl: Crawl) -> Targets:
    """Read once, in the order of the table's unique index."""
    found = Targets(array("Q"), array("q"), array("h"))
    pages = Page.objects.filter(crawl=crawl)
    hidden = set(pages.filter(NOT_INDEXED).values_list("id", flat=True)) if crawl.chosen.obey_noindex else set()
    facts = pages.order_by("key").values_list("key", "id", "kind", "http_status", "outcome")
    for key, page, kind, http_status, outcome in facts.iterator(chunk_size=CHUNK):
        found.keys.append(linkage.number(bytes(key)))
        found.ids.append(-page if kind == EXTERNAL else page)
        found.codes.append(_HIDDEN if page in hidden else _code(http_status, outcome))
    return found


def _code(http_status: int | None, outcome: str) -> int:
    return http_status or (_CODES[Outcome(outcome)] if outcome else _OPEN)
