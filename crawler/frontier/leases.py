"""Fetch jobs' claims on their batches: which job works on which pages, when the claim expires, and its renewal."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Self, cast

import msgspec
from redis import Redis
from redis.exceptions import RedisError

from crawler.clock import Clock
from crawler.core.politeness.host_rules import Pace
from crawler.frontier import scripts
from crawler.frontier.keys import CrawlKeys
from crawler.frontier.ready_queue import QueueItem, decode_member, member_pairs

LEASE_TTL_S = 10.0  # a claim expires after this unless renewed
RENEW_INTERVAL_S = 2.5


def this_process() -> str:
    """The name under which a fetch job of this process claims batches, see `Lease.holder`."""
    return f"{socket.gethostname()}:{os.getpid()}"


class CurrentSuspect(msgspec.Struct, frozen=True):
    """A suspect that its worker has noted: about to be fetched, being fetched or parsed, or not reported yet."""

    page: int  # id
    attempt: int  # 1 for the first


class Lease(msgspec.Struct, frozen=True):
    """A batch handed out. `held` is False while its job waits in RQ's queue."""

    batch: str
    token: str
    held: bool
    absent_since: float | None  # when its job was first found to be unknown to RQ
    slices: Mapping[int, tuple[str, tuple[int, ...]]]  # number -> host, page ids
    since: float | None = None  # epoch seconds when it was claimed
    holder: str = ""  # "machine:process id" of the fetch job that claimed it
    suspect: CurrentSuspect | None = None


class Leases:
    def __init__(self, redis: Redis, keys: CrawlKeys, default_pace: Pace) -> None:
        self._redis, self._keys, self._default_pace = redis, keys, default_pace

    def claim(self, batch: str, token: str, now: float, holder: str = "") -> bool:
        """Begin work on a batch; False when another job has it or it was reclaimed. `holder` names the process, for
        users."""
        return self._run("lease_claim", batch, token, now, now, holder)

    def renew(self, batch: str, token: str, now: float) -> bool:
        """Renew the lease; False when it was reclaimed: stop fetching."""
        return self._run("lease_renew", batch, token, now)

    def note_suspect(self, batch: str, token: str, suspect: CurrentSuspect | None) -> bool:
        """Note the suspect about to be fetched, or None; False when the lease was reclaimed."""
        noted = f"{suspect.page} {suspect.attempt}" if suspect is not None else ""
        return bool(scripts.run(self._redis, "lease_note_suspect", [self._keys.lease(batch)], [token, noted]) == 1)

    def complete_slice(
        self,
        batch: str,
        token: str,
        number: int,
        lane: str,
        still_open: Iterable[QueueItem],
        next_at: float,
        redis: Redis | None = None,
    ) -> bool:
        """Complete one slice; `still_open` goes back to the queue. Idempotent. `redis` may be a pipeline; then the
        returned value is meaningless."""
        keys, usual = self._keys, self._default_pace
        answer = scripts.run(
            redis or self._redis,
            "complete",
            [*keys.of_lane(lane), keys.leases, keys.lease(batch)],
            [lane, usual.slices, usual.pages, batch, token, number, next_at, *member_pairs(still_open)],
        )
        return bool(answer == 1)

    def overdue(self, now: float) -> list[Lease]:
        """Leases to be checked now: expired claims, and batches that have waited for a while."""
        raw = cast(list[bytes], self._redis.zrangebyscore(self._keys.leases, "-inf", now))
        batches = [name.decode() for name in raw]
        found = self.read(batches)
        for batch in batches:
            if batch not in found:  # Redis lost the hash: only this entry is left to remove
                self._redis.zrem(self._keys.leases, batch)
        return list(found.values())

    def get(self, batch: str) -> Lease | None:
        return self.read([batch]).get(batch)

    def read(self, batches: Iterable[str]) -> dict[str, Lease]:
        """The leases of these batches; those without one are left out."""
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
        """Every batch handed out, with the epoch seconds when its lease is checked unless renewed."""
        batches = cast(list[tuple[bytes, float]], self._redis.zrange(self._keys.leases, 0, -1, withscores=True))
        known = self.read(raw.decode() for raw, _ in batches)
        return [(known[raw.decode()], look_at) for raw, look_at in batches if raw.decode() in known]

    def outstanding(self) -> int:
        """Batches handed out and not complete."""
        return self._redis.zcard(self._keys.leases)

    def batches(self) -> list[str]:
        """The same by name."""
        return [raw.decode() for raw in cast(list[bytes], self._redis.zrange(self._keys.leases, 0, -1))]

    def unclaimed(self, batches: Sequence[str] | None = None) -> list[str]:
        """Batches handed out that no job has claimed yet, of all or of these."""
        batches = self.batches() if batches is None else batches
        if not batches:
            return []
        with self._redis.pipeline(transaction=False) as pipe:
            for batch in batches:
                pipe.hget(self._keys.lease(batch), "state")
            return [batch for batch, state in zip(batches, pipe.execute(), strict=True) if state == b"waiting"]

    def postpone_check(self, lease: Lease, at: float, absent_since: float | None) -> None:
        """Postpone the next check of a batch, noting since when RQ does not know its job (None = it does). Does nothing
        if the lease is gone, and leaves the later check of one that was renewed meanwhile."""
        keys = [self._keys.leases, self._keys.lease(lease.batch)]
        absent = "" if absent_since is None else str(absent_since)
        scripts.run(self._redis, "lease_postpone_check", keys, [lease.batch, lease.token, at, absent])

    def _run(self, name: str, batch: str, token: str, now: float, *more: float | str) -> bool:
        keys = [self._keys.leases, self._keys.lease(batch)]
        return bool(scripts.run(self._redis, name, keys, [batch, token, now + LEASE_TTL_S, *more]) == 1)


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
        suspect=CurrentSuspect(*map(int, fields[b"hand"].split())) if b"hand" in fields else None,
    )


def _slice(value: bytes) -> tuple[str, tuple[int, ...]]:
    lane, *members = value.decode().split(" ")
    return lane, tuple(decode_member(member) for member in members)


# Renews a fetch job's lease in a separate thread, however long a page takes.


class Heartbeat:
    """Calls `renew` every few seconds, until that returns False. `now` is monotonic seconds."""

    def __init__(
        self, renew: Callable[[], bool], every: float = RENEW_INTERVAL_S, *, now: Clock = time.monotonic
    ) -> None:
        self._renew, self._every, self._now = renew, every, now
        self._stop = threading.Event()
        self._renewed_at = now()
        self._is_refused = False
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def is_lost(self) -> bool:
        """Whether the lease was refused, or not renewed for LEASE_TTL_S: then it may belong to another job, and no
        further page may be fetched. Goes by the time, because one call to a Redis that is silent may last as long."""
        return self._is_refused or self._now() - self._renewed_at >= LEASE_TTL_S

    def _run(self) -> None:
        while not self._stop.wait(self._every):
            began = self._now()
            try:
                self._is_refused = not self._renew()
            except RedisError:
                continue
            if self._is_refused:
                return
            self._renewed_at = began

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
