"""What a crawl owes to earlier ones: pages taken from memory, and how its pages differ from those of the run before."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from crawler.core.freshness import uses_memory
from crawler.core.outcomes import Outcome
from crawler.core.work import PAGE
from crawler.models import Crawl, Page
from crawler.reports import words

COMPARED = 200_000  # pages; beyond, looking each of them up takes too long for a page that people wait for


@dataclass(frozen=True)
class Comparison:
    """Two runs, by the URLs of their pages."""

    new: int  # pages the run before did not have
    gone: int  # pages it had, and this one has not
    unchanged: int  # pages the site confirmed to be as they were

    def __str__(self) -> str:
        parts = [f"{words.count(self.new)} new", f"{words.count(self.gone)} gone"]
        return ", ".join([*parts, f"{words.count(self.unchanged)} confirmed unchanged"] if self.unchanged else parts)


def from_memory(crawl: Crawl) -> str:
    """How many pages were not sent, or not even asked for, in a sentence; "" when the crawl asks for everything."""
    if not uses_memory(crawl.chosen):
        return ""
    unchanged = crawl.tallies.outcomes.get(Outcome.UNCHANGED, 0)
    reused = Page.objects.filter(crawl=crawl, reused=True).count() if crawl.chosen.response_ttl is not None else 0
    parts = []
    if unchanged:
        parts.append(f"{words.counted(unchanged, 'page')} unchanged since last time")
    if reused:
        parts.append(f"{words.counted(reused, 'page')} not asked for, because an answer was at hand")
    return f"{'; '.join(parts)}." if parts else ""


def compared(crawl: Crawl) -> Comparison | None:
    """The crawl beside the run before it; None while either goes on, and where there is none or too much of it."""
    previous = crawl.previous
    if previous is None or not crawl.is_over or not previous.is_over:
        return None
    if max(crawl.discovered, previous.discovered) > COMPARED:
        return None
    return Comparison(
        new=_only_in(crawl, previous),
        gone=_only_in(previous, crawl),
        unchanged=crawl.tallies.outcomes.get(Outcome.UNCHANGED, 0),
    )


def _only_in(one: Crawl, other: Crawl) -> int:
    same = Page.objects.filter(crawl=other, key=OuterRef("key"), kind=PAGE)
    return Page.objects.filter(~Exists(same), crawl=one, kind=PAGE).count()
