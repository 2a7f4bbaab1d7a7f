"""Whether Redis accepts writes, and the last known shortage of the database and the content storage.

A full database cannot store that it is full, so the shortage is noted here, for as long as it is observed.
"""

from __future__ import annotations

from typing import Any

from redis import Redis
from redis.exceptions import ResponseError

from crawler.core.installation.backpressure import Memory, Shortage, of_redis
from crawler.frontier import keys

NOTE_TTL_S = 20  # a note that is not repeated expires after this
DATABASE_BACKOFF_MS = 2000  # after a note, until the database is tried again


def shortage(redis: Redis, *, held: bool = False) -> Shortage | None:
    """What is short now. `held`: crawls are held already, and need some more free capacity to resume."""
    with redis.pipeline(transaction=False) as pipe:  # a transaction is refused as a whole
        pipe.set(keys.PROBE, 1, px=1000)
        pipe.info("memory")
        pipe.mget(keys.SHORT_DATABASE, keys.SHORT_STORAGE)
        written, memory, notes = pipe.execute(raise_on_error=False)
    if isinstance(written, ResponseError) and (refused := of_redis(str(written))):
        return refused
    if isinstance(memory, dict) and _read(memory).is_short(held=held):
        return Shortage.REDIS_FULL
    if isinstance(notes, Exception):
        raise notes
    return next((Shortage(noted.decode()) for noted in notes if noted), None)


def memory_of(redis: Redis) -> Memory | None:
    """None where this Redis user lacks the permission."""
    try:
        return _read(redis.info("memory"))
    except ResponseError:
        return None


def note_shortage(redis: Redis, short: Shortage) -> None:
    if not short.is_of_database:
        redis.set(keys.SHORT_STORAGE, short.value, ex=NOTE_TTL_S)
        return
    redis.set(keys.SHORT_DATABASE, short.value, ex=NOTE_TTL_S)
    redis.set(keys.SHORT_LATELY, 1, px=DATABASE_BACKOFF_MS)


def clear_database_shortage(redis: Redis) -> None:
    """The database has capacity again."""
    redis.delete(keys.SHORT_DATABASE, keys.SHORT_LATELY)


def is_backing_off(redis: Redis) -> bool:
    """Whether a shortage of the database was noted so recently that a retry would fail."""
    return bool(redis.exists(keys.SHORT_LATELY))


def acquire_notice(redis: Redis, crawl: str, seconds: int) -> bool:
    """True once in so many seconds: the users may be notified that this crawl is held."""
    return bool(redis.set(keys.shortage_notified(crawl), 1, nx=True, ex=seconds))


def _read(memory: dict[str, Any]) -> Memory:
    used = int(memory.get("used_memory", 0)) - int(memory.get("mem_not_counted_for_evict", 0))
    return Memory(used, int(memory.get("maxmemory", 0)), str(memory.get("maxmemory_policy", "noeviction")))
