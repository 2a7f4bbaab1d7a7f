"""What the pages of a crawl can be narrowed to, each with the number of pages it leaves: from the crawl's counters
alone, so that nothing is counted for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from crawler.core.outcomes import Kind
from crawler.core.pages_query import OPEN
from crawler.models import Crawl
from crawler.reports import words


@dataclass(frozen=True)
class Facet:
    """One value to choose."""

    value: str  # as the query string has it
    words: str
    pages: int

    @property
    def label(self) -> str:
        return f"{self.words} ({words.count(self.pages)})"


def outcome_facets(crawl: Crawl) -> list[tuple[str, list[Facet]]]:
    """The outcomes there are, below the heap of the receipt each is counted in; pages without one come last."""
    tallies = crawl.tallies
    found = [(kind, list(_outcomes_of(kind, tallies.outcomes))) for kind in Kind]
    groups = [(str(kind), _with_all(kind, facets)) for kind, facets in found if facets]
    if tallies.open:
        groups.append((OPEN, [Facet(OPEN, words.outcome(""), tallies.open)]))
    return groups


def status_facets(crawl: Crawl) -> list[tuple[str, list[Facet]]]:
    """The status codes there are, below their class."""
    classes: dict[str, list[Facet]] = {}
    for code, pages in sorted(crawl.statuses.items()):
        if pages:
            classes.setdefault(f"{code[0]}xx", []).append(Facet(code, code, pages))
    return [(name, [_all_of(name, codes), *codes]) for name, codes in classes.items()]


def _outcomes_of(kind: Kind, outcomes: dict[str, int]) -> Iterator[Facet]:
    for outcome, meaning in words.OUTCOMES.items():
        if outcome.kind is kind and outcomes.get(outcome.value):
            yield Facet(outcome.value, meaning, outcomes[outcome.value])


def _with_all(kind: Kind, facets: list[Facet]) -> list[Facet]:
    """Before several of a kind stands the kind."""
    return facets if len(facets) == 1 else [_all_of(str(kind), facets), *facets]


def _all_of(value: str, facets: list[Facet]) -> Facet:
    return Facet(value, f"All {value}", sum(facet.pages for facet in facets))
