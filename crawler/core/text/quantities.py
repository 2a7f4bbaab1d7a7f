"""Numbers, sizes and durations: how they are displayed, and how users type them."""

from __future__ import annotations

import math
import re
from decimal import Decimal

DASH = "–"  # noqa: RUF001 (an en dash is meant): an unknown number

_UNITS = ("kB", "MB", "GB", "TB")
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,18})?)\s*(?:([kmgt])(i?)b?|b|bytes?)?", re.ASCII | re.IGNORECASE)


def count(number: int) -> str:
    """1170 -> "1,170"."""
    return f"{number:,}"


def counted(number: int, noun: str) -> str:
    """1 -> "1 page", 2 -> "2 batches", 3 -> "3 tries", 1170 -> "1,170 pages"."""
    return f"{count(number)} {noun if number == 1 else _several(noun)}"


def _several(noun: str) -> str:
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith("ch") else f"{noun}s"


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


def exact_size(number_of_bytes: int) -> str:
    """2_000_000_000 -> "2GB", 1_500 -> "1500B": as `bytes_of` reads it, in the largest unit that keeps it exact."""
    for power in range(len(_UNITS), 0, -1):
        if number_of_bytes and number_of_bytes % 1000**power == 0:
            return f"{number_of_bytes // 1000**power}{_UNITS[power - 1]}"
    return f"{number_of_bytes}B"


def bytes_of(typed: str) -> int | None:
    """ "500", "10MB", "1.5 GB" or "2GiB" -> bytes; None when it is no size. By thousands, with an "i" by 1024."""
    match = _SIZE.fullmatch(typed.strip())
    if match is None:
        return None
    number, letter, binary = match.groups()
    power = "kmgt".index(letter.lower()) + 1 if letter else 0
    return int(Decimal(number) * (1024 if binary else 1000) ** power)


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


# Durations as users type them: "90", "90s", "30m", "1h 30m", "2 days".

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_PART = r"(\d+(?:\.\d+)?)\s*(s|sec|seconds?|m|min|minutes?|h|hours?|d|days?)"
_EACH = re.compile(_PART, re.ASCII | re.IGNORECASE)
_PARTS = re.compile(rf"(?:{_PART}\s*)+", re.ASCII | re.IGNORECASE)


def seconds_of(typed: str) -> float | None:
    """The seconds in a number, or in numbers with units; None when it is neither. The caller checks the range: "-1" is
    a number too."""
    text = typed.strip()
    if _PARTS.fullmatch(text):
        return sum(float(number) * _SECONDS[unit[0].lower()] for number, unit in _EACH.findall(text))
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def exact_span(seconds: float) -> str:
    """7200 -> "2h", 90 -> "1m 30s", 0.5 -> "0.5": as `seconds_of` reads it."""
    if seconds < 1 or seconds != int(seconds):
        return repr(seconds)
    rest, parts = int(seconds), []
    for unit in ("d", "h", "m", "s"):
        number, rest = divmod(rest, _SECONDS[unit])
        parts += [f"{number}{unit}"] if number else []
    return " ".join(parts)
