"""Why a paused crawl is paused."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from typing import assert_never

from crawler.core.installation.backpressure import Shortage

CAPACITY_HOLD_MAX = timedelta(minutes=1)
"""A hold for lack of capacity lasts seconds, and is extended; the one for the daily quota ends at midnight (UTC)."""


class HoldReason(StrEnum):
    """The first three wait for a user. The others are holds: the crawl resumes by itself after `held_until`."""

    USER = "user"  # by `crawls.control.pause`
    CREDENTIALS = "credentials"  # they cannot be decrypted; by `crawls.credentials.check_credentials`
    REFUSED = "refused"  # for a reason that its row tells, such as a log-in that has failed; by `crawls.control`
    DAILY_QUOTA = "daily_quota"  # of its owner; by `crawls.holds.enforce_quota`
    CAPACITY = "capacity"  # of Redis, the database or the content storage (`Shortage`); by `crawls.holds.hold`


def hold_reason(
    held_until: datetime | None,
    shortage: Shortage | None,
    now: float,
    *,
    has_credentials: bool = True,
    pause_reason: str = "",
) -> HoldReason:
    """Of a paused crawl. `has_credentials`: those it needs can be decrypted. `pause_reason`: of the crawl's row."""
    if not has_credentials:
        return HoldReason.CREDENTIALS
    if pause_reason and held_until is None:
        return HoldReason.REFUSED
    if held_until is None:
        return HoldReason.USER
    if shortage is not None:
        return HoldReason.CAPACITY
    is_midnight = held_until.astimezone(UTC).time() == time.min
    is_long = held_until - datetime.fromtimestamp(now, UTC) > CAPACITY_HOLD_MAX
    return HoldReason.DAILY_QUOTA if is_midnight or is_long else HoldReason.CAPACITY


def needs_person(reason: HoldReason, shortage: Shortage | None) -> bool:
    """Whether the crawl goes on only after a person has done something, or on another day. Not for a crawl that a user
    paused, who may resume it any moment, nor while Redis is full of other crawls, which end."""
    match reason:
        case HoldReason.REFUSED | HoldReason.CREDENTIALS | HoldReason.DAILY_QUOTA:
            return True
        case HoldReason.CAPACITY:
            return shortage not in {None, Shortage.REDIS_FULL}
        case HoldReason.USER:
            return False
    assert_never(reason)
