"""What is left behind at one moment, in the words of the fault table: read from the database file and from Redis by a
process that has nothing to do with the crawl."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from redis import Redis

from crawler.capabilities.browser.lanes import RENDER
from crawler.frontier.keys import taken_slots
from tests.stack import Stack

_JOBS = {
    "manage": "tick",
    "fetch": "fetch job",
    "watch": "watch",
    "notify": "notify job",
    "watch-lifeline": "watch",
    "render": "browser job",
    "extract": "extraction job",
    "scrapy": "Scrapy job",
}


_KIND = re.compile("watch-lifeline|[a-z]+")  # what the id of a job begins with

_COLLECTORS = {"": "", ":1": " of the second"}  # what the names of their keys end with

_LOGIN = {"login-lock": "log-in under way", "login": "session"}


@dataclass(frozen=True)
class Left:
    """One cell each of the fault table."""

    table: str  # state of the crawl, and how many of its pages are open and closed
    redis: str  # what Redis holds of the crawl
    rq: str  # jobs that wait in RQ's queues, that RQ takes for started, and the rescue job


NOTHING = "nothing"


def left_behind(stack: Stack) -> Left:
    crawls = stack.rows("SELECT id, state FROM crawler_crawl")
    if not crawls:
        return Left(NOTHING, _listed(_keys(stack.redis, None)), _listed(_jobs(stack.redis)))
    (crawl,) = crawls
    raw = crawl["id"]
    name = f"{raw[:8]}-{raw[8:12]}-{raw[12:16]}-{raw[16:20]}-{raw[20:]}"
    return Left(_table(stack, crawl["state"]), _listed(_keys(stack.redis, name)), _listed(_jobs(stack.redis)))


def _table(stack: Stack, state: str) -> str:
    open_, closed = (len(stack.rows("SELECT id FROM crawler_page WHERE status = ?", status)) for status in (0, 1))
    pending = len(stack.rows("SELECT id FROM crawler_delivery WHERE state = 'pending'"))
    extracting = stack.rows("SELECT crawl_id FROM crawler_keptextraction WHERE done_at IS NULL")
    more = [*(["delivery pending"] if pending else []), *(["extraction pending"] if extracting else [])]
    return _listed([f"{state}: {open_} open", f"{closed} closed", *more])


def _keys(redis: Redis, crawl: str | None) -> Iterator[str]:
    if crawl is None:
        if redis.keys("crawler:????????-*"):
            yield "keys"
        return
    key = f"crawler:{crawl}:"
    waiting = sum(redis.zcard(name) for name in redis.keys(f"{key}queue:*"))
    leases = sorted(cast(bytes, redis.hget(name, "state")) for name in redis.keys(f"{key}lease:*"))
    for number, whose in _COLLECTORS.items():
        yield from (f"{of_one}{whose}" for of_one in _keys_of_collector(redis, key, number))
    for state in leases:
        yield f"lease {state.decode()}"
    yield from (word for name, word in _LOGIN.items() if redis.exists(f"{key}{name}"))
    if places := redis.zcard(taken_slots(RENDER)):
        yield _counted(places, "place") + " taken"
    if waiting:
        yield f"ready queue of {waiting}"
    if taken := redis.scard(f"{key}taken"):
        yield f"{taken} handed out"
    if redis.exists(f"{key}cursor"):
        yield "cursor"
    if seen := sum(redis.scard(name) for name in redis.keys(f"{key}seen:*")):
        yield f"{seen} seen"
    if dead := redis.zcard(f"{key}dead"):
        yield _counted(dead, "dead letter")


def _keys_of_collector(redis: Redis, key: str, number: str) -> Iterator[str]:
    if redis.exists(f"{key}lock{number}"):
        yield "lock"
    if redis.exists(f"{key}mark{number}"):
        yield "mark"
    if reports := redis.llen(f"{key}results{number}"):
        yield _counted(reports, "report")


def _jobs(redis: Redis) -> Iterator[str]:
    for queue in ("crawl", "fetch", "render", "scrapy"):
        for job in cast(list[bytes], redis.lrange(f"rq:queue:{queue}", 0, -1)):
            yield _named(redis, job)
    for queue in ("crawl", "fetch", "render", "scrapy"):
        for job in cast(list[bytes], redis.zrange(f"rq:wip:{queue}", 0, -1)):
            yield "rescue job" if job.endswith(b":planted") else f"{_named(redis, job)} started"


def _named(redis: Redis, job: bytes) -> str:
    """By its id, and a tick of another collector than the first by its description too."""
    name = job.decode().partition(":")[0]
    kind = _JOBS[_KIND.match(name)[0]]  # type: ignore[index]  # there is no job whose id has no kind
    told = cast(bytes | None, redis.hget(f"rq:job:{name}", "description")) or b""
    return f"{kind} of the second" if told.startswith(b"store results") else kind


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _listed(parts: Any) -> str:
    return ", ".join(parts) or NOTHING
