"""The values of an entry next to its URL: priority, time to live, earliest time, and columns kept for the results."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from crawler.core.options.kinds import MAX_DAYS
from crawler.core.text.quantities import seconds_of

MAX_META_COLUMNS = 64
MAX_META_BYTES = 4_000  # of an entry, as JSON
LATEST = datetime(9999, 1, 1, tzinfo=UTC).timestamp()

_QUOTED = 40  # characters of a value in a sentence
_json = msgspec.json.Encoder().encode


class BadValue(Exception):
    """A value that cannot be used; the message is a sentence."""


class Values(NamedTuple):
    """The values of a line besides the URL."""

    priority: int | None = None  # 0 (last) to 10 (first); None = not given
    ttl: float | None = None  # seconds from when the line is read, after which the page is not requested any more
    not_before: float | None = None  # epoch seconds before which it is not requested
    meta: Mapping[str, Any] | None = None  # name -> value of the other columns; None = there are none


def values_of(priority: str, ttl: str, not_before: str, meta: Mapping[str, Any]) -> Values:
    """The values of a line as typed; "" = not given. Raises BadValue."""
    return Values(_priority(priority), _ttl(ttl), _not_before(not_before), _checked(meta) if meta else None)


def priority_of(typed: str) -> int | None:
    """A priority in a list: a whole number from 0 to 10, or from 0.0 to 1.0 as in sitemaps; None if invalid."""
    if re.fullmatch(r"[0-9]|10", typed):
        return int(typed)
    if re.fullmatch(r"0?\.[0-9]+|1\.0+", typed):
        return int(float(typed) * 10 + 0.5)
    return None


def moment_of(typed: str) -> float | None:
    """Epoch seconds of a time in ISO 8601 (UTC unless it names a zone) or in epoch seconds; None if it is neither."""
    try:
        moment = float(typed)
    except ValueError:
        try:
            read = datetime.fromisoformat(typed)
            moment = (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    return moment if 0 <= moment < LATEST else None


def _priority(typed: str) -> int | None:
    if not typed:
        return None
    priority = priority_of(typed)
    if priority is None:
        raise BadValue(f"{typed[:_QUOTED]!r} is not a valid priority: enter 0 (last) to 10 (first), or 0.0 to 1.0.")
    return priority


def _ttl(typed: str) -> float | None:
    if not typed:
        return None
    seconds = seconds_of(typed)
    if seconds is None or not (math.isfinite(seconds) and 0 < seconds <= MAX_DAYS * 86400):
        raise BadValue(
            f"{typed[:_QUOTED]!r} is not a valid time to live: enter seconds or a duration such as 30m, at most "
            f"{MAX_DAYS} days."
        )
    return seconds


def _not_before(typed: str) -> float | None:
    if not typed:
        return None
    moment = moment_of(typed)
    if moment is None:
        raise BadValue(
            f"{typed[:_QUOTED]!r} is not a valid time: enter one such as 2026-11-23T20:15:00Z, or seconds since 1970."
        )
    return moment


def _checked(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    if len(meta) > MAX_META_COLUMNS:
        raise BadValue(f"It has {len(meta)} additional values; the results can have at most {MAX_META_COLUMNS}.")
    for name, value in meta.items():
        if isinstance(value, (dict, list)):
            raise BadValue(f"The value of {name[:_QUOTED]!r} must be text, a number, true or false.")
    try:
        size = len(_json(meta))
    except (OverflowError, UnicodeEncodeError):
        raise BadValue("One of its additional values is not valid text, or is a number of more than 64 bits.") from None
    if size > MAX_META_BYTES:
        raise BadValue(
            f"Its additional values take {size:,} bytes; the results can have at most {MAX_META_BYTES:,}. Shorten "
            "them, or remove columns."
        )
    return meta
