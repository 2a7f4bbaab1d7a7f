"""Links to a page, their anchor texts, orphans and dead letters."""

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

from crawler.core.html import link_codec
from crawler.core.protocol.messages import PAGE
from crawler.models import Crawl, LinkIndex, Page, PageLinks
from crawler.reports import result_cache
from crawler.storage.queries import all_rows

# An index of links by target, built for a large crawl that is over when a user first needs it.
#
# Updating it while a crawl runs would double the cost of storing links (docs/decisions/storage.md). So it is built
# afterwards, one part of the crawl's pages per transaction; pages not in it yet are scanned. A part has one row for
# each of BUCKETS groups of targets, so that a target needs one row of each part.

PART_PAGES = 5_000
BUCKETS = 64
INDEX_BUDGET_S = 0.5  # after it no further part is built while a user waits

_SHIFT = 8 * link_codec.KEY_BYTES - BUCKETS.bit_length() + 1  # of a short key as a number: the rest is its bucket
_LEVEL = 1  # of zlib
_LINKING = "SELECT page_id FROM crawler_pagelinks WHERE crawl_id = %s AND page_id > %s"


def pages_with(crawl: Crawl, key: bytes, budget: float | None = INDEX_BUDGET_S) -> list[int]:
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
    """Those after this page, found by scanning the short keys of all pages."""
    found = "instr(keys, %s)" if connection.vendor == "sqlite" else "position(%s in keys)"
    crawl_id = Crawl._meta.pk.get_db_prep_value(crawl.id, connection)
    with connection.cursor() as cursor:
        cursor.execute(f"{_LINKING} AND {found} > 0 ORDER BY page_id", [crawl_id, after, key])
        return [page for (page,) in cursor.fetchall()]


def _extended(crawl: Crawl, budget: float | None, now: Callable[[], float] = monotonic) -> tuple[int, bool]:
    """Build missing parts of the index; returns the last page in it, and whether it is complete.

    1. Delete parts built before the crawl was reopened.
    2. Build at least one part, and no further one when `budget` is spent.
    3. When two processes build the same part, one stores it: both read the same rows, which do not change any more.
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
    """The last page of the part that begins after this page; None after the last page."""
    ids = all_rows(crawl.pk).filter(id__gt=after).values_list("id", flat=True)
    return max(ids[:PART_PAGES], default=None)


def _rows(crawl: Crawl, after: int, last: int) -> list[tuple[int, bytes]]:
    """Page and the short keys of its links, in order. The query has no condition on the crawl, although rows of other
    crawls are between them, because with it SQLite reads all rows of the crawl."""
    rows = PageLinks.objects.filter(page_id__gt=after, page_id__lte=last).order_by("page_id")
    found = rows.values_list("page_id", "crawl_id", "keys")
    return [(page, bytes(keys)) for page, owner, keys in found if owner == crawl.pk]


def _buckets(part: Sequence[tuple[int, bytes]], last: int) -> Iterator[tuple[int, bytes]]:
    """All BUCKETS rows of a part, even empty ones, because they show that the part exists."""
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
    """The number of targets, their keys, where the pages of each end, and the pages as distances from the part's
    last."""
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


QUERY_PAGES = 500  # pages whose URLs are read by one query


class Inlink(NamedTuple):
    """A link to a page."""

    page: str  # URL of the page that has the link
    text: str  # anchor text
    rel: str  # "nofollow ugc sponsored"


def inlinks(crawl: Crawl, url: str, at_most: int | None = None) -> list[Inlink]:
    """The links to the page with this normalised URL, in the order in which their pages were discovered."""
    key = link_codec.short_key(url)
    return list(islice(_inlinks_found(crawl, key), at_most))


def _inlinks_found(crawl: Crawl, key: bytes) -> Iterator[Inlink]:
    pages = pages_with(crawl, key)
    for at in range(0, len(pages), QUERY_PAGES):
        yield from (link for _, link in links_on(pages[at : at + QUERY_PAGES], key))


def links_on(pages: Sequence[int], key: bytes) -> Iterator[tuple[int, Inlink]]:
    """The links with this short key on these pages (QUERY_PAGES at most), each with its page."""
    urls = dict(Page.objects.filter(id__in=pages).values_list("id", "url"))
    rows = PageLinks.objects.filter(page_id__in=pages).order_by("page_id")
    for page, keys, packed in rows.values_list("page_id", "keys", "packed"):
        targets = frozenset(link_codec.places(bytes(keys), key))
        for place, link in link_codec.placed(bytes(packed), urls[page]):
            if place in targets:
                yield page, Inlink(urls[page], link.text, link.rel)


# Links to many targets, found in one scan of all links of a crawl.


class TargetLink(NamedTuple):
    """A link to one of several targets."""

    target: int  # the name the caller gave it
    link: Inlink


def linking_pages(crawl: Crawl, targets: Mapping[bytes, int]) -> Counter[int]:
    """Target -> the number of pages that link to it, without targets that have no links. `targets`: short key -> name.

    The short keys are read as numbers, so that one set operation compares a page's links with the targets.
    """
    wanted = {_number(key): target for key, target in targets.items()}
    numbers, found = frozenset(wanted), Counter[int]()
    for _, keys in _linking_rows(crawl, "keys"):
        found.update(numbers.intersection(memoryview(bytes(keys)).cast("Q")))
    return Counter({wanted[number]: pages for number, pages in found.items()})


def links_to(crawl: Crawl, targets: Mapping[bytes, int]) -> Iterator[TargetLink]:
    """The links to these targets, in the order in which their pages were discovered."""
    wanted = frozenset(map(_number, targets))
    chunk: dict[int, tuple[bytes, bytes]] = {}
    for page, keys, packed in _linking_rows(crawl, "keys", "packed"):
        if wanted.isdisjoint(memoryview(bytes(keys)).cast("Q")):
            continue
        chunk[page] = bytes(keys), bytes(packed)
        if len(chunk) == QUERY_PAGES:
            yield from _unpacked(chunk, targets)
            chunk.clear()
    yield from _unpacked(chunk, targets)


def _linking_rows(crawl: Crawl, *fields: str) -> Iterator[tuple[Any, ...]]:
    rows = PageLinks.objects.filter(crawl=crawl).order_by("page_id").values_list("page_id", *fields)
    return iter(rows.iterator(chunk_size=QUERY_PAGES))


def _unpacked(chunk: Mapping[int, tuple[bytes, bytes]], targets: Mapping[bytes, int]) -> Iterator[TargetLink]:
    urls = dict(Page.objects.filter(id__in=list(chunk)).values_list("id", "url"))
    for page, (keys, packed) in chunk.items():
        for place, link in link_codec.placed(packed, urls[page]):
            target = targets.get(keys[place * link_codec.KEY_BYTES : (place + 1) * link_codec.KEY_BYTES])
            if target is not None:
                yield TargetLink(target, Inlink(urls[page], link.text, link.rel))


def _number(key: bytes) -> int:
    return int.from_bytes(key, sys.byteorder)


# Orphans: pages that a sitemap names and no other page links to.


def knows_orphans(crawl: Crawl) -> bool:
    """Whether the crawl reads sitemaps and follows links, both of which orphans depend on."""
    return crawl.chosen.uses_sitemaps and crawl.chosen.recursive


def orphans(crawl: Crawl) -> QuerySet[Page]:
    """Pages that only a sitemap names, in the order of their discovery: no fetched page links or redirects to them, and
    they are no start pages.

    Pages that were not fetched may link to them, so the list is exact only for a crawl that is over and had no limits.
    """
    if not knows_orphans(crawl):
        return Page.objects.none()
    return Page.objects.filter(crawl=crawl, kind=PAGE, in_sitemap=True, linked=False).order_by("id")


# Dead letters: failed pages that another attempt might fetch.


def dead_letters(crawl: Crawl) -> QuerySet[Page]:
    """Pages that failed, in the order of their discovery; `outcome`, `http_status`, `attempts` and `error` say why."""
    return Page.objects.filter(crawl=crawl, given_up=True).order_by("id")
