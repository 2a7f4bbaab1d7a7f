"""Outcomes, receipts and trouble as people read them, with numbers (`core.figures`): the same words on page, terminal
and mail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, assert_never

from crawler.core.figures import DASH, count, counted, duration, rate, size
from crawler.core.outcomes import Kind, Outcome
from crawler.core.visible import one_line
from crawler.models import Page

__all__ = [
    "DASH",
    "OUTCOMES",
    "aligned",
    "count",
    "counted",
    "duration",
    "list_read",
    "outcome",
    "rate",
    "receipt_table",
    "size",
    "start_trouble",
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


def receipt_table(receipt: Mapping[str, Any]) -> str:
    """A receipt (see `reports.receipt`) as plain text: the terminal's and the mail's."""
    skipped = {outcome(reason): number for reason, number in receipt["skipped"].items()}
    still_open = _still_open(receipt)
    return aligned(
        [
            ("Crawl", receipt["id"]),
            ("State", receipt["state"]),
            *_given(receipt),
            ("Time", duration(receipt["seconds"])),
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
