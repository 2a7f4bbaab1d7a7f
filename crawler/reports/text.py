"""Outcomes, receipts, errors and confirmations as users read them: the same text on page, terminal and mail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, assert_never

import msgspec

from crawler.core.options.events import PREFIX, Event
from crawler.core.pages.outcomes import HOST_FAILURES, Category, Outcome, Tone
from crawler.core.protocol.completion import EndReason, Limit
from crawler.core.text.controls import Surface
from crawler.core.text.quantities import DASH, count, counted, duration, rate, size
from crawler.core.text.sanitize import one_line
from crawler.models import Crawl, KeptExtraction, Page
from crawler.reports import hints
from crawler.reports.progress import start_count, troubled_start_pages
from crawler.reports.receipt_parts import lines_of
from crawler.reports.slowdown_text import slowed_lines

__all__ = ["DASH", "count", "counted", "duration", "rate", "size"]
"""Of `core.text.quantities`, for modules that import this one as `text`."""

ENDED: dict[EndReason, str] = {
    EndReason.COMPLETE: "complete",
    EndReason.COMPLETE_WITH_ERRORS: "complete, with errors",
    EndReason.LIMIT: "limit reached",
    EndReason.DEADLINE: "deadline passed",
    EndReason.CANCELLED: "cancelled",
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

NAMED = 5  # start URLs listed when many of them failed


def outcome(value: str) -> str:
    """The label of an outcome as the table stores it."""
    return Outcome(value).label if value else "open"


def tone(value: str) -> Tone:
    """The tone of an outcome as the table stores it."""
    return Outcome(value).tone if value else Tone.NEUTRAL


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """An aligned table: each column is as wide as its widest cell, and each row is one line."""
    rows = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "".join(f"{line.rstrip()}\n" for line in lines)


def ended(receipt: Mapping[str, Any]) -> str:
    """Why a crawl ended, in a few words: "limit reached (pages, depth)"; "" while it is not over, and for receipts of
    earlier versions."""
    why = receipt.get("ended")
    if why is None:
        return ""
    limits = ", ".join(LIMITS[Limit(limit)] for limit in receipt["limits"])
    return f"{ENDED[EndReason(why)]} ({limits})" if why == EndReason.LIMIT and limits else ENDED[EndReason(why)]


def progress_text(done: int, total: int, *, at_most: bool) -> str:
    """ "12 of 1,170 pages", or with a page limit "12 of 40 at most"."""
    return f"{count(done)} of {count(total)} at most" if at_most else f"{count(done)} of {counted(total, 'page')}"


def run_time(receipt: Mapping[str, Any]) -> str:
    """How long a crawl ran, and the time with pauses if that is longer."""
    ran = duration(receipt["seconds"])
    over = duration(receipt.get("elapsed_seconds", receipt["seconds"]))
    return ran if ran == over else f"ran {ran} (over {over}, with pauses)"


def receipt_table(receipt: Mapping[str, Any], surface: Surface = Surface.COMMAND) -> str:
    """A receipt (see `reports.receipt`) as plain text: the terminal's and the mail's."""
    skipped = {outcome(reason): number for reason, number in receipt["skipped"].items()}
    still_open = _still_open(receipt)
    return aligned(
        [
            ("Crawl", receipt["id"]),
            ("State", receipt["state"]),
            *([("Ended", receipt["ended_message"])] if receipt.get("ended_message") else []),
            *_given(receipt),
            *lines_of(receipt, are_settings=True),
            ("Time", run_time(receipt)),
            ("Discovered", counted(receipt["discovered"], "page")),
            ("  fetched", _with_parts(receipt["fetched"], sorted(receipt["statuses"].items()))),
            ("  failed", _failed(receipt)),
            ("  skipped", _with_parts(sum(skipped.values()), skipped.items())),
            ("  cancelled", count(receipt["cancelled"])),
            *([("  open", count(still_open))] if still_open else []),
            *lines_of(receipt, are_settings=False),
            ("Requests", f"{count(receipt['requests'])}, retries: {count(receipt['retries'])}"),
            ("Received", size(receipt["bytes"])),
            *_listed("Slowed down", slowed_lines(receipt.get("slowed", ()))),
            *_listed("Notice to", [notice["address"] for notice in receipt["notifications"]]),
            *_listed("Hint", hints.lines_of(receipt.get("hints", ()), surface)),
        ]
    )


def _failed(receipt: Mapping[str, Any]) -> str:
    """With those lost, of crawls that acknowledge early."""
    lost = receipt.get("lost")
    return count(receipt["failed"]) + (f" ({count(lost)} lost with their workers)" if lost else "")


def list_read(report: Mapping[str, Any]) -> str:
    """ "12,345 lines: 12,000 URLs, 300 duplicates, 45 not usable"."""
    parts = (
        f"{counted(report['lines'], 'line')}: {counted(report['taken'], 'URL')}",
        f"{counted(report['duplicates'], 'duplicate')}",
        f"{count(report['invalid'])} invalid",
    )
    return ", ".join(parts)


def start_trouble(troubled: Sequence[Page], starts: int) -> str:
    """The outcomes of start pages without links to follow, on one line; `starts` = all start pages."""
    return one_line(_start_trouble(troubled, starts))


def _start_trouble(troubled: Sequence[Page], starts: int) -> str:
    if starts == 1:
        [page] = troubled
        return f"The start URL {page.url} {_what_happened(page)}, so there was nothing to follow."
    listed = "; ".join(f"{page.url} {_what_happened(page)}" for page in troubled[:NAMED])
    if len(troubled) > NAMED:
        listed += f"; and {count(len(troubled) - NAMED)} more"
    if len(troubled) == starts:
        return f"None of the {starts} start URLs returned any links: {listed}."
    return f"{len(troubled)} of the {starts} start URLs returned no links: {listed}."


def _what_happened(page: Page) -> str:
    came = Outcome(page.outcome)
    why = page.error.rstrip(".") or came.label
    match came.category:
        case Category.FETCHED:
            return f"responded with {page.http_status}"
        case Category.FAILED:
            return f"did not respond ({why})" if came in HOST_FAILURES else f"returned no usable response ({why})"
        case Category.SKIPPED | Category.CANCELLED:
            return f"was not requested ({why})"
    assert_never(came.category)


def _given(receipt: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The start URLs or the list of the crawl."""
    if "list" in receipt:
        return [("List", list_read(receipt["list"]))]
    return _listed("Start URL", receipt["start_urls"])


def _listed(name: str, values: Sequence[str]) -> list[tuple[str, str]]:
    """A row for each value; the first one has the name."""
    return [("" if number else name, value) for number, value in enumerate(values)]


def _with_parts(total: int, parts: Iterable[tuple[str, int]]) -> str:
    """ "1,170 (200: 1,168, 404: 2)"."""
    parts_text = ", ".join(f"{name}: {count(number)}" for name, number in parts if number)
    return count(total) + (f" ({parts_text})" if parts_text else "")


def _still_open(receipt: Mapping[str, Any]) -> int:
    done = receipt["fetched"] + receipt["failed"] + sum(receipt["skipped"].values()) + receipt["cancelled"]
    return int(receipt["discovered"] - done)


# Notices as text, for mail, chat and the log of deliveries.

EVENTS = {event: event.removeprefix(PREFIX) for event in Event} | {Event.PAGE: "pages"}
"""Each event in one word."""

SENTENCES = {
    Event.STARTED: "The crawl has started.",
    Event.PAGE: "Pages of the crawl are done.",
    Event.PAUSED: "The crawl is paused: no further pages are requested until a user resumes it.",
    Event.FINISHED: "The crawl is finished.",
    Event.FAILED: "The crawl failed: no start page could be fetched.",
    Event.CANCELLED: "The crawl is cancelled.",
    Event.TEST: "This is a test: notices about your crawls will arrive here.",
}


def event_word(event: str) -> str:
    """A word for an event as the table stores it."""
    return EVENTS[Event(event)] if event in EVENTS else event


def sentence(crawl: Crawl, event: Event, receipt: Mapping[str, Any] | None = None) -> str:
    """What happened; for a failed crawl the reason, and for an incomplete one what is missing, by the notice's receipt
    (receipts of earlier versions have neither)."""
    if event is Event.FINISHED and receipt and receipt.get("ended") not in (None, EndReason.COMPLETE):
        return f"{SENTENCES[event]} {receipt['ended_message']}"
    if event is not Event.FAILED:
        return SENTENCES[event]
    troubled = troubled_start_pages(crawl)
    return " ".join([SENTENCES[event], *([start_trouble(troubled, start_count(crawl))] if troubled else [])])


def figures(receipt: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The main figures of the receipt."""
    why = ended(receipt)
    return (
        *([("Ended", why)] if why else []),
        ("Discovered", count(receipt["discovered"])),
        ("Fetched", count(receipt["fetched"])),
        ("Failed", count(receipt["failed"])),
        ("Skipped", count(sum(receipt["skipped"].values()))),
        ("Time", run_time(receipt)),
        ("Received", size(receipt["bytes"])),
    )


# Replies to actions on a crawl, for page and terminal.


class Reply(msgspec.Struct, frozen=True):
    """A reply to a user."""

    line: str  # one sentence or two
    is_so: bool  # whether the requested state is reached, by this call or before


def to_delete(crawl: Crawl, deleted: bool) -> Reply:
    """The reply to delete; `crawl` as it was before."""
    if not deleted:
        return Reply("It was already deleted.", is_so=True)
    pages = counted(crawl.discovered, "page")
    return Reply(f"Deleted: the crawl of {crawl.site} with its {pages}.", is_so=True)


def to_retry(sent: int) -> Reply:
    """The reply to a retry of so many dead letters."""
    if sent:
        return Reply(f"{counted(sent, 'page')} queued for retry.", is_so=True)
    return Reply("Nothing to retry.", is_so=True)


def to_retry_chosen(pages: int, crawls: int, *, has_more: bool) -> Reply:
    """The reply to a retry of dead letters of several crawls."""
    if not pages:
        return to_retry(0)
    more = " More are left: retry again for the next." if has_more else ""
    return Reply(f"{counted(pages, 'page')} of {counted(crawls, 'crawl')} queued for retry.{more}", is_so=True)


def kept_extraction(row: KeptExtraction) -> str:
    """How far fields were extracted again from kept HTML, and of which pages they were not."""
    parts = [f"fields extracted again from {counted(row.read, 'page')} of saved HTML"]
    parts += [f"{counted(row.missing, 'HTML page')} without readable saved HTML"] if row.missing else []
    parts += [f"{counted(row.failed, 'page')} skipped, because workers died"] if row.failed else []
    return f"{'Done' if row.done_at else 'In progress'}: {'; '.join(parts)}."


def to_forget(host: str, *, had_to_wait: bool, crawls: int) -> Reply:
    """The reply to a user who ends the wait for a host."""
    if not had_to_wait:
        return Reply(f"No wait for {host} can be ended.", is_so=True)
    goes_on = f"{counted(crawls, 'crawl')} with its pages {'continues' if crawls == 1 else 'continue'}"
    return Reply(f"The wait for {host} is ended{f': {goes_on}' if crawls else ''}.", is_so=True)


def no_pages_of(host: str) -> Reply:
    """The reply when a crawl has no open pages of that host."""
    return Reply(f"This crawl does not wait for {host}.", is_so=False)
