"""Outcomes, receipts and trouble as people read them, with numbers (`core.text.quantities`): the same words on page,
terminal and mail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, assert_never

from crawler.core.crawl.completion import Ended, Limit
from crawler.core.crawl.notices import Event
from crawler.core.crawl.outcomes import Kind, Outcome
from crawler.core.text.quantities import DASH, count, counted, duration, rate, size
from crawler.core.text.sanitize import one_line
from crawler.models import Crawl, Page
from crawler.reports.progress import start_count, troubled_start_pages

__all__ = [
    "DASH",
    "OUTCOMES",
    "aligned",
    "count",
    "counted",
    "duration",
    "ended",
    "how_far",
    "list_read",
    "outcome",
    "rate",
    "receipt_table",
    "size",
    "start_trouble",
    "time_told",
]

OUTCOMES: dict[Outcome, str] = {
    Outcome.SUCCESS: "OK",
    Outcome.REDIRECT: "redirect",
    Outcome.CLIENT_ERROR: "client error",
    Outcome.SERVER_ERROR: "server error",
    Outcome.UNCHANGED: "unchanged",
    Outcome.DNS: "host name not found",
    Outcome.CONNECT: "no connection",
    Outcome.TLS: "no secure connection",
    Outcome.TIMEOUT: "timed out",
    Outcome.TOO_LARGE: "too large",
    Outcome.MALFORMED: "not usable HTTP",
    Outcome.CRASHED: "crashed the worker",
    Outcome.ROBOTS: "forbidden by robots.txt",
    Outcome.LIMIT: "beyond the limit",
    Outcome.TRAP: "endless series",
    Outcome.PRIVATE_ADDRESS: "address or port not allowed",
    Outcome.TOO_MANY_REDIRECTS: "too many redirects",
    Outcome.EXPIRED: "expired",
    Outcome.EXTERNAL: "leaves the site",
    Outcome.CANCELLED: "cancelled",
}
"""Every outcome in a few words, to stand in a table."""

ENDED: dict[Ended, str] = {
    Ended.COMPLETE: "complete",
    Ended.COMPLETE_WITH_ERRORS: "complete, with errors",
    Ended.LIMIT: "limit reached",
    Ended.DEADLINE: "deadline passed",
    Ended.CANCELLED: "cancelled",
}
"""Why a crawl ended in a few words."""

LIMITS: dict[Limit, str] = {
    Limit.PAGES: "pages",
    Limit.BYTES: "bytes",
    Limit.DEPTH: "depth",
    Limit.SITEMAPS: "sitemaps in a row",
    Limit.PAGE_TTL: "time for a page",
    Limit.DEADLINE: "deadline",
}

NAMED = 5  # start URLs told of by name when many of them gave nothing

_SILENT = {Outcome.DNS, Outcome.CONNECT, Outcome.TLS, Outcome.TIMEOUT}


def outcome(value: str) -> str:
    """The words for an outcome as the table stores it."""
    return OUTCOMES[Outcome(value)] if value else "open"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows as columns, each as wide as its widest cell; a line feed ends each row, and none is inside of one."""
    rows = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "".join(f"{line.rstrip()}\n" for line in lines)


def ended(receipt: Mapping[str, Any]) -> str:
    """Why a crawl ended, in a few words: "limit reached (pages, depth)". "" while it is not over, and of receipts of
    earlier versions."""
    why = receipt.get("ended")
    if why is None:
        return ""
    limits = ", ".join(LIMITS[Limit(limit)] for limit in receipt["limits"])
    return f"{ENDED[Ended(why)]} ({limits})" if why == Ended.LIMIT and limits else ENDED[Ended(why)]


def how_far(done: int, total: int, *, at_most: bool) -> str:
    """ "12 of 1,170 pages"; where the page limit is what will be reached, "12 of 40 at most"."""
    return f"{count(done)} of {count(total)} at most" if at_most else f"{count(done)} of {counted(total, 'page')}"


def time_told(receipt: Mapping[str, Any]) -> str:
    """How long a crawl ran, and over which time where that is longer."""
    ran = duration(receipt["seconds"])
    over = duration(receipt.get("elapsed_seconds", receipt["seconds"]))
    return ran if ran == over else f"ran {ran} (over {over}, with pauses)"


def receipt_table(receipt: Mapping[str, Any]) -> str:
    """A receipt (see `reports.receipt`) as plain text: the terminal's and the mail's."""
    skipped = {outcome(reason): number for reason, number in receipt["skipped"].items()}
    still_open = _still_open(receipt)
    return aligned(
        [
            ("Crawl", receipt["id"]),
            ("State", receipt["state"]),
            *([("Ended", receipt["ended_message"])] if receipt.get("ended_message") else []),
            *_given(receipt),
            ("Time", time_told(receipt)),
            ("Discovered", counted(receipt["discovered"], "page")),
            ("  fetched", _with_parts(receipt["fetched"], sorted(receipt["statuses"].items()))),
            ("  failed", count(receipt["failed"])),
            ("  skipped", _with_parts(sum(skipped.values()), skipped.items())),
            ("  cancelled", count(receipt["cancelled"])),
            *([("  open", count(still_open))] if still_open else []),
            ("Requests", f"{count(receipt['requests'])}, retries: {count(receipt['retries'])}"),
            ("Received", size(receipt["bytes"])),
            *_listed("Notice to", [notice["address"] for notice in receipt["notifications"]]),
        ]
    )


def list_read(report: Mapping[str, Any]) -> str:
    """ "12,345 lines: 12,000 URLs, 300 duplicates, 45 not usable"."""
    parts = (
        f"{counted(report['lines'], 'line')}: {counted(report['taken'], 'URL')}",
        f"{counted(report['duplicates'], 'duplicate')}",
        f"{count(report['invalid'])} not usable",
    )
    return ", ".join(parts)


def start_trouble(troubled: Sequence[Page], starts: int) -> str:
    """What became of start pages that gave nothing to follow, on one line; `starts` = all start pages."""
    return one_line(_start_trouble(troubled, starts))


def _start_trouble(troubled: Sequence[Page], starts: int) -> str:
    if starts == 1:
        [page] = troubled
        return f"The start URL {page.url} {_what_happened(page)}, so there was nothing to follow."
    told = "; ".join(f"{page.url} {_what_happened(page)}" for page in troubled[:NAMED])
    if len(troubled) > NAMED:
        told += f"; and {count(len(troubled) - NAMED)} more"
    if len(troubled) == starts:
        return f"None of the {starts} start URLs gave anything to follow: {told}."
    return f"{len(troubled)} of the {starts} start URLs gave nothing to follow: {told}."


def _what_happened(page: Page) -> str:
    came = Outcome(page.outcome)
    why = page.error.rstrip(".") or OUTCOMES[came]
    match came.kind:
        case Kind.FETCHED:
            return f"answered {page.http_status}"
        case Kind.FAILED:
            return f"did not answer ({why})" if came in _SILENT else f"gave no usable answer ({why})"
        case Kind.SKIPPED | Kind.CANCELLED:
            return f"was not asked for ({why})"
    assert_never(came.kind)


def _given(receipt: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a person gave the crawl to ask for."""
    if "list" in receipt:
        return [("List", list_read(receipt["list"]))]
    return _listed("Start URL", receipt["start_urls"])


def _listed(name: str, values: Sequence[str]) -> list[tuple[str, str]]:
    """A row for each value, the first of them with the name."""
    return [("" if number else name, value) for number, value in enumerate(values)]


def _with_parts(total: int, parts: Iterable[tuple[str, int]]) -> str:
    """ "1,170 (200: 1,168, 404: 2)"."""
    told = ", ".join(f"{name}: {count(number)}" for name, number in parts if number)
    return count(total) + (f" ({told})" if told else "")


def _still_open(receipt: Mapping[str, Any]) -> int:
    done = receipt["fetched"] + receipt["failed"] + sum(receipt["skipped"].values()) + receipt["cancelled"]
    return int(receipt["discovered"] - done)


# What a notice says to people: the same words in a mail, in a chat and in the log of deliveries.

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
    troubled = troubled_start_pages(crawl)
    return " ".join([SENTENCES[event], *([start_trouble(troubled, start_count(crawl))] if troubled else [])])


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
