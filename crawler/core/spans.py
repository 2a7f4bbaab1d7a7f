"""How people write a span of time: "90", "90s", "30m", "1h 30m", "2 days"."""

from __future__ import annotations

import math
import re

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_PART = r"(\d+(?:\.\d+)?)\s*(s|sec|seconds?|m|min|minutes?|h|hours?|d|days?)"
_EACH = re.compile(_PART, re.ASCII | re.IGNORECASE)
_PARTS = re.compile(rf"(?:{_PART}\s*)+", re.ASCII | re.IGNORECASE)


def seconds_of(typed: str) -> float | None:
    """The seconds meant by a number of them or by numbers with units; None when it is neither.

    Whether so many make sense is for others to judge: "-1" is a number too.
    """
    text = typed.strip()
    if _PARTS.fullmatch(text):
        return sum(float(number) * _UNITS[unit[0].lower()] for number, unit in _EACH.findall(text))
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
        number, rest = divmod(rest, _UNITS[unit])
        parts += [f"{number}{unit}"] if number else []
    return " ".join(parts)
