"""The exceptions of fetching, their outcomes, and the texts that users see.

    CrawlerError
    └── FetchError          raised within a fetcher, never out of it; has its outcome
        ├── AddressRefused    the host leads to an address the guard does not allow
        │   └── PortRefused   the address is allowed, its port is not
        ├── NameNotFound      the host name does not resolve
        ├── NotConnected      no address of the host accepts a connection
        ├── ProxyRefused      the proxy refuses the connection
        ├── ConnectionClosed  the server closes the connection without a response
        ├── FetchTimeout      the server is slower than the limits allow
        ├── HeadTooLarge      status line and headers beyond the limit
        ├── BodyTooLarge      body beyond the limit
        └── InvalidResponse   what arrived cannot be read as an HTTP response

Exceptions of the system are looked up in a table. An exception that is not in `FETCH_ERRORS` is a bug and is not
caught; `RequestAborted` is neither.
"""

from __future__ import annotations

import ssl
from typing import ClassVar

from crawler.core.errors import CrawlerError
from crawler.core.pages.outcomes import Outcome

# Codes: X509_V_ERR_... of OpenSSL, https://docs.openssl.org/master/man3/X509_STORE_CTX_get_error/.
_CERTIFICATES = {
    9: "its certificate is not valid yet",
    10: "its certificate has expired",
    18: "its certificate is self-signed",
    19: "its certificate is from an authority that is not trusted here",
    20: "its certificate is from an authority that is not trusted here, or its chain is incomplete",
    21: "its certificate is from an authority that is not trusted here, or its chain is incomplete",
    23: "its certificate was revoked",
    66: "its certificate's key is too weak",
    67: "its authority's key is too weak",
    68: "its certificate has a weak signature",
}

_NOT_TLS = "the server does not speak TLS on this port"
_TOO_OLD = "the server does not support TLS 1.2 or later"
_NO_COMMON = "the server supports none of the offered ciphers, or requires a client certificate"
_VISITOR = "the server requires a client certificate"

# Reasons as Python names them; not every version of OpenSSL distinguishes all of them.
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
    "TLSV1_UNRECOGNIZED_NAME": "the server has no site with this name",
    "DH_KEY_TOO_SMALL": "the server's key is too weak",
    "EE_KEY_TOO_SMALL": "its certificate's key is too weak",
    "TLSV1_ALERT_INTERNAL_ERROR": "the server reports an internal error",
}


def tls_error_text(error: ssl.SSLError) -> str:
    """The text for a TLS error, followed by OpenSSL's own where ours may be inexact."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _CERTIFICATES.get(error.verify_code) or error.verify_message.rstrip(".")
    reason: str = getattr(error, "reason", None) or ""  # errors that Python itself raises have none
    said = reason.replace("_", " ").lower() or error.strerror or str(error)
    return f"{_REASONS[reason]} ({said})" if reason in _REASONS else said


MAX_ERROR_LENGTH = 300


class FetchError(CrawlerError):
    """Base of the exceptions that this package raises while fetching. Users see `str(error)`."""

    outcome: ClassVar[Outcome]


class AddressRefused(FetchError):
    """The host leads to an address that is not public and was not allowed."""

    outcome = Outcome.PRIVATE_ADDRESS


class PortRefused(AddressRefused):
    """The address is public or was allowed, and the port is neither listed nor named for this host."""


class NameNotFound(FetchError):
    """The host name does not resolve."""

    outcome = Outcome.DNS


class NotConnected(FetchError):
    """No address of the host accepts a connection."""

    outcome = Outcome.CONNECT


class ProxyRefused(FetchError):
    """The proxy refuses to connect to the host."""

    outcome = Outcome.CONNECT


class ConnectionClosed(FetchError):
    """The server closed the connection without a response."""

    outcome = Outcome.CONNECT


class FetchTimeout(FetchError):
    """The server is slower than the limits allow."""

    outcome = Outcome.TIMEOUT


class HeadTooLarge(FetchError):
    """Status line and headers are larger than the limit."""

    outcome = Outcome.TOO_LARGE


class BodyTooLarge(FetchError):
    """The body is larger than the limit, on the wire or decoded."""

    outcome = Outcome.TOO_LARGE


class InvalidResponse(FetchError):
    """What arrived cannot be read as an HTTP response."""

    outcome = Outcome.MALFORMED


class RequestAborted(Exception):
    """This process gave up the request: not an error of the server, so it has no outcome."""


FETCH_ERRORS = (
    FetchError,
    OSError,  # sockets, including ssl.SSLError
    UnicodeError,
)

# The first matching row decides.
_OUTCOMES: tuple[tuple[type[Exception], Outcome, str], ...] = (
    (TimeoutError, Outcome.TIMEOUT, "no response in time"),
    (ssl.SSLError, Outcome.TLS, "no secure TLS connection"),
    (OSError, Outcome.CONNECT, "the connection broke"),  # reset, broken pipe, no route, ...
    (UnicodeError, Outcome.MALFORMED, "this address cannot be requested"),
)


def outcome_of(error: BaseException) -> Outcome:
    """The outcome of an exception of `FETCH_ERRORS`."""
    return error.outcome if isinstance(error, FetchError) else _row_of(error)[0]


def explain(error: BaseException, stage: str = "") -> str:
    """One line for users: what happened, and the system's detail. `stage` says how far the exchange had got when the
    connection broke, such as "within the headers"."""
    if isinstance(error, FetchError):
        return one_line(str(error))
    outcome, words = _row_of(error)
    where = f" {stage}" if stage and outcome is Outcome.CONNECT else ""
    return one_line(f"{words}{where}: {_detail(error)}")


def one_line(text: str) -> str:
    """The text without line ends, control characters and invisible direction marks, truncated to fit a table."""
    line = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    return line if len(line) <= MAX_ERROR_LENGTH else line[: MAX_ERROR_LENGTH - 1] + "…"


def _row_of(error: BaseException) -> tuple[Outcome, str]:
    return next((outcome, words) for kind, outcome, words in _OUTCOMES if isinstance(error, kind))


def _detail(error: BaseException) -> str:
    if isinstance(error, ssl.SSLError):
        return tls_error_text(error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
