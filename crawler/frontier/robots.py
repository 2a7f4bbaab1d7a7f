"""Cache of robots.txt files shared by all workers, so that each is fetched once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import cast

import msgspec
from redis import Redis

from crawler.core.pages.outcomes import Outcome
from crawler.core.robots.robots_txt import RobotsAnswer, verdict_of_status
from crawler.frontier import keys

TTL_S = 24 * 3600  # RFC 9309, 2.4: not longer than 24 hours
UNREACHABLE_TTL_S = 0.9  # shorter than any page's back-off; a slice keeps it in memory
LOCK_TTL_S = 10  # renewed during the fetch; the lock of a dead worker expires after this


class RobotsEntry(msgspec.Struct, frozen=True, kw_only=True):
    """The result of fetching an origin's robots.txt."""

    status: int | None  # HTTP status; None when nothing usable answered
    outcome: Outcome  # of the last request made for it
    body: bytes  # at most one byte more than is parsed; empty unless there are rules
    oddity: str = ""  # what a user should know about it, see `core.robots.robots_txt.oddity_of`
    error: str = ""


_decoder = msgspec.msgpack.Decoder(RobotsEntry)


class RobotsCache:
    """Shared by all crawls, or by few of them."""

    def __init__(self, redis: Redis, partition: str = "") -> None:
        self._redis, self.partition = redis, f"{partition}:" if partition else ""

    @classmethod
    def of(
        cls,
        redis: Redis,
        crawl: str,
        *,
        sealed: str,
        private_hosts: Iterable[str],
        user_agent: str = "",
        ignore_tls_errors: bool = False,
    ) -> RobotsCache:
        """The cache partition of a crawl. A crawl with credentials or a proxy has its own, because its responses may
        differ. Crawls that may fetch private addresses share one with those that may fetch the same: the responses
        of such addresses are not for other crawls. So do crawls with the same user agent of their own: a server may
        send each another file. So do those that accept any certificate: nobody can tell who sent theirs."""
        if sealed:
            return cls(redis, crawl)
        own = "\n".join(sorted(set(private_hosts))) + (f"\n\n{user_agent}" if user_agent else "")
        own += "\n\n\n" if ignore_tls_errors else ""
        return cls(redis, sha256(own.encode()).hexdigest()[:32] if own else "")

    def get(self, origin: str) -> RobotsEntry | None:
        """The cached entry; None also if another version wrote one that cannot be decoded."""
        raw = cast(bytes | None, self._redis.get(keys.robots(self.partition + origin)))
        try:
            return None if raw is None else _decoder.decode(raw)
        except msgspec.DecodeError:  # ValidationError among them
            return None

    def put(self, origin: str, entry: RobotsEntry, *, reachable: bool) -> None:
        seconds = TTL_S if reachable else UNREACHABLE_TTL_S
        self._redis.set(keys.robots(self.partition + origin), msgspec.msgpack.encode(entry), px=int(seconds * 1000))

    def is_being_fetched(self, origins: Sequence[str]) -> bool:
        """Whether a worker is fetching one of these files."""
        return bool(origins) and bool(
            self._redis.exists(*(keys.robots_lock(self.partition + each) for each in origins))
        )

    def forget_unreachable(self, origin: str) -> None:
        """Remove the entry if the file was unreachable, so that it is fetched again."""
        entry = self.get(origin)
        if entry is not None and verdict_of_status(entry.status) is RobotsAnswer.UNREACHABLE:
            self._redis.delete(keys.robots(self.partition + origin))

    def acquire_lock(self, origin: str, holder: str) -> bool:
        """True if this worker is to fetch the file; other workers wait for the entry."""
        return bool(self._redis.set(keys.robots_lock(self.partition + origin), holder, nx=True, ex=LOCK_TTL_S))

    def renew_lock(self, origin: str) -> None:
        self._redis.expire(keys.robots_lock(self.partition + origin), LOCK_TTL_S)

    def release_lock(self, origin: str) -> None:
        self._redis.delete(keys.robots_lock(self.partition + origin))
