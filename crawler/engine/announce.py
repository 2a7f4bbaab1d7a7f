"""Delivers what is in the outbox, each delivery at least once, with an id the receiver can tell a second copy by."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

from django.db import DatabaseError, connection
from django.utils import timezone

from crawler import conf, logs, queues
from crawler.crashpoints import crash_point
from crawler.engine.heartbeat import Heartbeat
from crawler.engine.wake import keep_or_cut_lifeline, keep_watch
from crawler.fetching.guard import Guard
from crawler.fetching.http import HttpFetcher
from crawler.models import Delivery
from crawler.notify import email, outbox, webhook
from crawler.notify.outbox import TRY_SECONDS
from crawler.notify.transport import Message, TransportError
from crawler.reports import words

log = logging.getLogger(__name__)


def announce() -> str:
    """Try every delivery that is due; one line saying what came of it, for the dashboard."""
    queues.notify_begins()
    if _is_anything_pending():
        keep_watch()  # should this worker die, somebody tries again
    sent = failed = 0
    for delivery in outbox.due(timezone.now()):
        if not outbox.claim(delivery, timezone.now()):
            continue  # another process is at it
        crash_point("notify: claimed")
        try:
            with Heartbeat(partial(_renew, delivery), every=TRY_SECONDS / 4):
                _send(delivery)
        except TransportError as error:
            outbox.failed(delivery.id, timezone.now(), str(error), permanent=error.permanent)
            failed += 1
        else:
            crash_point("notify: sent")
            outbox.delivered(delivery.id, timezone.now())
            sent += 1
    if not _is_anything_pending():
        keep_or_cut_lifeline()
    return f"delivered {sent}, failed {failed}"


def _is_anything_pending() -> bool:
    return Delivery.objects.filter(state=Delivery.PENDING).exists()


def _renew(delivery: Delivery) -> bool:
    """Keep the claim on a try; called from a thread of its own, whose database connection ends with it."""
    try:
        outbox.renew(delivery.id, timezone.now())
    except DatabaseError as error:
        log.warning(
            "the claim on delivery %s could not be renewed: %s",
            delivery.id,
            error,
            extra=logs.of(delivery.notice.crawl_id),
        )
    finally:
        connection.close()
    return True


def _send(delivery: Delivery) -> None:
    notice = delivery.notice
    message = Message(
        id=str(delivery.id),
        event=notice.event,
        crawl=str(notice.crawl_id),
        receipt=notice.receipt,
        subject=f"Crawl {notice.receipt['state']}: {notice.crawl.site}",
        text=_text(notice.receipt),
    )
    match delivery.transport:
        case "email":
            email.send(message, delivery.address)
        case "webhook":
            with HttpFetcher(Guard(notice.crawl.chosen.private_hosts), conf.user_agent()) as poster:
                webhook.send(message, delivery.address, secret=conf.webhook_secret(), poster=poster)
        case unknown:
            raise TransportError(f"there is no way to send by {unknown!r}", permanent=True)


def _text(receipt: dict[str, Any]) -> str:
    """The notice for people."""
    address = f"{conf.base_url()}/crawls/{receipt['id']}/"
    return f"The crawl is {receipt['state']}.\n\n{words.receipt_table(receipt)}\n{address}\n"
