"""For how long a crawl that is over is kept."""

from __future__ import annotations

from datetime import datetime, timedelta

LONGEST = 36_500.0  # days; longer than anybody waits, and still a date


def deleted_on(finished_at: datetime | None, keep_days: float, *, is_kept: bool) -> datetime | None:
    """When a crawl's time is up; None = never, or not known because it is not over. 0 days are for ever."""
    if finished_at is None or not keep_days or is_kept:
        return None
    return finished_at + timedelta(days=min(keep_days, LONGEST))
