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

from crawler.core.crawl.outcomes import Outcome
from crawler.core.errors import CrawlerError

# What went wrong with TLS, in words: by the code of a certificate's check, or by the reason OpenSSL gives.

# Codes: X509_V_ERR_... of OpenSSL, https://docs.openssl.org/master/man3/X509_STORE_CTX_get_error/.
_CERTIFICATES = {
    9: "its certificate is not valid yet",
    10: "its certificate has expired",
    18: "its certificate is self-signed: nobody vouches for it",
    19: "its certificate comes from an authority that is not trusted here",
    20: "its certificate comes from an authority that is not trusted here, or not the whole chain is sent",
    21: "its certificate comes from an authority that is not trusted here, or not the whole chain is sent",
    23: "its certificate was revoked",
    66: "its certificate's key is too weak",
    67: "its authority's key is too weak",
    68: "its certificate is signed in a way that is too weak",
}

_NOT_TLS = "the server does not speak TLS on this port"
_TOO_OLD = "the server speaks no version of TLS from 1.2 on"
_NO_COMMON = "the server takes none of the ways of encryption offered, or wants a certificate of the visitor"
_VISITOR = "the server wants a certificate of the visitor"

# Names of reasons as Python gives them; not every version of OpenSSL tells all of them apart.
_REASONS = {
    "WRONG_VERSION_NUMBER": _NOT_TLS,
    "HTTP_REQUEST": _NOT_TLS,
    "HTTPS_PROXY_REQUEST": _NOT_TLS,
    "UNKNOWN_PROTOCOL": _NOT_TLS,
    "PACKET_LENGTH_TOO_LONG": _NOT_TLS,
    "RECORD_LAYER_FAILURE": _NOT_TLS,
    "UNSUPPORTED_PROTOCOL": _TOO_OLD,
    "WRONG_SSL_VERSION": _TOO_OLD,
    "TLSV1_ALERT_PROTOCOL_VERSION": _TOO_OLD,
    "SSLV3_ALERT_HANDSHAKE_FAILURE": _NO_COMMON,
    "SSL/TLS_ALERT_HANDSHAKE_FAILURE": _NO_COMMON,
    "TLSV1_ALERT_INSUFFICIENT_SECURITY": _NO_COMMON,
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": _VISITOR,
    "TLSV1_UNRECOGNIZED_NAME": "the server has no site of this name",
    "DH_KEY_TOO_SMALL": "the server's key is too weak",
    "EE_KEY_TOO_SMALL": "its certificate's key is too weak",
    "TLSV1_ALERT_INTERNAL_ERROR": "the server is in trouble itself",
}


def tls_words(error: ssl.SSLError) -> str:
    """What went wrong, with OpenSSL's own words behind it where ours are a guess."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _CERTIFICATES.get(error.verify_code) or error.verify_message.rstrip(".")
    reason: str = getattr(error, "reason", None) or ""  # there is none at those that Python itself makes
    said = reason.replace("_", " ").lower() or error.strerror or str(error)
    return f"{_REASONS[reason]} ({said})" if reason in _REASONS else said


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
