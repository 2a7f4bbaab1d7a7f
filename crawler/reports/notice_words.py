"""What a notice says to people: the same words in a mail, in a chat and in the log of deliveries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crawler.core.ended import Ended
from crawler.core.events import Event
from crawler.core.figures import count, size
from crawler.models import Crawl
from crawler.reports.progress import start_count, start_trouble
from crawler.reports.words import ended, time_told
from crawler.reports.words import start_trouble as trouble_told

EVENTS = {
    Event.STARTED: "started",
    Event.PAGE: "pages",
    Event.PAUSED: "paused",
    Event.FINISHED: "finished",
    Event.FAILED: "failed",
    Event.CANCELLED: "cancelled",
    Event.TEST: "test",
}
"""Each event in a word."""

SENTENCES = {
    Event.STARTED: "The crawl has started.",
    Event.PAGE: "Pages of the crawl have their outcome.",
    Event.PAUSED: "The crawl is paused: nothing new is asked for until somebody resumes it.",
    Event.FINISHED: "The crawl is finished.",
    Event.FAILED: "The crawl came to nothing.",
    Event.CANCELLED: "The crawl is cancelled.",
    Event.TEST: "This is a test: notices about your crawls will arrive here.",
}


def event_word(event: str) -> str:
    """A word for an event as the table stores it."""
    return EVENTS[Event(event)] if event in EVENTS else event


def sentence(crawl: Crawl, event: Event, receipt: Mapping[str, Any] | None = None) -> str:
    """What happened. Of a crawl that failed, why; of one that is finished and not complete, what is missing: as the
    notice's receipt says (those of earlier versions do not)."""
    if event is Event.FINISHED and receipt and receipt.get("ended") not in (None, Ended.COMPLETE):
        return f"{SENTENCES[event]} {receipt['ended_message']}"
    if event is not Event.FAILED:
        return SENTENCES[event]
    troubled = start_trouble(crawl)
    return " ".join([SENTENCES[event], *([trouble_told(troubled, start_count(crawl))] if troubled else [])])


def figures(receipt: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The receipt in short: names and numbers."""
    why = ended(receipt)
    return (
        *([("Ended", why)] if why else []),
        ("Discovered", count(receipt["discovered"])),
        ("Fetched", count(receipt["fetched"])),
        ("Failed", count(receipt["failed"])),
        ("Skipped", count(sum(receipt["skipped"].values()))),
        ("Time", time_told(receipt)),
        ("Received", size(receipt["bytes"])),
    )
