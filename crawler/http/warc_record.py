"""Both heads of an exchange as they are archived, without the values of credentials."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from http import HTTPStatus

import msgspec

from crawler.http.response_parser import ResponseParser

NOT_KEPT = "(not kept)"


class ExchangeHeads(msgspec.Struct, frozen=True):
    """The heads of an exchange, without line ends."""

    request: str  # its first line
    request_headers: tuple[tuple[str, str], ...]  # name and value; the values of credentials are NOT_KEPT
    status_line: str  # "HTTP/1.1 200 OK"
    headers: tuple[tuple[str, str], ...]  # of the answer


class RecordedExchange(msgspec.Struct, frozen=True, kw_only=True):
    """The exchange of one further request of a page."""

    url: str
    sent_at: float  # epoch seconds
    heads: ExchangeHeads
    sent: bytes = b""  # the body of the request
    body: bytes = b""  # of the response, decoded
    is_cut: bool = False  # it was not read


class RecordingParser(ResponseParser):
    """Records the status line."""

    def __init__(self, max_head_bytes: int, *, bodiless: bool = False) -> None:
        super().__init__(max_head_bytes, bodiless=bodiless)
        self._reason = b""
        self.status_line = ""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._reason = b""

    def on_status(self, reason: bytes) -> None:
        self._reason += reason

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        if self.status:
            self.status_line = status_line(self._parser.get_http_version(), self.status, _text(self._reason))


def status_line(version: str, status: int, reason: str) -> str:
    """The first line of a response, with the usual reason if it has none."""
    return f"HTTP/{version} {status} {reason or _default_reason(status)}".rstrip()


def recorded(
    method: str,
    target: str,
    host: str,
    sent: Mapping[str, str],
    public: Collection[str],
    status_line: str,
    fields: Iterable[tuple[bytes, bytes]],
) -> ExchangeHeads:
    """Both heads of an exchange. Of the headers `sent`, those not in `public` (names in lower case) are credentials:
    their names are recorded, their values are not. Headers for a proxy are not recorded."""
    return ExchangeHeads(
        f"{method} {target} HTTP/1.1",
        (("Host", host), *((name, _public_value(name, value, public)) for name, value in sent.items())),
        status_line,
        tuple(_texts(fields)),
    )


def _public_value(name: str, value: str, public: Collection[str]) -> str:
    return value if name.lower() in public else NOT_KEPT


def _texts(fields: Iterable[tuple[bytes, bytes]]) -> Iterable[tuple[str, str]]:
    return ((_text(name), _text(value).strip()) for name, value in fields)


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _default_reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
