"""What a worker and its process of Scrapy tell each other: msgpack over a pipe, each message behind its length."""

from __future__ import annotations

import struct
from typing import Any, BinaryIO

import msgspec

_LENGTH = struct.Struct(">I")
MAX_MESSAGE_BYTES = 1 << 30  # a longer one is garbage: a program wrote into the pipe

Headers = tuple[tuple[str, str], ...]
"""Names and values, as Latin-1; a name may come more than once."""


class Begin(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """The first message to the process."""

    settings: dict[str, Any]  # that the crawl decides, whatever the spider's own say
    usual: dict[str, Any]  # that the spider's own may replace
    spider: str = ""  # the dotted name of the user's; "" = none


class RunPage(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """To the process: run this page through Scrapy."""

    page: int  # a number of its own, of this attempt
    url: str  # normalised
    request: str = ""  # as in `PageTask.note`


class Response(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """To the process: what came of a request."""

    page: int
    request: int
    status: int = 0  # 0 = no response
    headers: Headers = ()
    body: bytes = b""  # decoded
    error: str = ""  # one line: why there is no response


class Forget(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """To the process: nothing is waited for any more."""

    page: int


class Ready(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """To the worker: the spider is open."""


class Unusable(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """To the worker: the spider cannot be opened, now or ever; the process ends."""

    why: str  # one line


class Request(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """To the worker: send this request for a page."""

    page: int
    request: int  # its number in this process
    method: str
    url: str
    headers: Headers = ()
    body: bytes = b""


class PageDone(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """To the worker: Scrapy is done with the page."""

    page: int
    request: int = 0  # whose response it is; 0 = none of the worker's
    status: int = 0  # 0 = no response
    headers: Headers = ()  # of a response that is none of the worker's
    body: bytes | None = None  # None = as the worker sent it
    errors: tuple[str, ...] = ()  # one line each
    items: tuple[dict[str, Any], ...] = ()  # as the pipelines left them
    links: dict[str, str] = {}  # URL -> what the spider said about it, as in `PageTask.note`


class Closing(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """To the worker: the process ends, and begins no further page."""


ToProcess = Begin | RunPage | Response | Forget
ToWorker = Ready | Unusable | Request | PageDone | Closing

_encode = msgspec.msgpack.Encoder().encode
_to_process: msgspec.msgpack.Decoder[ToProcess] = msgspec.msgpack.Decoder(ToProcess)
_to_worker: msgspec.msgpack.Decoder[ToWorker] = msgspec.msgpack.Decoder(ToWorker)


def encoded(message: ToProcess | ToWorker) -> bytes:
    """With its length in front."""
    packed = _encode(message)
    return _LENGTH.pack(len(packed)) + packed


def read_in_process(pipe: BinaryIO) -> ToProcess | None:
    """The next message to the process; None at the end of the pipe."""
    packed = _read(pipe)
    return None if packed is None else _to_process.decode(packed)


def read_in_worker(pipe: BinaryIO) -> ToWorker | None:
    """The next message to the worker; None at the end of the pipe."""
    packed = _read(pipe)
    return None if packed is None else _to_worker.decode(packed)


def _read(pipe: BinaryIO) -> bytes | None:
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    if length > MAX_MESSAGE_BYTES:
        raise msgspec.DecodeError(f"a message of {length} bytes")
    packed = pipe.read(length)
    return packed if len(packed) == length else None


def headers_of(lines: str) -> Headers:
    """Those of a response, one per line."""
    pairs = (line.partition(":") for line in lines.splitlines())
    return tuple((name.strip(), value.strip()) for name, colon, value in pairs if colon)


def value_of(headers: Headers, name: str) -> str:
    """The first of this name, in any case; "" if there is none."""
    return next((value for known, value in headers if known.lower() == name.lower()), "")
