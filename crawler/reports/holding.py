"""Why a crawl that is not over is held, or cannot go on although it runs: its owner's quota, or no room for more."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

from redis import RedisError

from crawler import queues
from crawler.core.errors import ServiceDown
from crawler.core.lifecycle import State
from crawler.core.shortages import PAUSED_FOR_ROOM, Shortage, concerns, paused_for, waits_for
from crawler.frontier import room
from crawler.models import Crawl

_SOON = timedelta(minutes=1)


def held_because(crawl: Crawl, now: float) -> str:
    """What to tell a person; "" when nothing holds it, or a person paused it."""
    state = State(crawl.state)
    if state is State.RUNNING:
        short = shortage_for(crawl)
        return waits_for(short) if short is not None else ""
    if state is not State.PAUSED or crawl.held_until is None:
        return ""
    short = shortage_for(crawl)
    if short is not None:
        return paused_for(short)
    return of_the_day(crawl.held_until) if is_for_the_day(crawl.held_until, now) else PAUSED_FOR_ROOM


def shortage_for(crawl: Crawl) -> Shortage | None:
    """What this crawl has no room in, as far as Redis can tell."""
    try:
        short = room.shortage(queues.connection(), held=crawl.held_until is not None)
    except (ServiceDown, RedisError):
        return None
    return short if short is not None and concerns(short, keeps=bool(crawl.chosen.keep)) else None


def of_the_day(until: datetime) -> str:
    """Why a crawl is paused that its owner's quota holds."""
    why = "It is paused, because the pages its owner may ask for in a day are used up."
    return f"{why} It goes on by itself on {until.day} {until:%b %Y, %H:%M} UTC."


def is_for_the_day(until: datetime, now: float) -> bool:
    """Whether a hold is the quota's, which ends at midnight; one for want of room lasts seconds, again and again."""
    return until.astimezone(UTC).time() == time.min or until - datetime.fromtimestamp(now, UTC) > _SOON
