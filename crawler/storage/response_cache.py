"""The HTTP response cache: the only reader and writer of its table. Crawls of one cache partition
(`core.pages.cache_policy`) share it.

Nothing depends on it: a lost response is fetched again. So it is written after the pages, in a separate transaction,
and expired rows are deleted in small steps, as are the oldest above CRAWLER_CACHE_MB.

**How large it is** is known without a sum over all rows at each tick. `AnswersTotal` is never less than what the rows
take: the transaction that stores some also adds their size, and what they replace is not subtracted. Only when it is
above the limit, the rows are counted, with its row locked; so no transaction that stores some is left out of both.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from django.db import transaction
from django.db.models import F, Sum

from crawler import conf
from crawler.core.pages.cache_policy import CachedResponse, cache_key, cached_part, validators_of
from crawler.core.protocol.messages import PageResult
from crawler.models import Answer, AnswersTotal

log = logging.getLogger(__name__)

ROWS_PER_STATEMENT = 100  # answers a statement
MAX_ROWS_PER_SWEEP = 200  # answers deleted at a time, at most
MAX_SWEEPS_FOR_ROOM = 10  # at a time: more than a tick stores
EVICT_TO_SHARE = 0.95  # of the limit is left when room is made, so that the rows are seldom counted
ROW_BYTES = 100  # overhead of a row in table and indexes (85 to 101: SQLite, 20,000 rows)
ONLY_ROW = 1  # of `AnswersTotal`
COMPRESSION_LEVEL = 1  # of zlib's levels: links compress to a sixth even so

Kept = Mapping[str, Any]
"""Content format -> [object, offset, length]."""

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(PageResult)


def load(partition: bytes, urls: Iterable[str], since: float = 0.0) -> dict[str, CachedResponse]:
    """URL -> response, of those stored or validated after `since` (epoch seconds)."""
    found: dict[str, CachedResponse] = {}
    for keys in _chunks(_keys(partition, urls)):
        rows = Answer.objects.filter(key__in=list(keys), stored_at__gt=since)
        for key, stored_at, etag, last_modified, packed in rows.values_list(
            "key", "stored_at", "etag", "last_modified", "result"
        ):
            result = _unpacked(bytes(packed))
            if result is not None:
                found[keys[bytes(key)]] = CachedResponse(result, stored_at, etag, last_modified)
    return found


def validators(partition: bytes, urls: Iterable[str]) -> dict[str, tuple[str, str]]:
    """URL -> ETag and Last-Modified, of the responses that have either."""
    found: dict[str, tuple[str, str]] = {}
    for keys in _chunks(_keys(partition, urls)):
        rows = Answer.objects.filter(key__in=list(keys)).exclude(etag="", last_modified="")
        for key, etag, last_modified in rows.values_list("key", "etag", "last_modified"):
            found[keys[bytes(key)]] = (etag, last_modified)
    return found


def store(partition: bytes, results: Mapping[str, PageResult], now: float) -> None:
    """Store the responses of these URLs, replacing older ones, and delete some expired ones and the oldest for which
    there is no room."""
    if not conf.cache_bytes():
        return
    answers = [_answer(cache_key(url, partition), result, now) for url, result in results.items()]
    if not answers:
        return
    answers.sort(key=lambda answer: bytes(answer.key))  # two managers lock rows in one order, and never each other
    with transaction.atomic():
        Answer.objects.bulk_create(
            answers,
            batch_size=ROWS_PER_STATEMENT,
            update_conflicts=True,
            unique_fields=["key"],
            update_fields=["stored_at", "etag", "last_modified", "result", "bytes"],
        )
        _add_to_total(sum(answer.bytes for answer in answers))
    delete_expired(now)
    make_room()


def refresh(partition: bytes, urls: Iterable[str], now: float) -> None:
    """The server confirmed these responses (304): they are fresh from `now`."""
    for keys in _chunks(_keys(partition, urls)):
        Answer.objects.filter(key__in=list(keys)).update(stored_at=now)


def replace_content(partition: bytes, moved: Mapping[str, tuple[Kept, Kept]]) -> None:
    """Where the content of these responses is, from now on. A response that has been replaced meanwhile stays."""
    for keys in _chunks(_keys(partition, moved)):
        with transaction.atomic():
            rows = Answer.objects.select_for_update().filter(key__in=list(keys)).order_by("key")
            changed, grown = [], 0
            for row in rows:
                result, (old, new) = _unpacked(bytes(row.result)), moved[keys[bytes(row.key)]]
                if result is not None and result.kept == old:
                    row.result = _packed(msgspec.structs.replace(result, kept=dict(new)))
                    size = _size(row)
                    row.bytes, grown = size, grown + max(0, size - row.bytes)
                    changed.append(row)
            Answer.objects.bulk_update(changed, ["result", "bytes"])
            _add_to_total(grown)


def forget(partition: bytes, urls: Iterable[str]) -> None:
    """Delete these responses, so that their pages are requested without conditions."""
    for keys in _chunks(_keys(partition, urls)):
        Answer.objects.filter(key__in=list(keys)).delete()


def delete_expired(now: float) -> int:
    """Delete some responses not validated for CRAWLER_ANSWER_DAYS; returns how many. Rows locked by another process are
    skipped."""
    too_old = Answer.objects.filter(stored_at__lt=now - conf.answer_seconds()).order_by("stored_at")
    if not too_old.exists():
        return 0
    with transaction.atomic():
        keys = list(too_old.select_for_update(skip_locked=True).values_list("key", flat=True)[:MAX_ROWS_PER_SWEEP])
        return Answer.objects.filter(key__in=keys).delete()[0]


def make_room() -> int:
    """Delete some of the responses that were not validated for the longest time, while all take more than
    CRAWLER_CACHE_MB; returns how many. In small transactions, which skip rows locked by another process."""
    limit = conf.cache_bytes()
    total = AnswersTotal.objects.filter(id=ONLY_ROW).values_list("bytes", flat=True).first()
    if total is not None and total <= limit:
        return 0
    total = _counted()
    deleted = 0
    if total <= limit:
        return deleted
    goal = int(limit * EVICT_TO_SHARE)
    for _ in range(MAX_SWEEPS_FOR_ROOM):
        rows, total = _delete_oldest(goal)
        deleted += rows
        if not rows or total <= goal:
            break
    return deleted


def _delete_oldest(goal: int) -> tuple[int, int]:
    """Delete the oldest responses, until all take no more than `goal` bytes. Returns how many, and the total then."""
    with transaction.atomic():
        oldest = Answer.objects.order_by("stored_at").select_for_update(skip_locked=True)
        sizes = list(oldest.values_list("key", "bytes")[:MAX_ROWS_PER_SWEEP])
        # The total is locked behind the rows, as when responses are stored: so no two processes wait for each other.
        total = AnswersTotal.objects.select_for_update().get(id=ONLY_ROW)
        keys = list[bytes]()
        for key, size in sizes:
            if total.bytes <= goal:
                break
            keys.append(bytes(key))
            total.bytes -= size
        Answer.objects.filter(key__in=keys).delete()
        total.save()
    return len(keys), total.bytes


def _add_to_total(size: int) -> None:
    """In the transaction that stores so many bytes. Without a total (before the first count), the next one includes
    them: `make_room` counts until there is one."""
    if size:
        AnswersTotal.objects.filter(id=ONLY_ROW).update(bytes=F("bytes") + size)


def _counted() -> int:
    """Count what the rows take. What others store meanwhile waits for the lock to be added, whether it was counted or
    not: the total may be too large by that, and never too small."""
    with transaction.atomic():
        AnswersTotal.objects.bulk_create([AnswersTotal(id=ONLY_ROW, bytes=0)], ignore_conflicts=True)
        total = AnswersTotal.objects.select_for_update().get(id=ONLY_ROW)
        total.bytes = Answer.objects.aggregate(total=Sum("bytes"))["total"] or 0
        total.save()
    return total.bytes


def _answer(key: bytes, result: PageResult, now: float) -> Answer:
    etag, last_modified = validators_of(result)
    packed = _packed(cached_part(result))
    stored_at = result.fetched_at or now
    answer = Answer(key=key, stored_at=stored_at, etag=etag, last_modified=last_modified, result=packed)
    answer.bytes = _size(answer)
    return answer


def _size(answer: Answer) -> int:
    """The size of a row. Validators are ASCII, except from odd servers."""
    return ROW_BYTES + len(answer.etag) + len(answer.last_modified) + len(answer.result)


def _packed(result: PageResult) -> bytes:
    return zlib.compress(_encoder.encode(result), COMPRESSION_LEVEL)


def _unpacked(packed: bytes) -> PageResult | None:
    """The result, or None if it cannot be decoded (for example of another version): then the page is fetched."""
    try:
        return _decoder.decode(zlib.decompress(packed))
    except (msgspec.MsgspecError, zlib.error) as error:
        log.warning("a cached response cannot be read and is ignored: %s", error)
        return None


def _keys(partition: bytes, urls: Iterable[str]) -> dict[bytes, str]:
    return {cache_key(url, partition): url for url in urls}


def _chunks(keys: dict[bytes, str]) -> Iterable[dict[bytes, str]]:
    ordered: Sequence[bytes] = sorted(keys)
    for at in range(0, len(ordered), ROWS_PER_STATEMENT):
        yield {key: keys[key] for key in ordered[at : at + ROWS_PER_STATEMENT]}
