"""How traps say what they say."""

import gzip
import sys
import zlib
from collections.abc import Callable, Iterator

import brotli

from tests.hostile.server import Asked, Play, Step, Then

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MB = 1024 * 1024
ZEROS_MB = 600  # of a bomb
_ADLER_OF_ZEROS = (ZEROS_MB * MB % 65521 << 16 | 1).to_bytes(4)
HTML = "Content-Type: text/html"
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


def head(*lines: str, status: str = "200 OK") -> bytes:
    return "".join(f"{line}\r\n" for line in (f"HTTP/1.1 {status}", *lines, "")).encode("utf-8", "surrogateescape")


def whole(body: bytes, *lines: str, status: str = "200 OK") -> bytes:
    return head(*lines, f"Content-Length: {len(body)}", status=status) + body


def page(body: str | bytes | Callable[[], str | bytes], *lines: str, status: str = "200 OK", kind: str = HTML) -> Play:
    """An answer as it should be, around whatever this is, or makes; CANARY and SITE in it become addresses."""

    def play(asked: Asked) -> Iterator[Step]:
        text = body() if callable(body) else body
        raw = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        yield whole(
            raw.replace(b"CANARY", asked.canary.encode()).replace(b"SITE", asked.site.encode()),
            *filter(None, (kind, *lines)),
            status=status,
        )
        yield Then.KEEP

    return play


def made(body: str, times: int, before: str = "", after: str = "") -> Play:
    """A page of many of these, each with its number; made when it is asked for."""

    def play(asked: Asked) -> Iterator[Step]:
        many = "".join(body.replace("#", str(number)) for number in range(times)) if "#" in body else body * times
        yield from page(before + many + after)(asked)

    return play


def says(*steps: Step) -> Play:
    """These steps, byte for byte."""

    def play(asked: Asked) -> Iterator[Step]:
        yield from steps

    return play


def for_ever(start: bytes, drop: bytes, *, every: float = 0.0) -> Play:
    """The start, and then this again and again."""
    piece = drop if every else drop * max(1, 65536 // len(drop))

    def play(asked: Asked) -> Iterator[Step]:
        yield start
        while True:
            yield piece
            if every:
                yield every

    return play


def redirect(location: str, status: str = "302 Found") -> Play:
    """CANARY and SITE in it become addresses."""

    def play(asked: Asked) -> Iterator[Step]:
        where = location.replace("CANARY", asked.canary).replace("SITE", asked.site)
        yield whole(b"", f"Location: {where}", status=status)
        yield Then.KEEP

    return play


def bomb(coding: str) -> bytes:
    """ZEROS_MB of nothing in some kilobytes, made of one: who unpacks all of it takes more memory than it may have."""
    one = bytes(MB)
    match coding:
        case "gzip":
            return gzip.compress(one) * ZEROS_MB
        case "deflate":
            stream = zlib.compressobj()
            first = stream.compress(one) + stream.flush(zlib.Z_FULL_FLUSH)  # what follows does not refer to it
            again = stream.compress(one) + stream.flush(zlib.Z_FULL_FLUSH)
            return first + again * (ZEROS_MB - 1) + b"\3\0" + _ADLER_OF_ZEROS
        case "br":
            packer = brotli.Compressor(quality=1)
            return b"".join(packer.process(one) for _ in range(ZEROS_MB)) + bytes(packer.finish())
        case _:
            packed: bytes = zstd.compress(one) * ZEROS_MB
            return packed


def explodes(coding: str) -> Play:
    def play(asked: Asked) -> Iterator[Step]:
        yield whole(bomb(coding), HTML, f"Content-Encoding: {coding}")

    return play
