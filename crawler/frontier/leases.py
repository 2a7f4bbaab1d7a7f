"""Fetch jobs' claims on their batches: who works on which pages, and until when we believe it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from redis import Redis

from crawler.core.crawl.politeness import Pace
from crawler.frontier import scripts
from crawler.frontier.keys import CrawlKeys
from crawler.frontier.ready_queue import Waiting, member_pairs, page_of

LEASE_SECONDS = 10.0  # a claim runs out after this unless renewed
RENEW_EVERY = 2.5  # seconds


@dataclass(frozen=True)
class InHand:
    """A suspect that its worker has noted: about to be asked for, being asked for or read, or not reported yet."""

    page: int  # id
    attempt: int  # 1 for the first time it is asked for


@dataclass(frozen=True)
class Lease:
    """A batch handed out. `held` is False while its job waits in RQ's queue."""

    batch: str
    token: str
    held: bool
    absent_since: float | None  # when its job was first found to be unknown to RQ
    slices: Mapping[int, tuple[str, tuple[int, ...]]]  # number -> host, page ids
    since: float | None = None  # epoch seconds when it was claimed
    holder: str = ""  # "machine:process id" of the fetch job that claimed it
    in_hand: InHand | None = None


class Leases:
    def __init__(self, redis: Redis, keys: CrawlKeys, usual: Pace) -> None:
        self._redis, self._keys, self._usual = redis, keys, usual

    def claim(self, batch: str, token: str, now: float, holder: str = "") -> bool:
        """Begin work on a batch; False when another job has it or it was taken back. `holder` is for people: the
        process that works on it."""
        return self._hold("claim", batch, token, now, now, holder)

    def renew(self, batch: str, token: str, now: float) -> bool:
        """Show that the holder is alive; False when the lease was taken back: stop asking for pages."""
        return self._hold("renew", batch, token, now)

    def take_in_hand(self, batch: str, token: str, suspect: InHand | None) -> bool:
        """Note the suspect that is about to be asked for, or that none is; False when the lease was taken back."""
        noted = f"{suspect.page} {suspect.attempt}" if suspect is not None else ""
        return bool(scripts.run(self._redis, "hand", [self._keys.lease(batch)], [token, noted]) == 1)

    def settle(
        self,
        batch: str,
        token: str,
        number: int,
        lane: str,
        still_open: Iterable[Waiting],
        next_at: float,
        redis: Redis | None = None,
    ) -> bool:
        """End one slice; `still_open` goes back to the frontier. Repeating it changes nothing. `redis` may be a
        pipeline; then the answer says nothing."""
        keys, usual = self._keys, self._usual
        answer = scripts.run(
            redis or self._redis,
            "settle",
            [*keys.of_lane(lane), keys.leases, keys.lease(batch)],
            [lane, usual.slices, usual.pages, batch, token, number, next_at, *member_pairs(still_open)],
        )
        return bool(answer == 1)

    def overdue(self, now: float) -> list[Lease]:
        """Leases somebody should look at now: claims that ran out, and batches that have waited for a while."""
        raw = cast(list[bytes], self._redis.zrangebyscore(self._keys.leases, "-inf", now))
        batches = [name.decode() for name in raw]
        found = self.of(batches)
        for batch in batches:
            if batch not in found:  # the hash is gone (Redis forgot it): nothing is left to be repaired but this entry
                self._redis.zrem(self._keys.leases, batch)
        return list(found.values())

    def get(self, batch: str) -> Lease | None:
        return self.of([batch]).get(batch)

    def of(self, batches: Iterable[str]) -> dict[str, Lease]:
        """The leases of those of these batches that have one."""
        names = list(batches)
        if not names:
            return {}
        with self._redis.pipeline(transaction=False) as pipe:
            for batch in names:
                pipe.hgetall(self._keys.lease(batch))
            answers = cast(list[dict[bytes, bytes]], pipe.execute())
        return {
            batch: _lease(batch, fields) for batch, fields in zip(names, answers, strict=True) if b"token" in fields
        }

    def all(self) -> list[tuple[Lease, float]]:
        """Every batch handed out, with the epoch seconds when somebody will look at its lease unless it is renewed."""
        batches = cast(list[tuple[bytes, float]], self._redis.zrange(self._keys.leases, 0, -1, withscores=True))
        known = self.of(raw.decode() for raw, _ in batches)
        return [(known[raw.decode()], look_at) for raw, look_at in batches if raw.decode() in known]

    def outstanding(self) -> int:
        """Batches handed out and not settled."""
        return self._redis.zcard(self._keys.leases)

    def waiting(self) -> int:
        """Batches handed out that nobody has claimed yet."""
        batches = cast(list[bytes], self._redis.zrange(self._keys.leases, 0, -1))
        with self._redis.pipeline(transaction=False) as pipe:
            for batch in batches:
                pipe.hget(self._keys.lease(batch.decode()), "state")
            return pipe.execute().count(b"waiting")

    def look_again(self, lease: Lease, at: float, absent_since: float | None) -> None:
        """Put off the next look at a waiting batch, noting since when RQ does not know its job (None = it does). A
        lease that is gone by now stays gone."""
        keys = [self._keys.leases, self._keys.lease(lease.batch)]
        absent = "" if absent_since is None else str(absent_since)
        scripts.run(self._redis, "look", keys, [lease.batch, lease.token, at, absent])

    def _hold(self, name: str, batch: str, token: str, now: float, *more: float | str) -> bool:
        keys = [self._keys.leases, self._keys.lease(batch)]
        return bool(scripts.run(self._redis, name, keys, [batch, token, now + LEASE_SECONDS, *more]) == 1)


def _lease(batch: str, fields: Mapping[bytes, bytes]) -> Lease:
    absent = fields.get(b"absent")
    return Lease(
        batch=batch,
        token=fields[b"token"].decode(),
        held=fields[b"state"] == b"held",
        absent_since=float(absent) if absent else None,
        slices={int(name): _slice(value) for name, value in fields.items() if name.isdigit()},
        since=float(fields[b"since"]) if b"since" in fields else None,
        holder=fields.get(b"holder", b"").decode(),
        in_hand=InHand(*map(int, fields[b"hand"].split())) if b"hand" in fields else None,
    )


def _slice(value: bytes) -> tuple[str, tuple[int, ...]]:
    lane, *members = value.decode().split(" ")
    return lane, tuple(page_of(member) for member in members)
