"""How a page can close: the closed set of outcomes, and the four heaps a receipt sorts them into."""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never


class Kind(StrEnum):
    """The heap of the receipt an outcome is counted in."""

    FETCHED = "fetched"  # a response arrived, whatever its status
    FAILED = "failed"  # asked for, but no usable response arrived
    SKIPPED = "skipped"  # never asked for, for a stated reason
    CANCELLED = "cancelled"  # never asked for, because a person stopped the crawl


class Outcome(StrEnum):
    """How a page closed. The value is what the table, the export and the receipt show."""

    SUCCESS = "2xx"  # a response in 200-299
    REDIRECT = "3xx"  # a response in 300-399; its target is a page of its own
    CLIENT_ERROR = "4xx"  # a response in 400-499
    SERVER_ERROR = "5xx"  # a response in 500-599
    UNCHANGED = "unchanged"  # 304 to a question with validators: the answer is the one that is remembered

    DNS = "dns"  # the host name does not resolve
    CONNECT = "connect"  # the connection was refused, reset or never made
    TLS = "tls"  # no trustworthy TLS connection
    TIMEOUT = "timeout"  # connecting, reading or the whole exchange took too long
    TOO_LARGE = "too_large"  # headers or body beyond the limit; what was read is not parsed
    MALFORMED = "malformed"  # what arrived is not HTTP we can use
    CRASHED = "crashed"  # the worker died each time it worked on this page

    ROBOTS = "robots"  # robots.txt forbids it, or could not be had (RFC 9309, 2.3.1.4)
    LIMIT = "limit"  # beyond the crawl's page or depth limit
    TRAP = "trap"  # part of an endless series
    PRIVATE_ADDRESS = "private_address"  # the host leads to an address that is not public
    TOO_MANY_REDIRECTS = "too_many_redirects"  # the eleventh hop of a chain
    EXPIRED = "expired"  # its deadline passed before it was asked for
    EXTERNAL = "external"  # a link that leaves the site, recorded only: no page of the crawl, and in none of its sums

    CANCELLED = "cancelled"  # the crawl was cancelled while it was open

    @property
    def kind(self) -> Kind:
        match self:
            case Outcome.SUCCESS | Outcome.REDIRECT | Outcome.CLIENT_ERROR | Outcome.SERVER_ERROR | Outcome.UNCHANGED:
                return Kind.FETCHED
            case (
                Outcome.DNS
                | Outcome.CONNECT
                | Outcome.TLS
                | Outcome.TIMEOUT
                | Outcome.TOO_LARGE
                | Outcome.MALFORMED
                | Outcome.CRASHED
            ):
                return Kind.FAILED
            case (
                Outcome.ROBOTS
                | Outcome.LIMIT
                | Outcome.TRAP
                | Outcome.PRIVATE_ADDRESS
                | Outcome.TOO_MANY_REDIRECTS
                | Outcome.EXPIRED
                | Outcome.EXTERNAL
            ):
                return Kind.SKIPPED
            case Outcome.CANCELLED:
                return Kind.CANCELLED
        assert_never(self)


def of_status(http_status: int) -> Outcome:
    """The outcome of a final response with this status code; anything outside 200-599 is malformed."""
    match http_status // 100:
        case 2:
            return Outcome.SUCCESS
        case 3:
            return Outcome.REDIRECT
        case 4:
            return Outcome.CLIENT_ERROR
        case 5:
            return Outcome.SERVER_ERROR
        case _:
            return Outcome.MALFORMED
