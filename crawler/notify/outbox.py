"""The outbox: which deliveries are due, and what came of trying them. Each try is claimed by a conditional update.

Those that tell of pages are kept apart: there may be thousands of them, and nothing else is to wait for them.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import F, QuerySet

from crawler.core.events import Event
from crawler.models import Delivery

TRY_SECONDS = 15  # a try that was not renewed for so long belongs to a process that died: try again
AT_ONCE = 100  # deliveries looked up at a time
BACK_OFF = (5, 30, 120, 600, 3600, 6 * 3600)  # seconds before the second, third, ... try; after the last we give up


def pending() -> QuerySet[Delivery]:
    """Deliveries that are still to be made, those of pages aside."""
    return Delivery.objects.filter(state=Delivery.PENDING).exclude(notice__event=Event.PAGE)


def pending_pages() -> QuerySet[Delivery]:
    """Those that tell of pages."""
    return Delivery.objects.filter(state=Delivery.PENDING, notice__event=Event.PAGE)


def due(now: datetime) -> list[Delivery]:
    """Deliveries whose time has come, oldest first."""
    return list(pending().filter(due_at__lte=now).select_related("notice__crawl").order_by("due_at")[:AT_ONCE])


def due_pages(now: datetime) -> list[Delivery]:
    """The same of those that tell of pages, in the order in which they came about."""
    found = pending_pages().filter(due_at__lte=now).select_related("notice__crawl")
    return list(found.order_by("due_at", "notice__number")[:AT_ONCE])


def claim(delivery: Delivery, now: datetime) -> bool:
    """Begin a try; False when another process did. Its due time moves on, so that a crash leads to another try."""
    changed = Delivery.objects.filter(id=delivery.id, state=Delivery.PENDING, due_at=delivery.due_at).update(
        attempts=F("attempts") + 1, tried_at=now, due_at=now + timedelta(seconds=TRY_SECONDS)
    )
    return changed == 1


def renew(delivery_id: UUID, now: datetime) -> None:
    """The try goes on: nobody else is to begin another one."""
    due_at = now + timedelta(seconds=TRY_SECONDS)
    Delivery.objects.filter(id=delivery_id, state=Delivery.PENDING).update(due_at=due_at)


def delivered(delivery_id: UUID, now: datetime, answer: str) -> None:
    told = {"state": Delivery.DELIVERED, "delivered_at": now, "answer": answer, "error": ""}
    Delivery.objects.filter(id=delivery_id).update(**told)


def failed(delivery_id: UUID, now: datetime, error: str, *, permanent: bool) -> None:
    """Note why, and try again later, unless that is pointless or was done often enough."""
    delivery = Delivery.objects.select_related("notice").filter(id=delivery_id).first()
    if delivery is None:
        return  # its crawl was deleted meanwhile
    delivery.error = error
    if permanent or delivery.attempts > len(BACK_OFF):
        delivery.state = Delivery.GIVEN_UP
    else:
        delivery.due_at = now + timedelta(seconds=BACK_OFF[delivery.attempts - 1])
    told = {"error": error, "state": delivery.state, "due_at": delivery.due_at}
    Delivery.objects.filter(id=delivery_id).update(**told)
    if delivery.notice.event == Event.PAGE:
        _hold_back_the_rest(delivery)


def _hold_back_the_rest(failed: Delivery) -> None:
    """What else is to tell this receiver of pages of this crawl waits as long, and is given up with it: a receiver that
    is away is tried once in a while, not once for every notice."""
    rest = pending_pages().filter(
        notice__crawl=failed.notice.crawl_id, transport=failed.transport, address=failed.address
    )
    if failed.state == Delivery.GIVEN_UP:
        rest.update(state=Delivery.GIVEN_UP, error=f"given up with an earlier one: {failed.error}")
    else:
        rest.filter(due_at__lt=failed.due_at).update(due_at=failed.due_at)
