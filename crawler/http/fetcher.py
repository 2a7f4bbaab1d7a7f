"""The interface of every fetcher, its responses, and the meaning of their headers; independent of any HTTP library."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from types import MappingProxyType, TracebackType
from typing import Protocol, Self

import msgspec

from crawler.core.crawl.outcomes import Outcome
from crawler.http.memory_budget import Share
from crawler.http.warc_record import Recorded

HTML = frozenset({"text/html", "application/xhtml+xml"})
MIB = 1024 * 1024
NOTHING: Mapping[str, str] = MappingProxyType({})

Wants = Callable[[str], bool]
"""Whether the body of a response with this media type is worth reading; "" when the server did not say."""


def is_html(media_type: str) -> bool:
    return media_type in HTML


def anything(media_type: str) -> bool:
    return True


def anything_named(media_type: str) -> bool:
    """Whatever says what it is; of what does not say, HTML alone."""
    return bool(media_type)


def nothing(media_type: str) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of our time and memory one request may take."""

    max_body_bytes: int = 10 * MIB  # on the wire as well as decoded
    max_header_bytes: int = 64 * 1024  # status line and headers together, interim responses included
    connect_seconds: float = 5.0  # for each address of the host, and again for TLS
    read_seconds: float = 10.0  # between two arrivals of bytes
    total_seconds: float = 30.0  # from the first look at the name to the last byte


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """What came of asking for one URL. Three are made for each; as dataclasses they took a tenth of its time."""

    outcome: Outcome
    http_status: int | None = None  # None when no response arrived
    content_type: str = ""  # media type in lower case, without parameters
    content_type_header: str = ""  # the header as sent; its charset matters to the parser
    location: str = ""  # where a redirect points, as sent; may be relative
    retry_after: float | None = None  # seconds the server asked us to wait
    etag: str = ""  # the answer's validators, fit to be sent back as they are; "" when it has none
    last_modified: str = ""
    robots_tags: tuple[str, ...] = ()  # the X-Robots-Tag headers
    headers: str = ""  # all of them, one a line, as sent
    recorded: Recorded | None = None  # both heads as they were, where they are to be kept
    body: bytes = b""  # decoded; empty unless it was wanted and complete
    share: Share | None = None  # of the room for large bodies; who keeps the body for longer keeps this with it
    bytes_read: int = 0  # of the body, as they came over the wire (chunk framing not counted)
    elapsed_ms: int = 0
    first_byte_ms: int = 0  # of those, until the answer's head was complete
    requests: int = 0  # requests made; 2 when a kept connection had been closed by the server meanwhile
    error: str = ""  # one line for a person; empty when a usable response arrived


class Fetcher(Protocol):
    """Asks for one URL at a time and never raises for anything a server does."""

    def get(
        self,
        url: str,
        *,
        wants: Wants = is_html,
        truncate_at: int | None = None,
        max_bytes: int | None = None,
        headers: Mapping[str, str] = NOTHING,
        anonymous: bool = False,
    ) -> Fetched:
        """What came of asking for this http(s) URL; redirects are reported, not followed.

        A body is read if `wants` says so of its media type. Without a media type it is read as well if what arrives
        looks like HTML. `truncate_at` keeps that many bytes of a longer body instead of calling it too large;
        `max_bytes` stands in for the limit of `Limits`, in either direction. `headers` go out with this request, in
        place of those of the same name that always do. An `anonymous` one carries no credentials, whatever its host.
        """
        ...

    def head(self, url: str, *, anonymous: bool = False) -> Fetched:
        """The same without a body. Not every server answers it as it answers `get`."""
        ...

    def close(self) -> None:
        """Let go of all connections."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


# What the headers of a response say: its media type, where it redirects to, how long we should wait.

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
