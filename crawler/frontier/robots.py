"""What all workers remember of robots.txt files, so that each is asked for once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import cast

import msgspec
from redis import Redis

from crawler.core.crawl.outcomes import Outcome
from crawler.core.robots.robots_txt import RobotsAnswer, verdict_of_status
from crawler.frontier import keys

KEPT_SECONDS = 24 * 3600  # RFC 9309, 2.4: not longer than 24 hours
KEPT_UNREACHABLE_SECONDS = 0.9  # shorter than any page's back-off; a slice remembers it by itself
LOCK_SECONDS = 10  # whoever asks for one renews this while it takes; one that does not is dead, and another asks


class RobotsMemo(msgspec.Struct, frozen=True, kw_only=True):
    """What came of asking for an origin's robots.txt."""

    status: int | None  # HTTP status; None when nothing usable answered
    outcome: Outcome  # of the last request made for it
    body: bytes  # at most one byte more than is read of it; empty unless there are rules
    oddity: str = ""  # what a person should know of it, see `core.robots.robots_txt.oddity_of`
    error: str = ""


_decoder = msgspec.msgpack.Decoder(RobotsMemo)


class RobotsMemory:
    """Shared by all crawls, or by few of them."""

    def __init__(self, redis: Redis, whose: str = "") -> None:
        self._redis, self.whose = redis, f"{whose}:" if whose else ""

    @classmethod
    def of(cls, redis: Redis, crawl: str, *, sealed: str, private_hosts: Iterable[str]) -> RobotsMemory:
        """The one a crawl uses. With credentials or a proxy it has its own, for it may be answered as nobody else is.
        Where it may ask addresses that are not public, it shares it with those that may ask the very same: what such
        an address says is not for those that may not."""
        if sealed:
            return cls(redis, crawl)
        allowed = "\n".join(sorted(set(private_hosts)))
        return cls(redis, sha256(allowed.encode()).hexdigest()[:32] if allowed else "")

    def get(self, origin: str) -> RobotsMemo | None:
        """What is remembered; None also when another version of this project wrote what cannot be read now."""
        raw = cast(bytes | None, self._redis.get(keys.robots(self.whose + origin)))
        try:
            return None if raw is None else _decoder.decode(raw)
        except msgspec.DecodeError:  # ValidationError among them
            return None

    def keep(self, origin: str, memo: RobotsMemo, *, reachable: bool) -> None:
        seconds = KEPT_SECONDS if reachable else KEPT_UNREACHABLE_SECONDS
        self._redis.set(keys.robots(self.whose + origin), msgspec.msgpack.encode(memo), px=int(seconds * 1000))

    def being_asked(self, origins: Sequence[str]) -> bool:
        """Whether a worker is asking for one of these files."""
        return bool(origins) and bool(self._redis.exists(*(keys.robots_lock(self.whose + each) for each in origins)))

    def forget_unreachable(self, origin: str) -> None:
        """Ask for a file again that could not be had; what was read of others stays."""
        memo = self.get(origin)
        if memo is not None and verdict_of_status(memo.status) is RobotsAnswer.UNREACHABLE:
            self._redis.delete(keys.robots(self.whose + origin))

    def may_ask(self, origin: str, holder: str) -> bool:
        """Whether this worker is the one to ask; others wait for its answer."""
        return bool(self._redis.set(keys.robots_lock(self.whose + origin), holder, nx=True, ex=LOCK_SECONDS))

    def still_asking(self, origin: str) -> None:
        self._redis.expire(keys.robots_lock(self.whose + origin), LOCK_SECONDS)

    def asked(self, origin: str) -> None:
        self._redis.delete(keys.robots_lock(self.whose + origin))
