"""An exchange as WARC/1.1 records (ISO 28500) that other tools replay: the response, and the request behind it, each a
gzip member of its own.

The body is kept decoded: what was compressed for the way, in a coding some tools do not know, is not compressed twice.
So the headers that would say otherwise, Content-Encoding, Transfer-Encoding and a wrong Content-Length, go by the name
X-Archive-Orig-..., as archives write headers that no longer hold.
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
_AS_IT_IS = "".join(map(chr, range(32, 127)))  # of a status line; warcio takes no other, though a server may send it

Headers = Iterable[tuple[str, str]]


def exchange(
    url: str,
    fetched_at: float,
    request: tuple[str, Headers],
    response: tuple[str, Headers],
    body: bytes,
) -> bytes:
    """The two records, compressed. `request` and `response` are a first line and headers; the time in epoch seconds."""
    builder, out = RecordBuilder(warc_version=VERSION), io.BytesIO()
    dated = {"WARC-Date": _moment(fetched_at)}
    answer = builder.create_warc_record(
        url,
        "response",
        payload=io.BytesIO(body),
        length=len(body),
        warc_headers_dict=dict(dated),
        http_headers=_head(response[0], _held(response[1], len(body))),
    )
    asked = builder.create_warc_record(
        url, "request", warc_headers_dict=dict(dated), http_headers=_request_head(*request)
    )
    WARCWriter(out, gzip=True, warc_version=VERSION).write_request_response_pair(asked, answer)
    return out.getvalue()


def info(name: str, said: Mapping[str, str]) -> bytes:
    """The record that begins a WARC file, compressed: its name, and who made it how."""
    out = io.BytesIO()
    record = RecordBuilder(warc_version=VERSION).create_warcinfo_record(name, dict(said))
    WARCWriter(out, gzip=True, warc_version=VERSION).write_record(record)
    return out.getvalue()


def _held(headers: Headers, length: int) -> list[tuple[str, str]]:
    """The headers of an answer as they hold for its decoded body."""
    held = [(f"{ORIGINAL}{name}" if _misleads(name, value, length) else name, value) for name, value in headers]
    if not any(name.lower() == "content-length" for name, _ in held):
        held.append(("Content-Length", str(length)))
    return held


def _misleads(name: str, value: str, length: int) -> bool:
    match name.lower():
        case "content-encoding" | "transfer-encoding":
            return True
        case "content-length":
            return value.strip() != str(length)
        case _:
            return False


def _head(status_line: str, headers: list[tuple[str, str]]) -> StatusAndHeaders:
    protocol, _, status = quote(status_line, safe=_AS_IT_IS).partition(" ")
    return StatusAndHeaders(status, headers, protocol=protocol)


def _request_head(line: str, headers: Headers) -> StatusAndHeaders:
    return StatusAndHeaders(line, list(headers), is_http_request=True)


def _moment(epoch_seconds: float) -> str:
    return datetime.fromtimestamp(epoch_seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
