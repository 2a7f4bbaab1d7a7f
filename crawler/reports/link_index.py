"""Which pages link to one: an index over the links of a large crawl that is over, made when it is first asked for.

To keep such an index while a crawl runs would cost each page about as much again as all its links do (docs/why.md). So
it is made afterwards, a part of the crawl's pages at a time, each in a transaction of its own: what is not in it yet is
read through. A part has one row for each of BUCKETS groups of targets, so that one row a part is read for a target.
"""

from __future__ import annotations

import struct
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain
from time import monotonic

from django.db import connection, transaction

from crawler.core import linkage
from crawler.models import Crawl, LinkIndex, PageLinks
from crawler.reports import kept
from crawler.table import in_order

PART_PAGES = 5_000
BUCKETS = 64
BUDGET = 0.5  # seconds after which no further part is made while a user waits

_SHIFT = 8 * linkage.KEY_BYTES - BUCKETS.bit_length() + 1  # of a short key as a number: what is left is its bucket
_LEVEL = 1  # of zlib
_LINKING = "SELECT page_id FROM crawler_pagelinks WHERE crawl_id = %s AND page_id > %s"


def pages_with(crawl: Crawl, key: bytes, budget: float | None = BUDGET) -> list[int]:
    """The pages that link to the target with this short key, in the order of their discovery. `budget`: seconds for
    the index; None = until it is complete."""
    if not kept.are_kept(crawl):
        return _read_through(crawl, key)
    reached, is_complete = _extended(crawl, budget)
    rows = LinkIndex.objects.filter(crawl=crawl, bucket=_bucket(key), last_page__lte=reached).order_by("last_page")
    parts = rows.values_list("last_page", "packed")
    pages = [page for last, packed in parts for page in _found(bytes(packed), key, last)]
    return pages if is_complete else pages + _read_through(crawl, key, reached)


def _read_through(crawl: Crawl, key: bytes, after: int = 0) -> list[int]:
    """Those behind this page, found by reading through the short keys of all of them."""
    found = "instr(keys, %s)" if connection.vendor == "sqlite" else "position(%s in keys)"
    crawl_id = Crawl._meta.pk.get_db_prep_value(crawl.id, connection)
    with connection.cursor() as cursor:
        cursor.execute(
            f"{_LINKING} AND {found} > 0 ORDER BY page_id",
            [crawl_id, after, key],
        )
        return [page for (page,) in cursor.fetchall()]


def _extended(crawl: Crawl, budget: float | None, now: Callable[[], float] = monotonic) -> tuple[int, bool]:
    """Make parts of the index that are missing: the last page that is in it, and whether that is the last of all.

    1. What was made before the crawl was opened again is deleted.
    2. At least one part is made, and no further one once `budget` is spent.
    3. Of two that make the same part at a time, one stores it: both read the same rows, which change no more.
    """
    moment, began = kept.moment_of(crawl), now()
    known = LinkIndex.objects.filter(crawl=crawl)
    parts = dict(known.filter(bucket=0).values_list("last_page", "moment"))
    if any(made_at != moment for made_at in parts.values()):
        known.exclude(moment=moment).delete()
    reached = max((last for last, made_at in parts.items() if made_at == moment), default=0)
    while (last := _end_of_part(crawl, reached)) is not None:
        part, reached = _rows(crawl, reached, last), last
        rows = [
            LinkIndex(crawl=crawl, moment=moment, last_page=last, bucket=bucket, packed=packed)
            for bucket, packed in _buckets(part, last)
        ]
        with transaction.atomic():
            LinkIndex.objects.bulk_create(rows, ignore_conflicts=True)
        if budget is not None and now() - began > budget:
            return reached, False
    return reached, True


def _end_of_part(crawl: Crawl, after: int) -> int | None:
    """The last page of the part that begins behind this page; None when there is none behind it."""
    ids = in_order(crawl.pk).filter(id__gt=after).values_list("id", flat=True)
    return max(ids[:PART_PAGES], default=None)


def _rows(crawl: Crawl, after: int, last: int) -> list[tuple[int, bytes]]:
    """Page and short keys of what it links to, in order. Rows of crawls at the same time lie between them: to name the
    crawl in the question would make SQLite look at all of its rows."""
    rows = PageLinks.objects.filter(page_id__gt=after, page_id__lte=last).order_by("page_id")
    found = rows.values_list("page_id", "crawl_id", "keys")
    return [(page, bytes(keys)) for page, owner, keys in found if owner == crawl.pk]


def _buckets(part: Sequence[tuple[int, bytes]], last: int) -> Iterator[tuple[int, bytes]]:
    """The rows of a part: all BUCKETS of them, so that the part is known to be there."""
    pages = defaultdict[int, list[int]](list)
    for page, keys in part:
        back = last - page
        for target in set(linkage.numbers(keys)):
            pages[target].append(back)
    groups: list[list[int]] = [[] for _ in range(BUCKETS)]
    for target in pages:
        groups[target >> _SHIFT].append(target)
    for bucket, targets in enumerate(groups):
        yield bucket, _packed([(target, pages[target]) for target in targets])


def _packed(found: Sequence[tuple[int, Sequence[int]]]) -> bytes:
    """How many targets, their keys, where the pages of each end, and those pages as distances from the part's last."""
    numbers = [*accumulate(len(pages) for _, pages in found), *chain.from_iterable(pages for _, pages in found)]
    plain = struct.pack(f">I{len(found)}Q{len(numbers)}I", len(found), *(target for target, _ in found), *numbers)
    return zlib.compress(plain, _LEVEL)


def _found(packed: bytes, key: bytes, last: int) -> list[int]:
    """The pages of a part that link to this target, in their order."""
    plain = zlib.decompress(packed)
    (number,) = struct.unpack_from(">I", plain)
    ends_at = 4 + number * linkage.KEY_BYTES
    place = next(linkage.places(plain[4:ends_at], key), None)
    if place is None:
        return []
    ends = (0, *struct.unpack_from(f">{number}I", plain, ends_at))
    begin, end = ends[place], ends[place + 1]
    backs = struct.unpack_from(f">{end - begin}I", plain, ends_at + 4 * (number + begin))
    return [last - back for back in backs]


def _bucket(key: bytes) -> int:
    return linkage.number(key) >> _SHIFT
