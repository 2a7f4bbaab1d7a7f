"""Receipts, progress and trouble in words: plain text for a terminal, a log or a mail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

from crawler.core.outcomes import Kind, Outcome
from crawler.models import Crawl, Page


def duration(seconds: float) -> str:
    """A time span as a person says it: "0.8 s", "42 s", "3 min 05 s", "2 h 07 min"."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def size(count: int) -> str:
    """A number of bytes as a person says it."""
    if count < 1000:
        return f"{count} bytes"
    value = float(count)
    for unit in ("kB", "MB", "GB"):
        value /= 1000
        if value < 999.95:
            return f"{value:.1f} {unit}"
    return f"{value / 1000:.1f} TB"


def counted(count: int, noun: str) -> str:
    """As in "1 page" and "1,170 pages"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def aligned(rows: Sequence[Sequence[str]], indent: str = "  ") -> str:
    """Rows as columns, each as wide as its widest cell; a line feed ends each row."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (indent.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "".join(f"{line.rstrip()}\n" for line in lines)


def receipt_table(receipt: dict[str, Any]) -> str:
    """A receipt (see `reports.receipt`) as an aligned table."""
    rows = [("Crawl", receipt["id"]), ("State", receipt["state"])]
    rows += [("Start URL" if number == 0 else "", url) for number, url in enumerate(receipt["start_urls"])]
    rows += [
        ("Time", duration(receipt["seconds"])),
        ("Discovered", counted(receipt["discovered"], "page")),
        ("  fetched", _with_parts(receipt["fetched"], receipt["statuses"])),
        ("  failed", f"{receipt['failed']:,}"),
        ("  skipped", _with_parts(sum(receipt["skipped"].values()), receipt["skipped"])),
        ("  cancelled", f"{receipt['cancelled']:,}"),
    ]
    left = _open(receipt)
    if left:
        rows.append(("  open", f"{left:,}"))
    rows += [
        ("Requests", f"{receipt['requests']:,}, retries: {receipt['retries']:,}"),
        ("Received", size(receipt["bytes"])),
    ]
    told = [notice["address"] for notice in receipt["notifications"]]
    rows += [("Notice to" if number == 0 else "", address) for number, address in enumerate(told)]
    return aligned(rows)


def progress_line(progress: dict[str, Any]) -> str:
    """Where a crawl stands (see `reports.progress`), in one line."""
    parts = [f"{progress['closed']:,} of {counted(progress['discovered'], 'page')}"]
    if progress["receipt"]["failed"]:
        parts.append(f"{progress['receipt']['failed']:,} failed")
    if progress["rate"] is not None:
        parts.append(rate(progress["rate"]))
    if progress["eta"] is not None:
        parts.append(f"about {duration(progress['eta'])} left")
    return ", ".join(parts)


def rate(pages_a_second: float) -> str:
    return f"{pages_a_second:,.{0 if pages_a_second >= 100 else 1}f} pages/s"


def crawl_table(crawls: Sequence[Crawl]) -> str:
    """Crawls as an aligned table, one a line."""
    head = ("ID", "STATE", "STARTED (UTC)", "PAGES", "CLOSED", "SITE")
    return aligned([head, *(_crawl_row(crawl) for crawl in crawls)])


def start_trouble(troubled: Sequence[Page], starts: int) -> str:
    """What became of start pages that gave nothing to follow; `starts` is the number of all start pages."""
    if starts == 1:
        [page] = troubled
        return f"The start URL {page.url} {_what_happened(page)}: there was nothing to follow."
    told = "; ".join(f"{page.url} {_what_happened(page)}" for page in troubled)
    if len(troubled) == starts:
        return f"None of the {starts} start URLs gave anything to follow: {told}."
    return f"{len(troubled)} of the {starts} start URLs gave nothing to follow: {told}."


def _what_happened(page: Page) -> str:
    outcome = Outcome(page.outcome)
    why = f"{outcome}: {page.error.rstrip('.')}" if page.error else str(outcome)
    match outcome.kind:
        case Kind.FETCHED:
            return f"answered {page.http_status}"
        case Kind.FAILED:
            silent = outcome in {Outcome.DNS, Outcome.CONNECT, Outcome.TLS, Outcome.TIMEOUT}
            return f"did not answer ({why})" if silent else f"gave no usable answer ({why})"
        case Kind.SKIPPED | Kind.CANCELLED:
            return f"was not asked for ({page.error.rstrip('.') or outcome})"
    assert_never(outcome.kind)


def _with_parts(total: int, parts: dict[str, int]) -> str:
    """ "1,170 (200: 1,168, 404: 2)"."""
    told = ", ".join(f"{name}: {count:,}" for name, count in parts.items() if count)
    return f"{total:,}" + (f" ({told})" if told else "")


def _open(receipt: dict[str, Any]) -> int:
    done = receipt["fetched"] + receipt["failed"] + sum(receipt["skipped"].values()) + receipt["cancelled"]
    return int(receipt["discovered"] - done)


def _crawl_row(crawl: Crawl) -> tuple[str, ...]:
    tallies = crawl.tallies
    more = f" and {len(crawl.start_urls) - 1} more" if len(crawl.start_urls) > 1 else ""
    return (
        str(crawl.id),
        str(crawl.state),
        f"{crawl.created_at:%Y-%m-%d %H:%M:%S}",
        f"{tallies.discovered:,}",
        f"{tallies.closed:,}",
        crawl.site + more,
    )
