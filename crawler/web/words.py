"""Numbers, times and outcomes as people read them."""

from __future__ import annotations

from crawler.core.outcomes import Outcome

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

_UNITS = ("KB", "MB", "GB", "TB")


def count(number: int) -> str:
    """1170 -> "1,170"."""
    return f"{number:,}"


def pages(number: int) -> str:
    """1 -> "1 page", 1170 -> "1,170 pages"."""
    return f"{count(number)} page" + ("" if number == 1 else "s")


def size(number_of_bytes: int) -> str:
    """999 -> "999 B", 14600 -> "14.6 KB"; by thousands."""
    if number_of_bytes < 1000:
        return f"{number_of_bytes} B"
    value = float(number_of_bytes)
    for unit in _UNITS:
        value /= 1000
        if value < 999.95 or unit == _UNITS[-1]:
            break
    return f"{value:,.1f} {unit}"


def duration(seconds: float) -> str:
    """0.31 -> "0.3 s", 72 -> "1 min 12 s", 4000 -> "1 h 7 min"; the two largest units."""
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
    return f"{pages_a_second:,.0f}/s" if pages_a_second >= 100 else f"{pages_a_second:.1f}/s"


def outcome(value: str) -> str:
    """The words for an outcome as the table stores it."""
    return OUTCOMES[Outcome(value)] if value else "open"
