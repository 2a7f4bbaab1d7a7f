"""Why a paused crawl is paused."""

from datetime import UTC, datetime, timedelta

import pytest

from crawler.core.installation.backpressure import Shortage
from crawler.core.protocol.holds import HoldReason, hold_reason

NOW = datetime(2026, 11, 21, 10, 0, 0, tzinfo=UTC)
SECONDS, MIDNIGHT = NOW + timedelta(seconds=3), datetime(2026, 11, 22, tzinfo=UTC)


@pytest.mark.parametrize(
    ("held_until", "shortage", "has_credentials", "reason"),
    [
        (None, None, True, HoldReason.USER),
        (None, Shortage.REDIS_FULL, True, HoldReason.USER),
        (None, None, False, HoldReason.CREDENTIALS),
        (SECONDS, Shortage.REDIS_FULL, False, HoldReason.CREDENTIALS),
        (SECONDS, Shortage.DATABASE_FULL, True, HoldReason.CAPACITY),
        (SECONDS, None, True, HoldReason.CAPACITY),  # it has ended, or Redis does not respond
        (MIDNIGHT, None, True, HoldReason.DAILY_QUOTA),
        (NOW + timedelta(hours=2), None, True, HoldReason.DAILY_QUOTA),
        (MIDNIGHT, Shortage.REDIS_FULL, True, HoldReason.CAPACITY),
    ],
)
def test_the_reason(
    held_until: datetime | None, shortage: Shortage | None, has_credentials: bool, reason: HoldReason
) -> None:
    assert hold_reason(held_until, shortage, NOW.timestamp(), has_credentials=has_credentials) is reason
