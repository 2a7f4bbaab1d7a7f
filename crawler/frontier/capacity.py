"""Whether Redis takes anything in, and what was last said of the other places that may be full.

That the database is full cannot be written into the database; so it is noted here, for as long as it is seen to be so.
"""

from __future__ import annotations

from typing import Any

from redis import Redis
from redis.exceptions import ResponseError

from crawler.core.installation.backpressure import Memory, Shortage, of_redis
from crawler.frontier import keys

NOTE_SECONDS = 20  # after which a note that nobody repeats is forgotten
REST_MS = 2000  # after a note the database is left in peace for so long, before it is tried again


def shortage(redis: Redis, *, held: bool = False) -> Shortage | None:
    """What is short now. `held`: crawls are held already, and go on when there is some room more."""
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
    """None where this user may not ask."""
    try:
        return _read(redis.info("memory"))
    except ResponseError:
        return None


def note(redis: Redis, short: Shortage) -> None:
    if not short.is_of_database:
        redis.set(keys.SHORT_STORAGE, short.value, ex=NOTE_SECONDS)
        return
    redis.set(keys.SHORT_DATABASE, short.value, ex=NOTE_SECONDS)
    redis.set(keys.SHORT_LATELY, 1, px=REST_MS)


def database_has_room(redis: Redis) -> None:
    """What was noted of the database is over."""
    redis.delete(keys.SHORT_DATABASE, keys.SHORT_LATELY)


def is_noted_lately(redis: Redis) -> bool:
    """Whether it was noted a moment ago: trying again now would come to nothing."""
    return bool(redis.exists(keys.SHORT_LATELY))


def may_tell(redis: Redis, crawl: str, seconds: int) -> bool:
    """Whether people were not told for so long that this crawl is held."""
    return bool(redis.set(keys.told_short(crawl), 1, nx=True, ex=seconds))


def _read(memory: dict[str, Any]) -> Memory:
    used = int(memory.get("used_memory", 0)) - int(memory.get("mem_not_counted_for_evict", 0))
    return Memory(used, int(memory.get("maxmemory", 0)), str(memory.get("maxmemory_policy", "noeviction")))
