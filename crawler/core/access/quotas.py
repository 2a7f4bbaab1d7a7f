"""How much one person may crawl: crawls at a time, and pages a day. A day is one of UTC; 0 stands for "no limit"."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from crawler.core.errors import OverQuota
from crawler.core.text.quantities import count, counted

ASK_AGAIN = 60  # seconds after which a crawl may be over; nobody knows


@dataclass(frozen=True)
class Quota:
    """What a person may have."""

    active_crawls: int = 0  # crawls that are not over
    pages_a_day: int = 0  # asked for, by all crawls together


@dataclass(frozen=True)
class Used:
    """What a person has."""

    active_crawls: int
    pages_today: int


NO_LIMIT = Quota()


def quota_of(usual: Quota, active_crawls: int | None, pages_a_day: int | None, *, is_superuser: bool) -> Quota:
    """What an allowance says counts; what it leaves open (None) is as usual, and without limit for superusers."""
    rest = NO_LIMIT if is_superuser else usual
    return Quota(
        rest.active_crawls if active_crawls is None else active_crawls,
        rest.pages_a_day if pages_a_day is None else pages_a_day,
    )


def pages_left(quota: Quota, used: Used) -> int | None:
    """Pages that may still be asked for today; None = no limit."""
    return max(0, quota.pages_a_day - used.pages_today) if quota.pages_a_day else None


def check_start(quota: Quota, used: Used, now: datetime) -> None:
    """OverQuota unless another crawl may be begun."""
    if quota.active_crawls and used.active_crawls >= quota.active_crawls:
        raise OverQuota(
            f"You have {counted(used.active_crawls, 'crawl')} that {'is' if used.active_crawls == 1 else 'are'} not "
            f"over, and may have {count(quota.active_crawls)}. Wait until one is finished, or cancel one.",
            retry_after=ASK_AGAIN,
        )
    if pages_left(quota, used) == 0:
        raise OverQuota(
            f"Your crawls have asked for {counted(used.pages_today, 'page')} today, and may ask for "
            f"{count(quota.pages_a_day)} a day. Start this one after midnight (UTC).",
            retry_after=max(1, round((next_day(now) - now).total_seconds())),
        )


def next_day(now: datetime) -> datetime:
    """The next midnight in UTC."""
    return datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time.min, UTC)
