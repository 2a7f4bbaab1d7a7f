"""Numbers as people read them."""

from __future__ import annotations

DASH = "–"  # noqa: RUF001 (an en dash is meant): stands for a figure nobody can give

_UNITS = ("kB", "MB", "GB", "TB")


def count(number: int) -> str:
    """1170 -> "1,170"."""
    return f"{number:,}"


def counted(number: int, noun: str) -> str:
    """1 -> "1 page", 2 -> "2 batches", 1170 -> "1,170 pages"."""
    ending = "es" if noun.endswith("ch") else "s"
    return f"{count(number)} {noun}{'' if number == 1 else ending}"


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
