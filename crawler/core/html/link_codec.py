"""The stored form of one page's links: target, anchor text and rel of each, packed.

A page has two pieces. `keys` are the first bytes of each target's page key, one after the other, each target once:
the pages that link to a page are found by its eight bytes in these pieces, without unpacking. `packed` contains
every link: the targets, and for each link the index of its target, its text and its rel. For sizes see docs/exports.md.
"""

from __future__ import annotations

import struct
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from crawler.core.urls.normalise import MAX_CACHED_LENGTH, cached_key, key_of, origin_of

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

KEY_BYTES = 8  # of a target's key: two of a million pages collide once in tens of millions of crawls
_MAGIC = b"\x28\xb5\x2f\xfd"  # of Zstandard (RFC 8878, 3.1.1); earlier versions used zlib, with each target once

_compressor = zstd.ZstdCompressor(1)  # a higher level takes a fifth more time to save a thirtieth

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(tuple[list[str], list[int], list[str], dict[int, str]])
_decoder_of_earlier = msgspec.msgpack.Decoder(list[tuple[str, str, str]])


class Link(NamedTuple):
    """One link of a page."""

    url: str  # normalised
    text: str  # anchor text, white space collapsed; "" when there is none
    rel: str  # "nofollow ugc sponsored", as far as it has them


class Occurrences(NamedTuple):
    """Every link of a page, in order of appearance, with the index of its target in the list of unique targets."""

    places: Sequence[int]  # index of each link's target; targets are in the order of their first links
    texts: Sequence[str]  # anchor text of each link
    rels: Mapping[int, str]  # index of the link -> rel, of those that have one

    @classmethod
    def once(cls, targets: Sequence[str], texts: Sequence[str], rels: Mapping[str, str]) -> Occurrences:
        """One link to each of these targets; `rels` are by target."""
        return cls(range(len(targets)), texts, {place: rels[url] for place, url in enumerate(targets) if rels.get(url)})


NO_OCCURRENCES = Occurrences((), (), {})


def short_key(url: str) -> bytes:
    """The key of this page among the `keys` of others."""
    return key_of(url)[:KEY_BYTES]


def keys(targets: Sequence[str]) -> bytes:
    """The short keys of these pages."""
    return b"".join(
        [cached_key(url)[:KEY_BYTES] if len(url) <= MAX_CACHED_LENGTH else short_key(url) for url in targets]
    )


def number(key: bytes) -> int:
    """A page's short key as a number, with the same order."""
    return int.from_bytes(key[:KEY_BYTES], "big")


def numbers(keys: bytes) -> tuple[int, ...]:
    """The same of each of a page's targets, in their order."""
    return struct.unpack(f">{len(keys) // KEY_BYTES}Q", keys)


def packed(targets: Sequence[str], links: Occurrences, page: str) -> bytes:
    """The links of the page at this URL; targets of its own origin without it. b"" when there are none.

    Most links are the first to their target: their number is 0.
    """
    if not targets:
        return b""
    origin = origin_of(page)
    there, cut = f"{origin}/", len(origin)
    urls = [url[cut:] if url.startswith(there) else url for url in targets]
    known, numbers = 0, list[int]()
    for place in links.places:
        if place == known:
            known += 1
            numbers.append(0)
        else:
            numbers.append(place + 1)
    plain = _encoder.encode((urls, numbers, links.texts, links.rels))
    return _compressor.compress(plain, zstd.ZstdCompressor.FLUSH_FRAME)  # whole frames, also of several threads


def unpacked(piece: bytes, page: str) -> list[Link]:
    """Every link of the page at this URL, in order of appearance."""
    return [link for _, link in placed(piece, page)]


def placed(piece: bytes, page: str) -> Iterator[tuple[int, Link]]:
    """The same, each with the index of its target among the page's `keys`."""
    if not piece:
        return
    origin = origin_of(page)
    if not piece.startswith(_MAGIC):
        for place, (url, text, rel) in enumerate(_decoder_of_earlier.decode(zlib.decompress(piece))):
            yield place, Link(origin + url if url.startswith("/") else url, text, rel)
        return
    urls, numbers, texts, rels = _decoder.decode(zstd.decompress(piece))
    targets = [origin + url if url.startswith("/") else url for url in urls]
    known = 0
    for at, (number, text) in enumerate(zip(numbers, texts, strict=True)):
        place = number - 1 if number else known
        known += not number
        yield place, Link(targets[place], text, rels.get(at, ""))


def places(keys: bytes, key: bytes) -> Iterator[int]:
    """The indexes of the targets with this short key."""
    at = keys.find(key)
    while at >= 0:
        if at % KEY_BYTES == 0:
            yield at // KEY_BYTES
        at = keys.find(key, at + 1)
