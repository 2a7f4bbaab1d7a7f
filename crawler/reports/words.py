"""Numbers, outcomes, receipts and trouble as people read them: the same words on page, terminal and mail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, assert_never

from crawler.core.outcomes import Kind, Outcome
from crawler.models import Page

DASH = "–"  # noqa: RUF001 (an en dash is meant): stands for a figure nobody can give

OUTCOMES: dict[Outcome, str] = {
    Outcome.SUCCESS: "OK",
    Outcome.REDIRECT: "redirect",
    Outcome.CLIENT_ERROR: "client error",
    Outcome.SERVER_ERROR: "server error",
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
    Outcome.PRIVATE_ADDRESS: "address not public",
    Outcome.TOO_MANY_REDIRECTS: "too many redirects",
    Outcome.EXPIRED: "expired",
    Outcome.CANCELLED: "cancelled",
}
"""Every outcome in a few words, to stand in a table."""

_SILENT = {Outcome.DNS, Outcome.CONNECT, Outcome.TLS, Outcome.TIMEOUT}

_UNITS = ("kB", "MB", "GB", "TB")


def count(number: int) -> str:
    """1170 -> "1,170"."""
    return f"{number:,}"


def counted(number: int, noun: str) -> str:
    """1 -> "1 page", 1170 -> "1,170 pages"."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def size(number_of_bytes: int) -> str:
    """999 -> "999 B", 14600 -> "14.6 kB"; by thousands."""
    if number_of_bytes < 1000:
        return f"{number_of_bytes} B"
    value = float(number_of_bytes)
    for unit in _UNITS:
        value /= 1000
        if value < 999.95 or unit == _UNITS[-1]:
            break
    return f"{value:,.1f} {unit}"


def duration(seconds: float) -> str:
    """0.31 -> "0.3 s", 72 -> "1 min 12 s", 4000 -> "1 h 6 min"; the two largest units."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"


def rate(pages_a_second: float | None) -> str:
    """153.24 -> "153/s", 4.2 -> "4.2/s"; a dash while there is too little to measure."""
    if pages_a_second is None:
        return DASH
    return f"{pages_a_second:,.0f}/s" if pages_a_second >= 99.95 else f"{pages_a_second:.1f}/s"


def outcome(value: str) -> str:
    """The words for an outcome as the table stores it."""
    return OUTCOMES[Outcome(value)] if value else "open"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows as columns, each as wide as its widest cell; a line feed ends each row."""
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
            *_listed("Start URL", receipt["start_urls"]),
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


def start_trouble(troubled: Sequence[Page], starts: int) -> str:
    """What became of start pages that gave nothing to follow; `starts` is the number of all start pages."""
    if starts == 1:
        [page] = troubled
        return f"The start URL {page.url} {_what_happened(page)}, so there was nothing to follow."
    told = "; ".join(f"{page.url} {_what_happened(page)}" for page in troubled)
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
