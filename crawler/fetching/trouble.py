"""What can go wrong while fetching: which outcome each exception stands for, and what to tell a person.

    CrawlerError
    └── FetchTrouble          raised within a fetcher, never out of it; knows its outcome
        ├── AddressRefused    the host leads to an address the guard does not allow
        ├── NameNotFound      the host name does not resolve
        ├── NotConnected      no address of the host takes a connection
        ├── ProxyRefused      the proxy does not let us through
        ├── OutOfTime         the server is slower than the limits allow
        ├── HeadTooLarge      status line and headers beyond the limit
        ├── BodyTooLarge      body beyond the limit
        └── NotHttp           what arrived is not HTTP we can use

Whatever the libraries raise is looked up in a table. What is not in `TROUBLE` is a mistake of ours and is not caught.
"""

from __future__ import annotations

import http.client
import ssl
from typing import ClassVar

import requests
import urllib3.exceptions

from crawler.core.errors import CrawlerError
from crawler.core.outcomes import Outcome

MAX_ERROR_LENGTH = 300


class FetchTrouble(CrawlerError):
    """The base of what our own code raises while fetching. `str(error)` is what a person is told."""

    outcome: ClassVar[Outcome]


class AddressRefused(FetchTrouble):
    """The host leads to an address that is not public and was not allowed."""

    outcome = Outcome.PRIVATE_ADDRESS


class NameNotFound(FetchTrouble):
    """The host name does not resolve."""

    outcome = Outcome.DNS


class NotConnected(FetchTrouble):
    """No address of the host takes a connection."""

    outcome = Outcome.CONNECT


class ProxyRefused(FetchTrouble):
    """The proxy does not let us through to the host."""

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


TROUBLE = (
    FetchTrouble,
    requests.RequestException,
    urllib3.exceptions.HTTPError,
    http.client.HTTPException,
    OSError,  # sockets, and ssl.SSLError with them
    UnicodeError,
)

# The first row that fits any exception of the chain decides.
_OUTCOMES: tuple[tuple[tuple[type[BaseException], ...], Outcome], ...] = (
    ((TimeoutError, urllib3.exceptions.TimeoutError), Outcome.TIMEOUT),
    ((ssl.SSLError, ssl.CertificateError, urllib3.exceptions.SSLError), Outcome.TLS),
    ((http.client.LineTooLong,), Outcome.TOO_LARGE),
    ((http.client.RemoteDisconnected,), Outcome.CONNECT),  # a BadStatusLine too, but nothing at all has arrived
    ((http.client.HTTPException,), Outcome.MALFORMED),
    ((OSError,), Outcome.CONNECT),  # reset, broken pipe, no route, ...
)

_IN_WORDS = {
    Outcome.TIMEOUT: "no answer in time",
    Outcome.TLS: "no trustworthy TLS connection",
    Outcome.TOO_LARGE: "the headers are larger than allowed",
    Outcome.CONNECT: "the connection broke",
    Outcome.MALFORMED: "what arrived is not HTTP we can use",
}


def outcome_of(error: BaseException) -> Outcome:
    """The outcome an exception of `TROUBLE` stands for, however many libraries wrapped it."""
    chain = _chain(error)
    for link in chain:
        if isinstance(link, FetchTrouble):
            return link.outcome
        if _is_too_many_headers(link):
            return Outcome.TOO_LARGE
    for kinds, outcome in _OUTCOMES:
        if any(isinstance(link, kinds) for link in chain):
            return outcome
    return Outcome.MALFORMED  # broken chunks, headers that contradict each other, a URL the libraries cannot take


def explain(error: BaseException) -> str:
    """One line for a person: what happened in our words, and the detail the system gave."""
    chain = _chain(error)
    for link in chain:
        if isinstance(link, FetchTrouble):
            return one_line(str(link))
    return one_line(f"{_IN_WORDS[outcome_of(error)]}: {_detail(chain[-1])}")


def one_line(text: str) -> str:
    """The text without line ends, control characters and invisible direction marks, cut to what a table can show."""
    line = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    return line if len(line) <= MAX_ERROR_LENGTH else line[: MAX_ERROR_LENGTH - 1] + "…"


def _chain(error: BaseException) -> list[BaseException]:
    """The exception and what it was raised for, outermost first, down to the one that began it.

    The wrappers of requests are left out when they wrap something: all of them are OSErrors and would hide it.
    """
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in chain:
        chain.append(link)
        link = link.__cause__ or _wrapped(link) or link.__context__
    return [link for link in chain if not isinstance(link, requests.RequestException)] or [
        CrawlerError(str(error) or type(error).__name__)
    ]


def _wrapped(error: BaseException) -> BaseException | None:
    """The exception that urllib3 and requests put among an exception's arguments, or into its `reason`."""
    inner = (*error.args, getattr(error, "reason", None))
    return next((item for item in inner if isinstance(item, BaseException)), None)


def _is_too_many_headers(error: BaseException) -> bool:
    """http.client raises its base class, bare, for more than 100 headers and for nothing else."""
    return type(error) is http.client.HTTPException


def _detail(error: BaseException) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
