"""Shortages that stop crawls: no memory or disk for Redis, the database or content, and how each is recognised."""

from __future__ import annotations

from enum import StrEnum

import msgspec

PAUSE_AT_SHARE, RESUME_BELOW_SHARE = 0.9, 0.8
"""Shares of Redis's maxmemory. From the first on no page is handed out, so that results on their way fit in. Below the
second, held crawls continue."""


class Shortage(StrEnum):
    REDIS_FULL = "redis_full"
    REDIS_UNSAVED = "redis_unsaved"  # its own disk is full, most likely
    REDIS_READ_ONLY = "redis_read_only"
    DATABASE_FULL = "database_full"
    DATABASE_READ_ONLY = "database_read_only"
    DATABASE_UNWELL = "database_unwell"
    STORAGE_FULL = "storage_full"

    @property
    def is_of_database(self) -> bool:
        return self in {Shortage.DATABASE_FULL, Shortage.DATABASE_READ_ONLY, Shortage.DATABASE_UNWELL}


class Memory(msgspec.Struct, frozen=True):
    """The memory of Redis, by its INFO."""

    used: int  # bytes
    limit: int  # bytes; 0 = there is none
    policy: str  # maxmemory-policy

    @property
    def evicts_any_key(self) -> bool:
        """Whether it may evict keys that crawls need."""
        return self.limit > 0 and self.policy.startswith("allkeys")

    def is_short(self, *, held: bool) -> bool:
        """Whether no page should be handed out; `held` = crawls are held already (hysteresis)."""
        share = RESUME_BELOW_SHARE if held else PAUSE_AT_SHARE
        return self.limit > 0 and not self.evicts_any_key and self.used >= share * self.limit


def concerns(shortage: Shortage, *, keeps: bool) -> bool:
    """Whether it concerns a crawl; `keeps` = the crawl keeps content."""
    return keeps or shortage is not Shortage.STORAGE_FULL


def of_redis(message: str) -> Shortage | None:
    """The shortage that an error of Redis means; None = another error. It is found in the server's message."""
    if "OOM " in message or "command not allowed when used memory" in message:  # the client removes the error code
        return Shortage.REDIS_FULL
    if "MISCONF" in message:
        return Shortage.REDIS_UNSAVED
    if "READONLY" in message or "can't write against a read only replica" in message:
        return Shortage.REDIS_READ_ONLY
    return None


def of_database(sqlstate: str, message: str) -> Shortage | None:
    """The same for an error of the database: by PostgreSQL's SQLSTATE, or by SQLite's message."""
    by_code = {
        "53100": Shortage.DATABASE_FULL,
        "25006": Shortage.DATABASE_READ_ONLY,
        "58030": Shortage.DATABASE_UNWELL,
    }
    if sqlstate:
        return by_code.get(sqlstate)
    lower = message.lower()
    if "database or disk is full" in lower:
        return Shortage.DATABASE_FULL
    if "readonly database" in lower:
        return Shortage.DATABASE_READ_ONLY
    is_unwell = "disk i/o error" in lower or "unable to open database file" in lower
    return Shortage.DATABASE_UNWELL if is_unwell else None
