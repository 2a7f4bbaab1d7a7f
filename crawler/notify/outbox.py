"""The outbox: which deliveries are due, and what came of trying them. Each try is claimed by a conditional update."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import F

from crawler.models import Delivery

TRY_SECONDS = 15  # a try that was not renewed for so long belongs to a process that died: try again
BACK_OFF = (5, 30, 120, 600, 3600, 6 * 3600)  # seconds before the second, third, ... try; after the last we give up


def due(now: datetime) -> list[Delivery]:
    """Deliveries whose time has come, oldest first."""
    pending = Delivery.objects.filter(state=Delivery.PENDING, due_at__lte=now)
    return list(pending.select_related("notice__crawl").order_by("due_at")[:100])


def claim(delivery: Delivery, now: datetime) -> bool:
    """Begin a try; False when another process did. Its due time moves on, so that a crash leads to another try."""
    changed = Delivery.objects.filter(id=delivery.id, state=Delivery.PENDING, due_at=delivery.due_at).update(
        attempts=F("attempts") + 1, due_at=now + timedelta(seconds=TRY_SECONDS)
    )
    return changed == 1


def renew(delivery_id: UUID, now: datetime) -> None:
    """The try goes on: nobody else is to begin another one."""
    due_at = now + timedelta(seconds=TRY_SECONDS)
    Delivery.objects.filter(id=delivery_id, state=Delivery.PENDING).update(due_at=due_at)


def delivered(delivery_id: UUID, now: datetime) -> None:
    Delivery.objects.filter(id=delivery_id).update(state=Delivery.DELIVERED, delivered_at=now, error="")


def failed(delivery_id: UUID, now: datetime, error: str, *, permanent: bool) -> None:
    """Note why, and try again later, unless that is pointless or was done often enough."""
    delivery = Delivery.objects.get(id=delivery_id)
    delivery.error = error
    if permanent or delivery.attempts > len(BACK_OFF):
        delivery.state = Delivery.GIVEN_UP
    else:
        delivery.due_at = now + timedelta(seconds=BACK_OFF[delivery.attempts - 1])
    delivery.save(update_fields=["error", "state", "due_at"])
