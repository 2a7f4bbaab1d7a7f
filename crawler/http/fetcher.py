"""The interface of every fetcher, its responses, and the meaning of their headers; independent of any HTTP library."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import Protocol

import msgspec

from crawler.core.pages.outcomes import Outcome
from crawler.http.memory_budget import MemoryShare
from crawler.http.warc_record import ExchangeHeads

HTML = frozenset({"text/html", "application/xhtml+xml"})
MIB = 1024 * 1024
NOTHING: Mapping[str, str] = MappingProxyType({})

Wants = Callable[[str], bool]
"""Whether to read the body of a response with this media type; "" if the server did not send one."""


def is_html(media_type: str) -> bool:
    return media_type in HTML


def anything(media_type: str) -> bool:
    return True


def anything_named(media_type: str) -> bool:
    """Any body with a media type; without one, only HTML."""
    return bool(media_type)


def nothing(media_type: str) -> bool:
    return False


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of time and memory for one request."""

    max_body_bytes: int = 10 * MIB  # on the wire as well as decoded
    max_header_bytes: int = 64 * 1024  # status line and headers together, interim responses included
    connect_seconds: float = 5.0  # for each address of the host, and again for TLS
    read_seconds: float = 10.0  # between two arrivals of bytes
    total_seconds: float = 30.0  # from the name lookup to the last byte


class FetchResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one request. A msgspec struct: as dataclasses, three per URL took a tenth of its time."""

    outcome: Outcome
    http_status: int | None = None  # None when no response arrived
    content_type: str = ""  # media type in lower case, without parameters
    content_type_header: str = ""  # the header as sent; its charset matters to the parser
    location: str = ""  # target of a redirect, as sent; may be relative
    retry_after: float | None = None  # seconds the server asked us to wait
    etag: str = ""  # validators that can be sent back; "" = none
    last_modified: str = ""
    robots_tags: tuple[str, ...] = ()  # the X-Robots-Tag headers
    cookies: tuple[str, ...] = ()  # the Set-Cookie headers; none in a crawl that logs in, which keeps them
    headers: str = ""  # all of them, one per line, as sent
    recorded: ExchangeHeads | None = None  # both heads of the exchange, if they are recorded
    body: bytes = b""  # decoded; empty unless it was wanted and complete
    share: MemoryShare | None = None  # of the memory budget; to be kept as long as the body
    bytes_read: int = 0  # of the body on the wire, without chunk framing
    elapsed_ms: int = 0
    first_byte_ms: int = 0  # until the head of the response was complete
    requests: int = 0  # requests sent; 2 if the server had closed a pooled connection
    certificate_error: str = ""  # why the server's certificate is not trusted, if it was accepted anyway
    error: str = ""  # one line for users; empty if a usable response arrived


class Fetcher(Protocol):
    """Requests one URL at a time; never raises for anything a server does."""

    def get(
        self,
        url: str,
        *,
        wants: Wants = is_html,
        truncate_at: int | None = None,
        headers: Mapping[str, str] = NOTHING,
        anonymous: bool = False,
        seconds: float | None = None,
    ) -> FetchResult:
        """Request this http(s) URL; redirects are reported, not followed.

        The body is read if `wants` accepts its media type, or if it has no media type and looks like HTML.
        `truncate_at` keeps that many bytes of a longer body instead of failing. `headers` replace default headers of
        the same name. An `anonymous` request has no credentials. `seconds` shortens the total time of `Limits` for this
        request.
        """
        ...

    def head(self, url: str, *, anonymous: bool = False, seconds: float | None = None) -> FetchResult:
        """The same without a body. Some servers respond differently than to `get`."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


_MEDIA_TYPE = re.compile(r"[^\s/,]+/[^\s/,]+")
_SECONDS = re.compile(r"[0-9]+")
MAX_RETRY_AFTER_S = 366 * 86400.0  # a year; longer waits are not meant, and a date must stay in range


def media_type_of(content_type: str) -> str:
    """The media type of a Content-Type header, in lower case and without parameters; "" when there is none."""
    media_type = content_type.partition(";")[0].strip().lower()
    return media_type if _MEDIA_TYPE.fullmatch(media_type) else ""


def text_of(value: str) -> str:
    """A header's text as browsers read it: UTF-8 if valid, else Latin-1, as which it was decoded."""
    if value.isascii():
        return value
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value


def parse_retry_after(value: str, now: float) -> float | None:
    """Seconds to wait, from 0 to a year, of a Retry-After header (RFC 9110, 10.2.3); None if it is not valid.

    `now`: epoch seconds, for headers with a date.
    """
    value = value.strip()
    if not value:
        return None
    if _SECONDS.fullmatch(value):
        return min(float(value), MAX_RETRY_AFTER_S)
    try:
        moment = parsedate_to_datetime(value)
        if moment.tzinfo is None:  # "-0000": a date without a time zone
            moment = moment.replace(tzinfo=UTC)
        return min(max(moment.timestamp() - now, 0.0), MAX_RETRY_AFTER_S)
    except (ValueError, OverflowError):
        return None
