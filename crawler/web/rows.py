"""A page of a crawl as one line of a list."""

from __future__ import annotations

from crawler.core.outcomes import Outcome
from crawler.core.work import EXTERNAL, SITEMAP
from crawler.models import Page
from crawler.reports import words
from crawler.reports.traps import Caught

Row = dict[str, str]
"""One line of a list: the text of each cell, with `href` (an address to open) and `tone` (good, warn, bad, calm)."""

KINDS = {SITEMAP: "Sitemap", EXTERNAL: "Another site"}
"""What a row is when it is no page of the site; stands before what else there is to say of it."""


def page_row(page: Page) -> Row:
    """What came of it: the answer, and beside the URL what there is to say."""
    return {
        "key": str(page.pk),
        "answer": str(page.http_status) if page.http_status else words.outcome(page.outcome),
        "meaning": words.outcome(page.outcome),
        "url": page.url,
        "href": page.url if page.url.startswith(("http://", "https://")) else "",
        "note": ": ".join(filter(None, [KINDS.get(page.kind), page.error or _leads_to(page) or page.title])),
        "time": _time(page),
        "size": words.size(page.bytes) if page.http_status else "",
        "tone": _tone(page.outcome),
    }


def dead_letter_row(page: Page) -> Row:
    """The same, with how often it was tried."""
    return {**page_row(page), "tries": "1 try" if page.attempts == 1 else f"{words.count(page.attempts)} tries"}


def _leads_to(page: Page) -> str:
    return f"→ {page.redirect_to}" if page.redirect_to else ""


def _time(page: Page) -> str:
    if page.reused:
        return "not asked"
    return f"{page.elapsed_ms:,} ms" if page.elapsed_ms or page.http_status else ""


def trap_row(caught: Caught) -> Row:
    """A trap with some of its pages; without a key it cannot be released any more."""
    return {
        "key": "" if caught.trap.released else str(caught.trap.pk),
        "reason": caught.reason,
        "pattern": caught.trap.pattern,
        "examples": "\n".join([*(page.url for page in caught.examples), *filter(None, [caught.beyond])]),
        "remedy": "" if caught.trap.released else caught.remedy,
        "number": caught.number,
        "tone": "calm" if caught.trap.released else "warn",
    }


def _tone(outcome: str) -> str:
    match outcome:
        case Outcome.SUCCESS | Outcome.UNCHANGED:
            return "good"
        case Outcome.REDIRECT | Outcome.EXTERNAL:
            return "calm"
        case Outcome.CLIENT_ERROR:
            return "warn"
        case _:
            return "bad"
