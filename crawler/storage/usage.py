"""Pages requested per user and day: one row, updated in the transaction that closes the pages."""

from __future__ import annotations

from datetime import UTC, date, datetime

from django.db import connection

from crawler.models import Usage

KEPT_DAYS = 400  # a year, and some days to compare with

_ADD = """
    INSERT INTO crawler_usage (user_id, day, pages) VALUES (%s, %s, %s)
    ON CONFLICT (user_id, day) DO UPDATE SET pages = crawler_usage.pages + excluded.pages
"""


def add(user: int, pages: int, now: float) -> None:
    """Add pages to a user's day, in the open transaction. `now` (epoch seconds) gives the day."""
    day = datetime.fromtimestamp(now, UTC).date()
    with connection.cursor() as cursor:
        cursor.execute(_ADD, [user, connection.ops.adapt_datefield_value(day), pages])


def delete_before(day: date) -> None:
    Usage.objects.filter(day__lt=day).delete()


def pages_on(user: int, day: date) -> int:
    found = Usage.objects.filter(user=user, day=day).values_list("pages", flat=True).first()
    return found or 0
