"""Quotas of a user: active crawls, pages per day, and what their crawls store. Days are in UTC; 0 = no limit."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import msgspec

from crawler.core.errors import OverQuota
from crawler.core.text.quantities import count, counted

RETRY_AFTER_S = 60  # an arbitrary time after which a crawl may be over
BYTES_PER_MB = 1_000_000


class Quota(msgspec.Struct, frozen=True):
    """The limits of a user."""

    active_crawls: int = 0  # crawls that are not over
    pages_a_day: int = 0  # requested, by all crawls together
    stored_pages: int = 0  # rows of pages of all their crawls, finished ones too
    stored_mb: int = 0  # megabytes of content that these crawls keep


class StorageUse(msgspec.Struct, frozen=True):
    """What the crawls of a user store. Deleting one frees it."""

    pages: int = 0
    bytes: int = 0  # of kept content


class QuotaUse(msgspec.Struct, frozen=True):
    """What a user has used."""

    active_crawls: int
    pages_today: int
    stored: StorageUse = StorageUse()


class StorageExhausted(msgspec.Struct, frozen=True):
    """A limit of storage that a user's crawls have reached."""

    used: int  # pages, or megabytes
    allowed: int
    of_content: bool = False  # megabytes of kept content


NO_LIMIT = Quota()


def quota_of(
    default: Quota,
    active_crawls: int | None,
    pages_a_day: int | None,
    stored_pages: int | None = None,
    stored_mb: int | None = None,
    *,
    is_superuser: bool,
) -> Quota:
    """The quota of a user. None = the default, which is without limit for superusers."""
    rest = NO_LIMIT if is_superuser else default
    return Quota(
        rest.active_crawls if active_crawls is None else active_crawls,
        rest.pages_a_day if pages_a_day is None else pages_a_day,
        rest.stored_pages if stored_pages is None else stored_pages,
        rest.stored_mb if stored_mb is None else stored_mb,
    )


def pages_left(quota: Quota, used: QuotaUse) -> int | None:
    """Pages that may still be requested today; None = no limit."""
    return max(0, quota.pages_a_day - used.pages_today) if quota.pages_a_day else None


def storage_exhausted(quota: Quota, stored: StorageUse) -> StorageExhausted | None:
    """The limit by which no more may be stored; None = more may."""
    if quota.stored_pages and stored.pages >= quota.stored_pages:
        return StorageExhausted(stored.pages, quota.stored_pages)
    if quota.stored_mb and stored.bytes >= quota.stored_mb * BYTES_PER_MB:
        return StorageExhausted(stored.bytes // BYTES_PER_MB, quota.stored_mb, of_content=True)
    return None


def check_start(quota: Quota, used: QuotaUse, now: datetime) -> None:
    """OverQuota unless another crawl may start, as far as that depends on what runs and was requested."""
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
