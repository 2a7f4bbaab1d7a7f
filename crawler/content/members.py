"""A page's content as a gzip member (RFC 1952), and back. Members behind each other are one gzip file."""

from __future__ import annotations

import gzip
import io

from crawler.core.gzipped import Broken

LEVEL = 4  # two thirds of the time of 6, for 3% more bytes


def packed(content: bytes) -> bytes:
    return gzip.compress(content, LEVEL, mtime=0)


def unpacked(member: bytes, at_most: int) -> bytes:
    """The content of one member or several, the first `at_most` bytes. Raises Broken."""
    try:
        with gzip.open(io.BytesIO(member)) as stream:
            return stream.read(at_most)
    except (OSError, EOFError) as error:
        raise Broken(f"the stored content is damaged: {error}") from error
