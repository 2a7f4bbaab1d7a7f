"""What capabilities read from an HTML page besides the crawl's own rules, and read again when its HTML was kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from uuid import UUID

import msgspec

from crawler import registry
from crawler.core.protocol.messages import PageResult


class PageReader(msgspec.Struct, frozen=True):
    """One capability's."""

    title: str  # of what reads pages, for users
    how: str  # a user has pages read by it

    names: Callable[[], tuple[str, ...]]
    """Of what reads pages now, in this order. A cached response that others have read is not used."""

    read: Callable[[str, PageResult, str, bytes], PageResult]
    """Called with the crawl, the result of a page whose HTML was kept, its URL and its HTML in UTF-8; returns the
    result with what was read."""

    store: Callable[[UUID, Sequence[PageResult]], None]
    """Called with the crawl and such results, in the transaction that stores their fields, which has locked the
    crawl's row."""

    found: Callable[[UUID], Iterable[Mapping[str, str]]]
    """The fields that each one has found in the crawl, with their types, as the table has them."""


@cache
def page_readers() -> tuple[PageReader, ...]:
    return registry.entries("page_readers", PageReader)


def reader_names() -> tuple[str, ...]:
    return tuple(name for reader in page_readers() for name in reader.names())
