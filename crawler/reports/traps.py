"""The traps of a crawl as users see them: the reason, the number of pages, and examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crawler.core.pages.traps import TrapReason
from crawler.models import Crawl, Page, Trap
from crawler.reports import text
from crawler.reports.text import Reply
from crawler.storage import quarantine

EXAMPLES = 3  # pages shown of each trap

REASONS: dict[TrapReason, str] = {
    TrapReason.SILENT: "Pages without new content",
    TrapReason.PARAMETER: "A parameter without effect",
    TrapReason.SEGMENT: "A part of the path without effect",
    TrapReason.LONGER: "URLs that grow from page to page",
    TrapReason.SERIES: "Endless pagination",
    TrapReason.REPEATED: "Paths that repeat themselves",
    TrapReason.SESSION: "URLs with a session id",
    TrapReason.DATES: "An endless calendar",
    TrapReason.FILTERS: "Filters in every combination",
}
"""The title of each reason."""

_DROP = "To request each of these pages once, crawl again and drop this parameter."
_REMEDIES = {TrapReason.SESSION: _DROP, TrapReason.PARAMETER: _DROP}


@dataclass(frozen=True)
class TrapReport:
    """One trap."""

    trap: Trap
    reason: str
    remedy: str  # "" = only releasing helps
    examples: tuple[Page, ...]

    @property
    def evidence(self) -> str:
        """Why it is taken for one; "" = its reason says it all."""
        match self.trap.evidence:
            case {"pages": int(pages), "others": int(others), "by_words": by_words}:
                kind = "had only words of" if by_words else "repeated what"
                say = "" if by_words else " say"
                return f"Its last {pages:,} pages {kind} {others:,} others{say}."
            case _:
                return ""

    @property
    def number(self) -> str:
        """The number of pages it keeps out."""
        return "Released" if self.trap.released else text.counted(self.trap.quarantined, "page")

    @property
    def beyond(self) -> str:
        """Its pages without a row; "" = none."""
        return f"and {text.counted(self.trap.left_out, 'more link')} without a row" if self.trap.left_out else ""


def traps_of(crawl: Crawl, at_most: int | None = None) -> list[TrapReport]:
    """The traps with the most pages first, then released ones."""
    shown = quarantine.shown(crawl).order_by("released", "-quarantined", "id")
    return [_caught(trap) for trap in shown[:at_most]]


def summary(crawl: Crawl, known: Sequence[TrapReport] | None = None) -> str:
    """The numbers of pages and traps in a sentence; "" without traps. `known`: the traps, if they are read already."""
    if known is not None and all(caught.trap.released for caught in known):
        return ""
    counts = list(quarantine.shown(crawl).filter(released=False).values_list("quarantined", "left_out"))
    if not counts:
        return ""
    pages, links = sum(pages for pages, _ in counts), sum(links for _, links in counts)
    beyond = f", and {text.counted(links, 'more link')} without a row of their own," if links else ""
    verb = "was" if pages == 1 and not links else "were"
    return f"{text.counted(pages, 'page')}{beyond} {verb} not requested: they look like an endless series."


def to_release(traps: int, pages: int, left_out: int) -> Reply:
    """The reply to a release."""
    if not traps:
        return Reply("Nothing to release.", is_so=True)
    line = f"Released: {text.counted(traps, 'trap')} with {text.counted(pages, 'page')}; they will be requested now."
    if left_out:
        line += (
            f" {text.counted(left_out, 'more link')} had no row of their own: they come back only where a page that is"
            " requested from now on links to them. For all of them, crawl again without quarantine."
        )
    return Reply(line, is_so=True)


def _caught(trap: Trap) -> TrapReport:
    reason = TrapReason(trap.reason)
    examples = quarantine.quarantined(Trap.objects.filter(pk=trap.pk))[:EXAMPLES]
    return TrapReport(trap, REASONS[reason], _REMEDIES.get(reason, ""), tuple(examples))
