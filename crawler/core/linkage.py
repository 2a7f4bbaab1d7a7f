"""The links of one page as they are kept: where each leads, the words it is written with, and its rel, packed small.

A page has two pieces. `keys` are the first bytes of each target's page key, one after the other: whoever wants to know
which pages link to one looks for its eight bytes in these pieces, without unpacking anything. `packed` is all the rest.
A crawl of 100,000 pages with five million links keeps 40 MB of the first and about four times as much of the second.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from crawler.core.urls import key_of, origin_of

KEY_BYTES = 8  # of a target's key: two of a million pages agree in them once in tens of millions of crawls
_LEVEL = 1  # of zlib: a higher one takes half as much time again to save a twentieth

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[tuple[str, str, str]])


class Link(NamedTuple):
    """One link of a page."""

    url: str  # normalised
    text: str  # the words it is written with, white space collapsed; "" when there are none
    rel: str  # "nofollow ugc sponsored", as far as it has them each time the page links there


def short_key(url: str) -> bytes:
    """What stands for this page among the `keys` of others."""
    return key_of(url)[:KEY_BYTES]


def keys(links: Sequence[str]) -> bytes:
    return b"".join([key_of(url)[:KEY_BYTES] for url in links])


def number(key: bytes) -> int:
    """A page's short key as a number; they sort alike."""
    return int.from_bytes(key[:KEY_BYTES], "big")


def numbers(keys: bytes) -> tuple[int, ...]:
    """The same of each of a page's links, in their order."""
    return struct.unpack(f">{len(keys) // KEY_BYTES}Q", keys)


def packed(links: Sequence[str], texts: Sequence[str], rels: Mapping[str, str], page: str) -> bytes:
    """The links of the page at this URL; those to its own origin without it. b"" when there are none."""
    if not links:
        return b""
    origin = origin_of(page)
    there = f"{origin}/"
    cut = len(origin)
    plain = [
        (url[cut:] if url.startswith(there) else url, text, rels.get(url, ""))
        for url, text in zip(links, texts, strict=True)
    ]
    return zlib.compress(_encoder.encode(plain), _LEVEL)


def unpacked(piece: bytes, page: str) -> list[Link]:
    """What was packed of the page at this URL."""
    if not piece:
        return []
    origin = origin_of(page)
    plain = _decoder.decode(zlib.decompress(piece))
    return [Link(origin + url if url.startswith("/") else url, text, rel) for url, text, rel in plain]


def places(keys: bytes, key: bytes) -> Iterator[int]:
    """The places among a page's links of those whose short key this is."""
    at = keys.find(key)
    while at >= 0:
        if at % KEY_BYTES == 0:
            yield at // KEY_BYTES
        at = keys.find(key, at + 1)
