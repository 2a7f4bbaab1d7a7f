"""Delivers what is in the outbox, each delivery at least once, with an id the receiver can tell a second copy by."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any
from uuid import UUID

from django.db import DatabaseError, connection, transaction
from redis.exceptions import RedisError
from rq.timeouts import BaseTimeoutException

from crawler import clock, conf, logs
from crawler.accounts import audit
from crawler.core.crawl.completion import State
from crawler.core.crawl.notices import Event, Means
from crawler.core.errors import SealBroken
from crawler.core.urls.addresses import is_public, parse_private_hosts
from crawler.core.urls.normalise import host_and_port
from crawler.crashpoints import crash_point
from crawler.encryption import opened_address
from crawler.exports.rows import page_rows
from crawler.frontier.heartbeat import Heartbeat
from crawler.http.client import HttpFetcher
from crawler.http.connector import Gateway
from crawler.http.errors import FetchTrouble
from crawler.http.factory import gateway_of
from crawler.http.fetcher import Limits
from crawler.http.guard import Guard
from crawler.http.guards import guard_of
from crawler.models import Crawl, Delivery, Notice
from crawler.notices import outbox
from crawler.notices.channels import discord, email, slack, webhook
from crawler.notices.channels.transport import Message, TransportError
from crawler.notices.outbox import TRY_SECONDS
from crawler.queueing import queues
from crawler.queueing.wakeups import ensure_poller, update_rescue_job
from crawler.reports import text

# One try of one delivery: what is sent, by which transport, and which addresses may be asked for it.

SEAL_BROKEN = "its address cannot be read, because SECRET_KEY is not the one it was stored under"


def deliver(delivery: Delivery, limits: Limits | None = None) -> str:
    """What the receiver said when it took the notice, in a line; TransportError when it did not."""
    try:
        address = opened_address(delivery.address)
    except SealBroken as error:
        raise TransportError(SEAL_BROKEN, permanent=False) from error
    return send(message_of(delivery), delivery.transport, address, allowed_hosts(delivery), limits)


def send(
    message: Message, transport: str, address: str, private_hosts: Sequence[str], limits: Limits | None = None
) -> str:
    """Hand a message to a transport."""
    match transport:
        case Means.EMAIL:
            return email.send(message, address)
        case Means.WEBHOOK:
            with _poster(address, private_hosts, limits) as poster:
                return webhook.send(message, address, secret=conf.webhook_secret(), poster=poster)
        case Means.SLACK:
            with _poster(address, private_hosts, limits) as poster:
                return slack.send(message, address, poster=poster)
        case Means.DISCORD:
            with _poster(address, private_hosts, limits) as poster:
                return discord.send(message, address, poster=poster)
        case unknown:
            raise TransportError(f"there is no way to send by {unknown!r}", permanent=True)


def message_of(delivery: Delivery) -> Message:
    """What a delivery says. A notice of pages tells what the table holds of them now, without those that were opened
    again: they are told of when they close."""
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


def close(notice: Notice) -> None:
    """No further pages go into this notice from now on: somebody is about to be sent it."""
    if notice.gathering:
        mine = Notice.objects.filter(id=notice.id)
        mine.update(gathering=False)
        notice.pages = mine.values_list("pages", flat=True).first() or []  # none: its crawl was deleted meanwhile


def allowed_hosts(delivery: Delivery) -> tuple[str, ...]:
    """Which addresses that are not public may be asked. What a channel may ask is no matter of the crawl."""
    if delivery.channel_id is None:
        return delivery.notice.crawl.chosen.private_hosts
    return hosts_of_channels()


def hosts_of_channels() -> tuple[str, ...]:
    return parse_private_hosts(conf.private_hosts())


def _poster(address: str, private_hosts: Sequence[str], limits: Limits | None) -> AbstractContextManager[HttpFetcher]:
    guard = guard_of(private_hosts)
    return HttpFetcher(guard, conf.user_agent(), limits, gateway=_way_to(address, guard))


def _way_to(address: str, guard: Guard) -> Gateway | None:
    """Through the operator's proxy, except to a receiver in this network: a proxy need not know it, or takes it for
    another. Only the way is chosen here; the guard judges the address once more where it is connected to."""
    gateway = gateway_of(None, guard)
    if gateway is None:
        return None
    try:
        endpoints = guard.resolve(*host_and_port(address))
    except (FetchTrouble, ValueError):
        return gateway  # it will be said what is wrong when it is asked
    return gateway if all(is_public(str(endpoint.sockaddr[0])) for endpoint in endpoints) else None


def _text(sentence: str, receipt: Mapping[str, Any], about: str) -> str:
    """The notice for people."""
    table = f"{text.receipt_table(receipt)}\n" if receipt else ""
    return f"{sentence}\n\n{table}{about}\n"


log = logging.getLogger(__name__)

FAULT = "a fault of the crawler; its log says more"
PAGES_SECONDS = 1.0  # receivers are told of pages for so long in one go
PAGES_SHARE = 4  # then it is left for so many times as long, while a crawl wants the workers
PAGES_LIMITS = Limits(connect_seconds=3.0, read_seconds=5.0, total_seconds=5.0)  # what one receiver may hold them up


def announce() -> str:
    """Try every delivery that is due; one line saying what came of it, for the dashboard. A worker that was asked to
    end begins no other, and leaves them to the watch."""
    queues.notify_begins()
    if _is_anything_pending():
        ensure_poller()  # should this worker die, somebody tries again
    came_of_it = Counter[str]()
    for delivery in outbox.due(clock.now()):
        if queues.is_stopping():
            break
        came_of_it[_try(delivery)] += 1
    came_of_it += _tell_of_pages()
    if not _is_anything_pending():
        update_rescue_job()
    return f"delivered {came_of_it['delivered']}, failed {came_of_it['failed']}"


def _tell_of_pages() -> Counter[str]:
    """Try those that tell of pages: one worker at a time, and a fifth of its time at most while a crawl runs, so that
    no receiver, however slow, holds up what it is told of."""
    came_of_it = Counter[str]()
    due = outbox.due_pages(clock.now())
    if not due or not queues.begin_page_notices():
        return came_of_it
    began = time.monotonic()
    try:
        came_of_it.update(_try_for_a_while(due, began))
    finally:
        is_wanted = Crawl.objects.filter(state=State.RUNNING).exists()
        queues.end_page_notices(PAGES_SHARE * (time.monotonic() - began) if is_wanted else 0.0)
    return came_of_it


def _try_for_a_while(due: Sequence[Delivery], began: float) -> list[str]:
    """One that fails puts off the others to the same receiver, which then cannot be claimed."""
    done = list[str]()
    for delivery in due:
        if queues.is_stopping():
            break
        done.append(_try(delivery, PAGES_LIMITS))
        if time.monotonic() - began >= PAGES_SECONDS:
            break
    return done


def _try(delivery: Delivery, limits: Limits | None = None) -> str:
    """Try one delivery: "delivered", "failed", or "" when another process is at it, or it was put off or deleted."""
    if not outbox.claim(delivery, clock.now()):
        return ""
    close(delivery.notice)
    crash_point("notify: claimed")
    try:
        with Heartbeat(partial(_renew, delivery), every=TRY_SECONDS / 4):
            answer = deliver(delivery, limits)
    except TransportError as error:
        outbox.failed(delivery.id, clock.now(), str(error), permanent=error.permanent)
        return "failed"
    except (DatabaseError, RedisError, BaseTimeoutException):
        raise  # nothing could be noted, or RQ ends this job: the claim runs out
    except Exception:  # a fault of ours must not keep the others behind it from being told
        log.exception("delivery %s could not be made", delivery.id, extra=logs.of(delivery.notice.crawl_id))
        outbox.failed(delivery.id, clock.now(), FAULT, permanent=False)
        return "failed"
    crash_point("notify: sent")
    outbox.delivered(delivery.id, clock.now(), answer)
    return "delivered"


def _is_anything_pending() -> bool:
    return Delivery.objects.filter(state=Delivery.PENDING).exists()


def _renew(delivery: Delivery) -> bool:
    """Keep the claim on a try; called from a thread of its own, whose database connection ends with it."""
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


# Sends a notice to somebody once more, because a person asked for it.

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
    ensure_poller()
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
