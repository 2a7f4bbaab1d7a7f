"""Delivers the outbox at least once, with an id by which receivers recognise duplicates."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django.db import DatabaseError, connection, transaction
from redis.exceptions import RedisError
from rq.timeouts import BaseTimeoutException

from crawler import clock, conf, logs
from crawler.accounts import audit
from crawler.accounts.permissions import installation_hosts, private_hosts_of
from crawler.core.channels.kind import Message
from crawler.core.errors import SealBroken, TransportError
from crawler.core.options.events import Event
from crawler.core.protocol.completion import State
from crawler.core.text.controls import Surface
from crawler.crashpoints import crash_point
from crawler.encryption import opened_address
from crawler.exports.rows import page_rows
from crawler.frontier.leases import Heartbeat
from crawler.http.fetcher import Limits
from crawler.models import Crawl, Delivery, Notice
from crawler.notices import outbox
from crawler.notices.outbox import CLAIM_TTL_S
from crawler.notices.send import send
from crawler.notices.subscribers import subscribers
from crawler.notices.webhook_secrets import secrets_for
from crawler.queueing import queues
from crawler.queueing.wakeups import ensure_poller, update_rescue_job
from crawler.reports import text

UNREADABLE_ADDRESS = "its address cannot be read, because SECRET_KEY has changed since it was stored"


def deliver(delivery: Delivery, limits: Limits | None = None) -> str:
    """Send a notice; returns the receiver's answer in one line, or raises TransportError."""
    try:
        address = opened_address(delivery.address)
        own_secrets = secrets_for(delivery.transport, delivery.notice.crawl.owner_id, address)
    except SealBroken as error:
        raise TransportError(UNREADABLE_ADDRESS, permanent=False) from error
    return send(message_of(delivery), delivery.transport, address, allowed_hosts(delivery), limits, own_secrets)


def message_of(delivery: Delivery) -> Message:
    """The message of a delivery. A page notice has the current rows of its pages, without those that were reopened:
    they get another notice when they close."""
    notice = delivery.notice
    event, crawl = Event(notice.event), notice.crawl
    about = f"{conf.base_url()}/crawls/{crawl.id}/"
    sentence = text.sentence(crawl, event, notice.receipt)
    return Message(
        id=str(delivery.id),
        event=notice.event,
        crawl=str(crawl.id),
        receipt=notice.receipt,
        subject=f"Crawl {text.event_word(event)}: {crawl.site}",
        text=_text(sentence, notice.receipt, about),
        notice=str(notice.id),
        round=notice.round,
        number=notice.number,
        at=notice.created_at.isoformat(timespec="milliseconds"),
        pages=page_rows(crawl, notice.pages) if event is Event.PAGE else None,
        sentence=sentence,
        figures=text.figures(notice.receipt) if notice.receipt else (),
        link=about,
    )


def stop_gathering(notice: Notice) -> None:
    """Add no further pages to this notice: it is about to be sent."""
    if notice.gathering:
        mine = Notice.objects.filter(id=notice.id)
        mine.update(gathering=False)
        notice.pages = mine.values_list("pages", flat=True).first() or []  # none: its crawl was deleted meanwhile


def allowed_hosts(delivery: Delivery) -> tuple[str, ...]:
    """The private addresses that may be used. Those of a channel do not depend on the crawl."""
    if delivery.channel_id is None:
        return private_hosts_of(delivery.notice.crawl)
    return installation_hosts()


def _text(sentence: str, receipt: Mapping[str, Any], about: str) -> str:
    """The notice as text."""
    table = f"{text.receipt_table(receipt, Surface.PAGE)}\n" if receipt else ""
    return f"{sentence}\n\n{table}{about}\n"


log = logging.getLogger(__name__)

INTERNAL_ERROR = "an internal error; see the log"
PAGE_NOTICES_S = 1.0  # page notices are delivered for this long in one job
PAGE_NOTICES_PAUSE_FACTOR = 4  # then they pause for this many times as long, while a crawl runs
PAGE_NOTICE_LIMITS = Limits(connect_seconds=3.0, read_seconds=5.0, total_seconds=5.0)  # of one attempt


def deliver_due() -> str:
    """Attempt every due delivery; returns a summary line for the dashboard. A worker that is shutting down begins no
    further one, and leaves them to the idle poller."""
    queues.notify_begins()
    if _has_pending():
        ensure_poller()  # if this worker dies, another one retries
    came_of_it = Counter[str]()
    for delivery in outbox.due(clock.now()):
        if queues.is_stopping():
            break
        came_of_it[_attempt(delivery)] += 1
    came_of_it += _deliver_page_notices()
    if not _has_pending():
        update_rescue_job()
    return f"delivered {came_of_it['delivered']}, failed {came_of_it['failed']}"


def _deliver_page_notices() -> Counter[str]:
    """Attempt page notices: one worker at a time, and at most a fifth of its time while a crawl runs, so that a slow
    receiver does not slow down the crawl."""
    came_of_it = Counter[str]()
    due = outbox.due_pages(clock.now())
    if not due or not queues.begin_page_notices():
        return came_of_it
    began = time.monotonic()
    try:
        came_of_it.update(_deliver_for_a_while(due, began))
    finally:
        is_wanted = Crawl.objects.filter(state=State.RUNNING).exists()
        queues.end_page_notices(PAGE_NOTICES_PAUSE_FACTOR * (time.monotonic() - began) if is_wanted else 0.0)
    return came_of_it


def _deliver_for_a_while(due: Sequence[Delivery], began: float) -> list[str]:
    """A failure postpones the others to the same receiver, which then cannot be claimed."""
    done = list[str]()
    for delivery in due:
        if queues.is_stopping():
            break
        done.append(_attempt(delivery, PAGE_NOTICE_LIMITS))
        if time.monotonic() - began >= PAGE_NOTICES_S:
            break
    return done


def _attempt(delivery: Delivery, limits: Limits | None = None) -> str:
    """Attempt one delivery: "delivered", "failed", or "" if another process does, or it was postponed or deleted."""
    if not outbox.claim(delivery, clock.now()):
        return ""
    stop_gathering(delivery.notice)
    crash_point("notify: claimed")
    try:
        with Heartbeat(partial(_renew, delivery), every=CLAIM_TTL_S / 4):
            answer = _deliver(delivery, limits)
    except TransportError as error:
        outbox.mark_failed(delivery.id, clock.now(), str(error), permanent=error.permanent)
        return "failed"
    except (DatabaseError, RedisError, BaseTimeoutException):
        raise  # the result cannot be stored, or RQ ends this job: the claim expires
    except Exception:  # isolate failures between deliveries
        log.exception("delivery %s could not be made", delivery.id, extra=logs.of(delivery.notice.crawl_id))
        outbox.mark_failed(delivery.id, clock.now(), INTERNAL_ERROR, permanent=False)
        return "failed"
    crash_point("notify: sent")
    if answer is None:
        outbox.put_back(delivery.id, clock.now())
        return ""
    outbox.mark_delivered(delivery.id, clock.now(), answer)
    return "delivered"


def _deliver(delivery: Delivery, limits: Limits | None) -> str | None:
    """What the receiver answered, in one line; None if a part of the delivery is left."""
    deliverers = {subscriber.transport: subscriber.deliver for subscriber in subscribers()}
    own = deliverers.get(delivery.transport)
    return deliver(delivery, limits) if own is None else own(delivery)


def _has_pending() -> bool:
    return Delivery.objects.filter(state=Delivery.PENDING).exists()


def _renew(delivery: Delivery) -> bool:
    """Renew the claim on an attempt; called in a separate thread, whose database connection is closed."""
    try:
        outbox.renew(delivery.id, clock.now())
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


SENT_AGAIN = "It is being sent again."
TRIED_NOW = "It had not arrived yet; it is being sent now."


def resend(crawl: Crawl, delivery_id: UUID) -> str | None:
    """Add a new delivery of the same notice: the receiver recognises it by the notice's id. A pending one is attempted
    at once instead. Returns a message for the user; None if there is no such delivery.

    If Redis is down (RedisError), the delivery is stored all the same: `reconcile` sends it.
    """
    with transaction.atomic():
        mine = Delivery.objects.select_for_update(of=("self",)).select_related("channel")
        delivery = mine.filter(id=delivery_id, notice__crawl=crawl).first()
        if delivery is None:
            return None
        done = SENT_AGAIN if _make_due(delivery) == 0 else TRIED_NOW
        if done is SENT_AGAIN:
            _deliver_again(delivery)
        audit.note("notice.sent_again", crawl, after={"delivery": str(delivery_id), "transport": delivery.transport})
    queues.send_notify()
    ensure_poller()
    return done


def _make_due(delivery: Delivery) -> int:
    """Make pending deliveries to the same receiver due now; returns how many."""
    pending = Delivery.objects.filter(
        notice=delivery.notice_id, transport=delivery.transport, channel=delivery.channel_id, state=Delivery.PENDING
    )
    if delivery.channel_id is None:
        pending = pending.filter(address=delivery.address)
    return pending.update(due_at=clock.now())


def _deliver_again(delivery: Delivery) -> None:
    """To the channel's current address: the user may have corrected it since."""
    channel = delivery.channel
    Delivery.objects.create(
        notice_id=delivery.notice_id,
        channel=channel,
        transport=channel.transport if channel else delivery.transport,
        address=channel.address if channel else delivery.address,
        again=True,
    )
