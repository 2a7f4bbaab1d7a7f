"""Decodes Content-Encoding in small steps, so that the size limit stops a decompression bomb early."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from crawler.core.text.gzip import STEP, Broken, Inflater, gunzipped, inflated
from crawler.http.errors import InvalidResponse

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

try:
    import brotli
except ImportError:  # a requirement; where there is no wheel of it, it is not offered
    brotli = None

MAX_FRAMES = 10_000  # of one zstd body; each needs a decoder, and an empty frame is only nine bytes
ZSTD_WINDOW = 23  # 8 MB as a power of two: the window an HTTP decoder must support (RFC 9659)

_BROTLI_LIMIT = STEP // 4  # the decoder completes the block it has begun, up to 96 KiB beyond the limit
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPABLE = b"\x2a\x4d\x18"  # after a byte from 0x50 to 0x5f

Decoder = Callable[[Iterable[bytes]], Iterator[bytes]]


def decoded(pieces: Iterable[bytes], content_encoding: str) -> Iterator[bytes]:
    """The decoded body in pieces of at most STEP bytes, or InvalidResponse for an encoding that was not offered.

    At most one encoding: there is no legitimate use for two.
    """
    if not content_encoding:
        return iter(pieces)
    names = [name for part in content_encoding.split(",") if (name := part.strip().lower()) not in ("", "identity")]
    if not names:
        return iter(pieces)
    name = "gzip" if names[0] == "x-gzip" else names[0]
    if len(names) == 1 and name in _DECODERS:
        return _whole(_DECODERS[name], pieces)
    raise InvalidResponse(f"the body is encoded as {content_encoding!r}, which was not requested")


def _whole(decoder: Decoder, pieces: Iterable[bytes]) -> Iterator[bytes]:
    try:
        yield from decoder(pieces)
    except Broken as broken:
        raise InvalidResponse(f"the body cannot be decoded: {broken}") from broken


def _inflated(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """ "deflate" is a zlib stream (RFC 1950) by the standard, and a raw one (RFC 1951) from some servers."""
    source = iter(pieces)
    head = b""
    while len(head) < 2 and (piece := next(source, b"")):
        head += piece
    if not head:
        return
    inflater: Inflater = zlib.decompressobj(zlib.MAX_WBITS if _is_zlib_header(head) else -zlib.MAX_WBITS)
    yield from inflated(inflater, head)
    for piece in source:
        if inflater.eof:
            continue
        yield from inflated(inflater, piece)
    if not inflater.eof:
        raise Broken("the deflate data is truncated")


def _is_zlib_header(head: bytes) -> bool:
    """RFC 1950, 2.2: method 8, and the first two bytes are a multiple of 31."""
    return len(head) >= 2 and head[0] & 0x0F == 8 and (head[0] << 8 | head[1]) % 31 == 0


def _unbrotlied(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """RFC 7932. The decoder does not tell where in a piece the data ended, so trailing bytes there are an error."""
    decoder = brotli.Decompressor()
    begun = False
    for piece in pieces:
        if decoder.is_finished():
            continue
        begun = begun or bool(piece)
        yield from _brotli_steps(decoder, piece)
    if begun and not decoder.is_finished():
        raise Broken("the br data is truncated")


def _brotli_steps(decoder: Any, data: bytes) -> Iterator[bytes]:
    while True:
        try:
            step: bytes = decoder.process(data, output_buffer_limit=_BROTLI_LIMIT)
        except brotli.error as error:
            raise Broken(f"the compressed data is damaged: {error}") from error
        if step:
            yield step
        elif decoder.can_accept_more_data():
            return
        data = b""


def _unzstded(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """RFC 8878: consecutive frames; trailing bytes that are no frame are dropped, as with gzip."""
    decoder: Any = None
    frames = 0
    for piece in pieces:
        data = piece
        while data:
            if decoder is None:
                if frames and not _is_zstd_frame(data):
                    return
                if frames == MAX_FRAMES:
                    raise Broken(f"the zstd data has more than {MAX_FRAMES:,} frames")
                decoder = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW})
                frames += 1
            yield from _zstd_steps(decoder, data)
            data = decoder.unused_data
            decoder = None if decoder.eof else decoder
    if decoder is not None:
        raise Broken("the zstd data is truncated")


def _zstd_steps(decoder: Any, data: bytes) -> Iterator[bytes]:
    while True:
        try:
            step: bytes = decoder.decompress(data, STEP)
        except zstd.ZstdError as error:
            raise Broken(f"the compressed data is damaged: {error}") from error
        if step:
            yield step
        if decoder.eof or decoder.needs_input:
            return
        data = b""


def _is_zstd_frame(data: bytes) -> bool:
    """Whether the bytes that have arrived can begin a frame."""
    skippable = data[0] & 0xF0 == 0x50 and _ZSTD_SKIPPABLE.startswith(data[1:4])
    return skippable or _ZSTD_MAGIC.startswith(data[:4])


_DECODERS: dict[str, Decoder] = {
    "gzip": gunzipped,
    "deflate": _inflated,
    **({"br": _unbrotlied} if brotli is not None else {}),
    "zstd": _unzstded,
}
ACCEPTED = ", ".join(_DECODERS)  # the value of Accept-Encoding
