"""Sends a notice to somebody once more, because a person asked for it."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from crawler import audit, clock, queues
from crawler.engine.wake import keep_watch
from crawler.models import Crawl, Delivery

SENT = "It is being sent again."
HURRIED = "It had not arrived yet; it is tried now."


def resend(crawl: Crawl, delivery_id: UUID) -> str | None:
    """Make a new delivery of the same notice: the receiver can tell by the notice's id that it had it before. One that
    is still on its way is tried at once instead. What was done, for a person; None when there is no such delivery.

    Should Redis be away (RedisError), it is on its way all the same: whoever reconciles sends it.
    """
    with transaction.atomic():
        mine = Delivery.objects.select_for_update(of=("self",)).select_related("channel")
        delivery = mine.filter(id=delivery_id, notice__crawl=crawl).first()
        if delivery is None:
            return None
        done = SENT if _hurry(delivery) == 0 else HURRIED
        if done is SENT:
            _once_more(delivery)
        audit.note("notice.sent_again", crawl, after={"delivery": str(delivery_id), "transport": delivery.transport})
    queues.send_notify()
    keep_watch()
    return done


def _hurry(delivery: Delivery) -> int:
    """Have what is on its way to the same place tried now; how many that are."""
    pending = Delivery.objects.filter(
        notice=delivery.notice_id, transport=delivery.transport, channel=delivery.channel_id, state=Delivery.PENDING
    )
    if delivery.channel_id is None:
        pending = pending.filter(address=delivery.address)
    return pending.update(due_at=clock.now())


def _once_more(delivery: Delivery) -> None:
    """To where its channel leads now: a person may have mended the address since."""
    channel = delivery.channel
    Delivery.objects.create(
        notice_id=delivery.notice_id,
        channel=channel,
        transport=channel.transport if channel else delivery.transport,
        address=channel.address if channel else delivery.address,
        again=True,
    )
