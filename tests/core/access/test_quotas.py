"""How much one person may crawl."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from crawler.core.access.quotas import (
    Quota,
    QuotaUse,
    StorageExhausted,
    StorageUse,
    check_start,
    next_day,
    pages_left,
    quota_of,
    storage_exhausted,
)
from crawler.core.errors import OverQuota

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("allowance", "is_superuser", "quota"),
    [
        ((None, None), False, Quota(3, 100)),  # as the settings say
        ((5, None), False, Quota(5, 100)),  # more, for this person
        ((None, 0), False, Quota(3, 0)),  # a zero is no limit
        ((None, None), True, Quota(0, 0)),  # superusers have none
        ((None, 10), True, Quota(0, 10)),  # unless they are given one
    ],
)
def test_an_allowance_counts_before_the_settings(
    allowance: tuple[int | None, int | None], is_superuser: bool, quota: Quota
) -> None:
    assert quota_of(Quota(3, 100), *allowance, is_superuser=is_superuser) == quota


@pytest.mark.parametrize(
    ("quota", "used"),
    [
        (Quota(0, 0), QuotaUse(1000, 10**9)),
        (Quota(2, 0), QuotaUse(1, 10**9)),
        (Quota(0, 100), QuotaUse(1000, 99)),
    ],
)
def test_below_the_limit_a_crawl_may_be_begun(quota: Quota, used: QuotaUse) -> None:
    check_start(quota, used, NOON)


def test_at_the_limit_of_crawls_it_says_what_to_do() -> None:
    with pytest.raises(OverQuota) as refused:
        check_start(Quota(1, 0), QuotaUse(1, 0), NOON)
    assert str(refused.value) == (
        "You have 1 crawl that is not over, and may have 1. Wait until one is finished, or cancel one."
    )
    assert refused.value.retry_after == 60


def test_at_the_limit_of_pages_it_says_when_to_come_again() -> None:
    with pytest.raises(OverQuota, match=r"requested 1,200 pages today, and may request 1,000 a day") as refused:
        check_start(Quota(0, 1000), QuotaUse(0, 1200), NOON)
    assert refused.value.retry_after == 12 * 3600


@pytest.mark.parametrize(
    ("quota", "stored", "reached"),
    [
        (Quota(), StorageUse(10**9, 10**15), None),
        (Quota(stored_pages=100), StorageUse(99, 10**15), None),
        (Quota(stored_pages=1000), StorageUse(1200, 0), StorageExhausted(1200, 1000)),
        (Quota(stored_mb=2), StorageUse(10**9, 1_999_999), None),
        (Quota(stored_mb=2), StorageUse(0, 2_500_000), StorageExhausted(2, 2, of_content=True)),
    ],
)
def test_no_more_is_stored_at_a_limit(quota: Quota, stored: StorageUse, reached: StorageExhausted | None) -> None:
    assert storage_exhausted(quota, stored) == reached


@pytest.mark.parametrize(("limit", "pages", "left"), [(0, 10**9, None), (5, 3, 2), (5, 5, 0), (5, 9, 0)])
def test_pages_are_left_below_the_limit(limit: int, pages: int, left: int | None) -> None:
    assert pages_left(Quota(0, limit), QuotaUse(0, pages)) == left


@pytest.mark.parametrize(
    ("now", "midnight"),
    [
        (NOON, datetime(2026, 11, 22, tzinfo=UTC)),
        (datetime(2026, 11, 21, tzinfo=UTC), datetime(2026, 11, 22, tzinfo=UTC)),
        (datetime(2026, 12, 31, 23, 59, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)),
        (datetime(2026, 11, 22, 1, tzinfo=timezone(timedelta(hours=2))), datetime(2026, 11, 22, tzinfo=UTC)),
    ],
)
def test_a_day_is_one_of_utc(now: datetime, midnight: datetime) -> None:
    assert next_day(now) == midnight
