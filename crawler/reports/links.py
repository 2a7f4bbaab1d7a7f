"""Which pages of a crawl link to one, with what words."""

from __future__ import annotations

import struct
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, islice
from time import monotonic
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import QuerySet

from crawler.core.crawl.messages import PAGE
from crawler.core.html import link_codec
from crawler.models import Crawl, LinkIndex, Page, PageLinks
from crawler.reports import result_cache
from crawler.storage.queries import all_rows

# Which pages link to one: an index over the links of a large crawl that is over, made when it is first asked for.
#
# To keep such an index while a crawl runs would cost each page about as much again as all its links do
# (docs/decisions/storage.md).
# So it is made afterwards, a part of the crawl's pages at a time, each in a transaction of its own: what is not in it
# yet is read through. A part has one row for each of BUCKETS groups of targets, so that one row a part is read for a
# target.

PART_PAGES = 5_000
BUCKETS = 64
BUDGET = 0.5  # seconds after which no further part is made while a user waits

_SHIFT = 8 * link_codec.KEY_BYTES - BUCKETS.bit_length() + 1  # of a short key as a number: what is left is its bucket
_LEVEL = 1  # of zlib
_LINKING = "SELECT page_id FROM crawler_pagelinks WHERE crawl_id = %s AND page_id > %s"


def pages_with(crawl: Crawl, key: bytes, budget: float | None = BUDGET) -> list[int]:
    """The pages that link to the target with this short key, in the order of their discovery. `budget`: seconds for
    the index; None = until it is complete."""
    if not result_cache.are_kept(crawl):
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
    moment, began = result_cache.moment_of(crawl), now()
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
    ids = all_rows(crawl.pk).filter(id__gt=after).values_list("id", flat=True)
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
        for target in set(link_codec.numbers(keys)):
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
    ends_at = 4 + number * link_codec.KEY_BYTES
    place = next(link_codec.places(plain[4:ends_at], key), None)
    if place is None:
        return []
    ends = (0, *struct.unpack_from(f">{number}I", plain, ends_at))
    begin, end = ends[place], ends[place + 1]
    backs = struct.unpack_from(f">{end - begin}I", plain, ends_at + 4 * (number + begin))
    return [last - back for back in backs]


def _bucket(key: bytes) -> int:
    return link_codec.number(key) >> _SHIFT


AT_ONCE = 500  # pages whose addresses are looked up together


class Inlink(NamedTuple):
    """A link to the page in question."""

    page: str  # URL of the page it stands on
    text: str  # the words it is written with
    rel: str  # "nofollow ugc sponsored"


def inlinks(crawl: Crawl, url: str, at_most: int | None = None) -> list[Inlink]:
    """The links to the page with this normalised URL, in the order in which their pages were discovered."""
    key = link_codec.short_key(url)
    return list(islice(_inlinks_found(crawl, key), at_most))


def _inlinks_found(crawl: Crawl, key: bytes) -> Iterator[Inlink]:
    pages = pages_with(crawl, key)
    for at in range(0, len(pages), AT_ONCE):
        yield from (link for _, link in links_on(pages[at : at + AT_ONCE], key))


def links_on(pages: Sequence[int], key: bytes) -> Iterator[tuple[int, Inlink]]:
    """The links with this short key on these pages, AT_ONCE of them at most, each with its page."""
    urls = dict(Page.objects.filter(id__in=pages).values_list("id", "url"))
    rows = PageLinks.objects.filter(page_id__in=pages).order_by("page_id")
    for page, keys, packed in rows.values_list("page_id", "keys", "packed"):
        targets = frozenset(link_codec.places(bytes(keys), key))
        for place, link in link_codec.placed(bytes(packed), urls[page]):
            if place in targets:
                yield page, Inlink(urls[page], link.text, link.rel)


# Which pages of a crawl link to many others, found in one reading of all its links.

# pages whose links are in memory at a time


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
    for _, keys in _linking_rows(crawl, "keys"):
        found.update(numbers.intersection(memoryview(bytes(keys)).cast("Q")))
    return Counter({wanted[number]: pages for number, pages in found.items()})


def links_to(crawl: Crawl, targets: Mapping[bytes, int]) -> Iterator[Linked]:
    """The links to these targets, in the order in which their pages were discovered."""
    wanted = frozenset(map(_number, targets))
    chunk: dict[int, tuple[bytes, bytes]] = {}
    for page, keys, packed in _linking_rows(crawl, "keys", "packed"):
        if wanted.isdisjoint(memoryview(bytes(keys)).cast("Q")):
            continue
        chunk[page] = bytes(keys), bytes(packed)
        if len(chunk) == AT_ONCE:
            yield from _unpacked(chunk, targets)
            chunk.clear()
    yield from _unpacked(chunk, targets)


def _linking_rows(crawl: Crawl, *fields: str) -> Iterator[tuple[Any, ...]]:
    rows = PageLinks.objects.filter(crawl=crawl).order_by("page_id").values_list("page_id", *fields)
    return iter(rows.iterator(chunk_size=AT_ONCE))


def _unpacked(chunk: Mapping[int, tuple[bytes, bytes]], targets: Mapping[bytes, int]) -> Iterator[Linked]:
    urls = dict(Page.objects.filter(id__in=list(chunk)).values_list("id", "url"))
    for page, (keys, packed) in chunk.items():
        for place, link in link_codec.placed(packed, urls[page]):
            target = targets.get(keys[place * link_codec.KEY_BYTES : (place + 1) * link_codec.KEY_BYTES])
            if target is not None:
                yield Linked(target, Inlink(urls[page], link.text, link.rel))


def _number(key: bytes) -> int:
    return int.from_bytes(key, sys.byteorder)


# The orphans of a crawl: pages that a sitemap names and no other page links to.


def knows_orphans(crawl: Crawl) -> bool:
    """Whether the crawl looks at sitemaps and at links, so that it can tell."""
    return crawl.chosen.uses_sitemaps and crawl.chosen.recursive


def orphans(crawl: Crawl) -> QuerySet[Page]:
    """Pages named by a sitemap that nothing leads to, in the order of their discovery: no link or redirect of another
    page that was fetched, and no person who started the crawl there.

    What pages link to that were not fetched cannot be known; so only a crawl that is over, and had no limits, has seen
    all there is.
    """
    if not knows_orphans(crawl):
        return Page.objects.none()
    return Page.objects.filter(crawl=crawl, kind=PAGE, in_sitemap=True, linked=False).order_by("id")


# The dead letters of a crawl: pages that were given up although another try might do better.


def dead_letters(crawl: Crawl) -> QuerySet[Page]:
    """Pages that failed, in the order of their discovery; `outcome`, `http_status`, `attempts` and `error` say why."""
    return Page.objects.filter(crawl=crawl, given_up=True).order_by("id")
