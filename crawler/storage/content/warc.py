"""Writes an exchange as WARC/1.1 records (ISO 28500) that other tools can replay: the response, then the request, each
a gzip member of its own.

The body is stored decoded, since some tools do not know all content codings. So Content-Encoding, Transfer-Encoding and
a wrong Content-Length are renamed to X-Archive-Orig-..., as web archives do with headers that no longer apply.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from urllib.parse import quote

from warcio.recordbuilder import RecordBuilder
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

VERSION = "WARC/1.1"
ORIGINAL = "X-Archive-Orig-"
_ALLOWED = "".join(map(chr, range(32, 127)))  # characters of a status line that warcio accepts

Headers = Iterable[tuple[str, str]]


def exchange(
    url: str,
    fetched_at: float,
    request: tuple[str, Headers],
    response: tuple[str, Headers],
    body: bytes,
    *,
    sent: bytes = b"",
    is_cut: bool = False,
) -> bytes:
    """The two records, compressed. `request` and `response` are a first line and headers; the time in epoch seconds.
    `sent` is the body of the request, `is_cut` says that the response's was not read."""
    builder, out = RecordBuilder(warc_version=VERSION), io.BytesIO()
    dated = {"WARC-Date": _moment(fetched_at)}
    response_record = builder.create_warc_record(
        url,
        "response",
        payload=io.BytesIO(body),
        length=len(body),
        warc_headers_dict=dated | ({"WARC-Truncated": "unspecified"} if is_cut else {}),
        http_headers=_head(response[0], _adjusted(response[1], len(body))),
    )
    request_record = builder.create_warc_record(
        url,
        "request",
        payload=io.BytesIO(sent),
        length=len(sent),
        warc_headers_dict=dict(dated),
        http_headers=_request_head(*request),
    )
    WARCWriter(out, gzip=True, warc_version=VERSION).write_request_response_pair(request_record, response_record)
    return out.getvalue()


def info(name: str, said: Mapping[str, str]) -> bytes:
    """The warcinfo record that begins a WARC file, compressed."""
    out = io.BytesIO()
    record = RecordBuilder(warc_version=VERSION).create_warcinfo_record(name, dict(said))
    WARCWriter(out, gzip=True, warc_version=VERSION).write_record(record)
    return out.getvalue()


def _adjusted(headers: Headers, length: int) -> list[tuple[str, str]]:
    """The headers of a response, adjusted to its decoded body."""
    adjusted = [(f"{ORIGINAL}{name}" if _misleads(name, value, length) else name, value) for name, value in headers]
    if not any(name.lower() == "content-length" for name, _ in adjusted):
        adjusted.append(("Content-Length", str(length)))
    return adjusted


def _misleads(name: str, value: str, length: int) -> bool:
    match name.lower():
        case "content-encoding" | "transfer-encoding":
            return True
        case "content-length":
            return value.strip() != str(length)
        case _:
            return False


def _head(status_line: str, headers: list[tuple[str, str]]) -> StatusAndHeaders:
    protocol, _, status = quote(status_line, safe=_ALLOWED).partition(" ")
    return StatusAndHeaders(status, headers, protocol=protocol)


def _request_head(line: str, headers: Headers) -> StatusAndHeaders:
    return StatusAndHeaders(line, list(headers), is_http_request=True)


def _moment(epoch_seconds: float) -> str:
    return datetime.fromtimestamp(epoch_seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
