"""For how long a crawl that is over is kept."""

from datetime import UTC, datetime, timedelta

import pytest

from crawler.core.options.schedule import deleted_on

OVER = datetime(2026, 1, 1, tzinfo=UTC)


def test_its_time_counts_from_its_end() -> None:
    assert deleted_on(OVER, 1.5, is_kept=False) == OVER + timedelta(hours=36)


@pytest.mark.parametrize(
    ("finished_at", "days", "is_kept"),
    [(None, 30, False), (OVER, 0, False), (OVER, 30, True)],
    ids=["not over", "kept for ever", "kept by somebody"],
)
def test_some_have_no_such_day(finished_at: datetime | None, days: float, is_kept: bool) -> None:
    assert deleted_on(finished_at, days, is_kept=is_kept) is None


def test_more_days_than_a_calendar_has_are_no_error() -> None:
    assert deleted_on(OVER, 1e12, is_kept=False) is not None
