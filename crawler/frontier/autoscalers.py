"""The autoscalers that run, one on each host with workers: who they are, and how many workers each of them keeps.

There is no leader and no lock. Each autoscaler writes its entry into one hash once a second and reads the entries of
the others; from the same entries all find the same shares (`core.politeness.scaling.shares`). While one joins or
leaves they may disagree for a second or two: a worker too many or too few runs, which no site notices, since what may
be requested is decided elsewhere (`host_limiter`).

An autoscaler that was killed or cut off leaves its entry behind. The others drop it when it has not changed during
MISSED_HEARTBEATS beats of their own, and so share out its workers. Beats are counted and not timed, because
clocks of hosts differ, and because all are silent during an outage of Redis: none takes the others for dead afterwards.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import time
from contextlib import suppress
from typing import cast

import msgspec
from redis import Redis
from redis.exceptions import ResponseError

from crawler.core.politeness.scaling import shares
from crawler.frontier.keys import AUTOSCALERS, SCALED_BY_API

MISSED_HEARTBEATS = 10  # a call of Redis fails after 10 s: one that was cut off is back by then
AUTOSCALERS_TTL_S = 10  # when none has written for so long, none runs


API_TTL_S = 60  # one that asks by the API is taken for stopped after so long: KEDA asks every 30 s by default


def has_autoscaler(redis: Redis) -> bool:
    """Whether a program starts workers when they are useful."""
    return bool(redis.exists(AUTOSCALERS, SCALED_BY_API))


def note_autoscaler_of_api(redis: Redis) -> None:
    """An autoscaler that is none of this project's asked by the API. A full Redis refuses the note."""
    with suppress(ResponseError):
        redis.set(SCALED_BY_API, 1, ex=API_TTL_S)


class _Entry(msgspec.Struct, frozen=True):
    """What was read of another autoscaler."""

    raw: bytes
    silent: int = 0  # beats of ours since it changed


class Membership:
    """One autoscaler among all; it keeps from `least` to `most` workers."""

    def __init__(self, least: int, most: int, name: str | None = None) -> None:
        self.name = name or _own_name()
        self._least, self._most = least, most
        self._beats = 0
        self._is_new = False  # our entry was missing at the last beat
        self._others = dict[str, _Entry]()

    def beat(self, redis: Redis) -> bool:
        """Say that this autoscaler runs, and see which others do; True if Redis has lost what they had said, and this
        is the first to say it again. Raises the errors of Redis; a full one refuses the entry, and then all are taken
        to go on as before."""
        self._beats += 1
        entries = self._write(redis, self._least, self._most)
        if entries is None:
            return False
        names = self._others.keys() | entries.keys() - {self.name}
        others = {name: self._seen(name, entries.get(name)) for name in names}
        gone = [name for name, entry in others.items() if entry.silent >= MISSED_HEARTBEATS or self._replaces(name)]
        self._others = {name: entry for name, entry in others.items() if name not in gone}
        if gone:
            redis.hdel(AUTOSCALERS, *gone)
        return self._is_new and self._beats > 1 and len(entries) == 1

    def leave(self, redis: Redis) -> None:
        """Keep no worker from now on, so that the others start what this one stops."""
        self._beats += 1
        self._write(redis, 0, 0)

    def share(self, wanted: int) -> int:
        """How many of the wanted workers are this one's, as of its last beat."""
        ranges = {name: _range_of(entry.raw) for name, entry in self._others.items()}
        ranges[self.name] = (self._least, self._most)
        names = sorted(ranges)
        return shares(wanted, [ranges[name] for name in names])[names.index(self.name)]

    def _write(self, redis: Redis, least: int, most: int) -> dict[str, bytes] | None:
        """All entries, our new one among them; None if Redis is full."""
        with redis.pipeline(transaction=False) as pipe:
            pipe.hset(AUTOSCALERS, self.name, json.dumps([self._beats, least, most]))
            pipe.expire(AUTOSCALERS, AUTOSCALERS_TTL_S)
            pipe.hgetall(AUTOSCALERS)
            written, _, entries = pipe.execute(raise_on_error=False)
        if isinstance(written, ResponseError):
            return None
        self._is_new = written == 1
        return {name.decode(): raw for name, raw in cast(dict[bytes, bytes], entries).items()}

    def _seen(self, name: str, raw: bytes | None) -> _Entry:
        """The entry after another look; `raw` is None when it is missing, as all are after Redis lost its data."""
        known = self._others.get(name)
        if known is not None and raw in (None, known.raw):
            return _Entry(known.raw, known.silent + 1)
        return _Entry(raw or b"")

    def _replaces(self, name: str) -> bool:
        """Whether it was a process of this host that no longer runs: one that was killed, and that the supervisor has
        replaced by this one. Hosts are told apart by their names, as RQ does."""
        parts, own = name.split("/"), self.name.split("/")
        if len(parts) != len(own) or parts[1] != own[1]:
            return False
        return parts[2] == own[2] or not _lives(int(parts[2]))  # containers number their processes alike at each start


def _own_name() -> str:
    """Sorted by name, the first of one host is the one that began first. The order only settles ties."""
    return f"{time.monotonic():015.3f}/{socket.gethostname()}/{os.getpid()}/{secrets.token_hex(4)}"


def _range_of(raw: bytes) -> tuple[int, int]:
    """The least and the most; none of another version's entry."""
    try:
        _, least, most = json.loads(raw)
        return int(least), int(most)
    except (TypeError, ValueError):
        return 0, 0


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # a process of another user: it exists
    return True
