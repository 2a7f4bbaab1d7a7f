"""Which pages of a crawl link to many others, found in one reading of all its links."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from crawler.core import linkage
from crawler.models import Crawl, Page, PageLinks
from crawler.reports.inlinks import Inlink

AT_ONCE = 500  # pages whose links are in memory at a time


class Linked(NamedTuple):
    """A link to one of the targets in question."""

    target: int  # as the caller named it
    link: Inlink


def linking_pages(crawl: Crawl, targets: Mapping[bytes, int]) -> Counter[int]:
    """How many pages link to each of these targets (short key -> name). Those nobody links to are left out.

    The short keys are read as numbers, so that to compare those of a page with the targets' takes no step of ours.
    """
    wanted = {_number(key): target for key, target in targets.items()}
    numbers, found = frozenset(wanted), Counter[int]()
    for _, keys in _rows(crawl, "keys"):
        found.update(numbers.intersection(memoryview(bytes(keys)).cast("Q")))
    return Counter({wanted[number]: pages for number, pages in found.items()})


def links_to(crawl: Crawl, targets: Mapping[bytes, int]) -> Iterator[Linked]:
    """The links to these targets, in the order in which their pages were discovered."""
    wanted = frozenset(map(_number, targets))
    chunk: dict[int, tuple[bytes, bytes]] = {}
    for page, keys, packed in _rows(crawl, "keys", "packed"):
        if wanted.isdisjoint(memoryview(bytes(keys)).cast("Q")):
            continue
        chunk[page] = bytes(keys), bytes(packed)
        if len(chunk) == AT_ONCE:
            yield from _unpacked(chunk, targets)
            chunk.clear()
    yield from _unpacked(chunk, targets)


def _rows(crawl: Crawl, *fields: str) -> Iterator[tuple[Any, ...]]:
    rows = PageLinks.objects.filter(crawl=crawl).order_by("page_id").values_list("page_id", *fields)
    return iter(rows.iterator(chunk_size=AT_ONCE))


def _unpacked(chunk: Mapping[int, tuple[bytes, bytes]], targets: Mapping[bytes, int]) -> Iterator[Linked]:
    urls = dict(Page.objects.filter(id__in=list(chunk)).values_list("id", "url"))
    for page, (keys, packed) in chunk.items():
        for place, link in linkage.placed(packed, urls[page]):
            target = targets.get(keys[place * linkage.KEY_BYTES : (place + 1) * linkage.KEY_BYTES])
            if target is not None:
                yield Linked(target, Inlink(urls[page], link.text, link.rel))


def _number(key: bytes) -> int:
    return int.from_bytes(key, sys.byteorder)
