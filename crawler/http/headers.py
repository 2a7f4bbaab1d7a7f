"""What the headers of a response say: its media type, where it redirects to, how long we should wait."""

from __future__ import annotations

import re
from datetime import UTC
from email.utils import parsedate_to_datetime

_MEDIA_TYPE = re.compile(r"[^\s/,]+/[^\s/,]+")
_SECONDS = re.compile(r"[0-9]+")
LONGEST_WAIT = 366 * 86400.0  # seconds; nobody means more, and a sum with it stays a date


def media_type_of(content_type: str) -> str:
    """The media type of a Content-Type header, in lower case and without parameters; "" when there is none."""
    media_type = content_type.partition(";")[0].strip().lower()
    return media_type if _MEDIA_TYPE.fullmatch(media_type) else ""


def text_of(value: str) -> str:
    """A header's text as browsers read it: UTF-8 if it is that, else Latin-1, which is how it was handed to us."""
    if value.isascii():
        return value
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value


def parse_retry_after(value: str, now: float) -> float | None:
    """Seconds to wait, from 0 to a year, of a Retry-After header (RFC 9110, 10.2.3); None when it says nothing usable.

    `now` is in seconds since the epoch, for the headers that give a date.
    """
    value = value.strip()
    if not value:
        return None
    if _SECONDS.fullmatch(value):
        return min(float(value), LONGEST_WAIT)
    try:
        moment = parsedate_to_datetime(value)
        if moment.tzinfo is None:  # "-0000": a date that does not say where it was taken
            moment = moment.replace(tzinfo=UTC)
        return min(max(moment.timestamp() - now, 0.0), LONGEST_WAIT)
    except (ValueError, OverflowError):
        return None
