"""Quotas of a user: active crawls, and pages per day. Days are in UTC; 0 = no limit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from crawler.core.errors import OverQuota
from crawler.core.text.quantities import count, counted

RETRY_AFTER_S = 60  # an arbitrary time after which a crawl may be over


@dataclass(frozen=True)
class Quota:
    """The limits of a user."""

    active_crawls: int = 0  # crawls that are not over
    pages_a_day: int = 0  # requested, by all crawls together


@dataclass(frozen=True)
class Used:
    """What a user has used."""

    active_crawls: int
    pages_today: int


NO_LIMIT = Quota()


def quota_of(default: Quota, active_crawls: int | None, pages_a_day: int | None, *, is_superuser: bool) -> Quota:
    """The quota of a user. None = the default, which is without limit for superusers."""
    rest = NO_LIMIT if is_superuser else default
    return Quota(
        rest.active_crawls if active_crawls is None else active_crawls,
        rest.pages_a_day if pages_a_day is None else pages_a_day,
    )


def pages_left(quota: Quota, used: Used) -> int | None:
    """Pages that may still be requested today; None = no limit."""
    return max(0, quota.pages_a_day - used.pages_today) if quota.pages_a_day else None


def check_start(quota: Quota, used: Used, now: datetime) -> None:
    """OverQuota unless another crawl may start."""
    if quota.active_crawls and used.active_crawls >= quota.active_crawls:
        raise OverQuota(
            f"You have {counted(used.active_crawls, 'crawl')} that {'is' if used.active_crawls == 1 else 'are'} not "
            f"over, and may have {count(quota.active_crawls)}. Wait until one is finished, or cancel one.",
            retry_after=RETRY_AFTER_S,
        )
    if pages_left(quota, used) == 0:
        raise OverQuota(
            f"Your crawls have requested {counted(used.pages_today, 'page')} today, and may request "
            f"{count(quota.pages_a_day)} a day. Start this one after midnight (UTC).",
            retry_after=max(1, round((next_day(now) - now).total_seconds())),
        )


def next_day(now: datetime) -> datetime:
    """The next midnight in UTC."""
    return datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time.min, UTC)
