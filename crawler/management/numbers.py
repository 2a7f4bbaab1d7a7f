"""Numbers, sizes and times on the command line, as types of argparse. Needs the standard library alone."""

from __future__ import annotations

import math
from argparse import ArgumentTypeError

from crawler.core.text.quantities import bytes_of, seconds_of


def whole(typed: str) -> int:
    """An argparse type: a whole number."""
    try:
        return int(typed)
    except ValueError:
        raise ArgumentTypeError(f"{typed!r} is not a whole number") from None


def positive(typed: str) -> int:
    """A whole number of 1 or more."""
    if whole(typed) < 1:
        raise ArgumentTypeError(f"it must be 1 or more, not {typed}")
    return whole(typed)


def number(typed: str) -> float:
    """A number; may have a fraction."""
    try:
        value = float(typed)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ArgumentTypeError(f"{typed!r} is not a number")
    return value


def size(typed: str) -> int:
    """Bytes, as a number or with a unit."""
    value = bytes_of(typed)
    if value is None:
        raise ArgumentTypeError(f"{typed!r} is not a size such as 500kB, 10MB or 2GB")
    return value


def seconds(typed: str) -> float:
    """A number of seconds; may have a fraction."""
    try:
        return number(typed)
    except ArgumentTypeError as error:
        raise ArgumentTypeError(f"{error} of seconds") from None


def span(typed: str) -> float:
    """Seconds, as a number or with units. The range is checked with the other options."""
    value = seconds_of(typed)
    if value is None:
        raise ArgumentTypeError(f"{typed!r} is not a time such as 2h, 30m, 90s or 90")
    return value


def positive_span(typed: str) -> float:
    """A span of more than 0 seconds."""
    if span(typed) <= 0:
        raise ArgumentTypeError(f"it must be more than 0 seconds, not {typed}")
    return span(typed)
