"""What a crawl cannot go on without and may run out of: room in Redis, in the database, where content is kept. How
each is recognised, and what people are told of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

FULL_AT, ROOM_BELOW = 0.9, 0.8
"""Shares of what Redis may use. From the first on nothing new is asked for, because what is on its way must still find
room. Below the second, crawls that were held for it go on."""


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


_WORDS = {
    Shortage.REDIS_FULL: ("Redis is full: it has used up its maxmemory", "Let it use more, or cancel crawls"),
    Shortage.REDIS_UNSAVED: ("Redis takes nothing in: it could not save its data", "See whether its disk is full"),
    Shortage.REDIS_READ_ONLY: ("Redis takes nothing in: it is a read-only replica", "Name the primary in REDIS_URL"),
    Shortage.DATABASE_FULL: ("the disk of the database is full", "Make room on it"),
    Shortage.DATABASE_READ_ONLY: ("the database is read-only", "Make it writable"),
    Shortage.DATABASE_UNWELL: ("the database cannot write to its disk", "See whether it is full or broken"),
    Shortage.STORAGE_FULL: ("there is no room left for the content it keeps", "Make room where content is stored"),
}


@dataclass(frozen=True)
class Memory:
    """What Redis says of its memory."""

    used: int  # bytes
    limit: int  # bytes; 0 = there is none
    policy: str  # what it does when that is reached

    @property
    def throws_away(self) -> bool:
        """Whether it makes room by forgetting what crawls may need."""
        return self.limit > 0 and self.policy.startswith("allkeys")

    def is_short(self, *, held: bool) -> bool:
        """Whether nothing new should be asked for; `held` = that is so already, and should not change at once."""
        share = ROOM_BELOW if held else FULL_AT
        return self.limit > 0 and not self.throws_away and self.used >= share * self.limit


def concerns(shortage: Shortage, *, keeps: bool) -> bool:
    """Whether a crawl has to wait for it; `keeps` = it keeps content."""
    return keeps or shortage is not Shortage.STORAGE_FULL


def because(shortage: Shortage) -> str:
    """The reason as the end of a sentence, without a full stop."""
    return _WORDS[shortage][0]


def sentence(shortage: Shortage) -> str:
    """The reason alone, for whoever cannot do anything about it."""
    reason = because(shortage)
    return f"{reason[0].upper()}{reason[1:]}."


def remedy(shortage: Shortage) -> str:
    """What to do about it: a sentence without its full stop."""
    return _WORDS[shortage][1]


def paused_for(shortage: Shortage) -> str:
    return f"It is paused, because {because(shortage)}. {remedy(shortage)}: then it goes on by itself."


PAUSED_FOR_ROOM = "It is paused, because there was no room for what it finds. It goes on by itself once there is."
"""Where nobody can tell any more what was short."""


def waits_for(shortage: Shortage) -> str:
    """Of a crawl whose pause could not be written down."""
    return f"Nothing new is asked for, because {because(shortage)}. {remedy(shortage)}: then it goes on by itself."


def of_redis(message: str) -> Shortage | None:
    """What an error of Redis speaks of; None = something else. The words are the server's, behind whatever was done."""
    if "OOM " in message or "command not allowed when used memory" in message:  # the client takes the code away
        return Shortage.REDIS_FULL
    if "MISCONF" in message:
        return Shortage.REDIS_UNSAVED
    if "READONLY" in message or "can't write against a read only replica" in message:
        return Shortage.REDIS_READ_ONLY
    return None


def of_database(sqlstate: str, message: str) -> Shortage | None:
    """The same of an error of the database: by PostgreSQL's code, or by SQLite's words."""
    by_code = {
        "53100": Shortage.DATABASE_FULL,
        "25006": Shortage.DATABASE_READ_ONLY,
        "58030": Shortage.DATABASE_UNWELL,
    }
    if sqlstate:
        return by_code.get(sqlstate)
    said = message.lower()
    if "database or disk is full" in said:
        return Shortage.DATABASE_FULL
    if "readonly database" in said:
        return Shortage.DATABASE_READ_ONLY
    is_unwell = "disk i/o error" in said or "unable to open database file" in said
    return Shortage.DATABASE_UNWELL if is_unwell else None
