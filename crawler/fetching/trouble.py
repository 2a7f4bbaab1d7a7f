"""What can go wrong while fetching: which outcome each exception stands for, and what to tell a person.

    CrawlerError
    └── FetchTrouble          raised within a fetcher, never out of it; knows its outcome
        ├── AddressRefused    the host leads to an address the guard does not allow
        │   └── PortRefused   the address would do, and its port does not
        ├── NameNotFound      the host name does not resolve
        ├── NotConnected      no address of the host takes a connection
        ├── ProxyRefused      the proxy does not let us through
        ├── HungUp            the server closes the connection without a byte
        ├── OutOfTime         the server is slower than the limits allow
        ├── HeadTooLarge      status line and headers beyond the limit
        ├── BodyTooLarge      body beyond the limit
        └── NotHttp           what arrived is not HTTP we can use

Whatever the system raises is looked up in a table. What is not in `TROUBLE` is a mistake of ours and is not caught;
`Aborted` is neither.
"""

from __future__ import annotations

import ssl
from typing import ClassVar

from crawler.core.errors import CrawlerError
from crawler.core.outcomes import Outcome
from crawler.fetching.tls_words import tls_words

MAX_ERROR_LENGTH = 300


class FetchTrouble(CrawlerError):
    """The base of what our own code raises while fetching. `str(error)` is what a person is told."""

    outcome: ClassVar[Outcome]


class AddressRefused(FetchTrouble):
    """The host leads to an address that is not public and was not allowed."""

    outcome = Outcome.PRIVATE_ADDRESS


class PortRefused(AddressRefused):
    """The address is public or was allowed, and the port is neither listed nor named for this host."""


class NameNotFound(FetchTrouble):
    """The host name does not resolve."""

    outcome = Outcome.DNS


class NotConnected(FetchTrouble):
    """No address of the host takes a connection."""

    outcome = Outcome.CONNECT


class ProxyRefused(FetchTrouble):
    """The proxy does not let us through to the host."""

    outcome = Outcome.CONNECT


class HungUp(FetchTrouble):
    """The server closed the connection without an answer."""

    outcome = Outcome.CONNECT


class OutOfTime(FetchTrouble):
    """The server is slower than the limits allow."""

    outcome = Outcome.TIMEOUT


class HeadTooLarge(FetchTrouble):
    """Status line and headers are larger than the limit."""

    outcome = Outcome.TOO_LARGE


class BodyTooLarge(FetchTrouble):
    """The body is larger than the limit, on the wire or decoded."""

    outcome = Outcome.TOO_LARGE


class NotHttp(FetchTrouble):
    """What arrived cannot be read as an HTTP response."""

    outcome = Outcome.MALFORMED


class Aborted(Exception):
    """This process gave the request up (`Exchange.abort`): that says nothing of the server, and has no outcome."""


TROUBLE = (
    FetchTrouble,
    OSError,  # sockets, and ssl.SSLError with them
    UnicodeError,
)

# The first row that fits decides.
_OUTCOMES: tuple[tuple[type[Exception], Outcome, str], ...] = (
    (TimeoutError, Outcome.TIMEOUT, "no answer in time"),
    (ssl.SSLError, Outcome.TLS, "no trustworthy TLS connection"),
    (OSError, Outcome.CONNECT, "the connection broke"),  # reset, broken pipe, no route, ...
    (UnicodeError, Outcome.MALFORMED, "this address cannot be asked for"),
)


def outcome_of(error: BaseException) -> Outcome:
    """The outcome an exception of `TROUBLE` stands for."""
    return error.outcome if isinstance(error, FetchTrouble) else _row_of(error)[0]


def explain(error: BaseException, stage: str = "") -> str:
    """One line for a person: what happened in our words, and the detail the system gave. `stage` says how far a
    connection that broke had come, such as "within the headers"."""
    if isinstance(error, FetchTrouble):
        return one_line(str(error))
    outcome, words = _row_of(error)
    where = f" {stage}" if stage and outcome is Outcome.CONNECT else ""
    return one_line(f"{words}{where}: {_detail(error)}")


def one_line(text: str) -> str:
    """The text without line ends, control characters and invisible direction marks, cut to what a table can show."""
    line = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    return line if len(line) <= MAX_ERROR_LENGTH else line[: MAX_ERROR_LENGTH - 1] + "…"


def _row_of(error: BaseException) -> tuple[Outcome, str]:
    return next((outcome, words) for kind, outcome, words in _OUTCOMES if isinstance(error, kind))


def _detail(error: BaseException) -> str:
    if isinstance(error, ssl.SSLError):
        return tls_words(error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
