"""The outbox: notices, their deliveries, and the results of attempts. Each attempt is claimed by a conditional update.

Deliveries of page notices are separate: there may be thousands of them, and others must not wait for them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from uuid import UUID, uuid5

import msgspec
from django.db.models import Count, F, Min, QuerySet

from crawler import clock
from crawler.core.channels.catalogue import KINDS
from crawler.core.errors import SealBroken
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.options.events import ENDS, Event
from crawler.core.protocol.messages import PageResult
from crawler.encryption import opened_address
from crawler.models import Channel, Crawl, Delivery, Notice
from crawler.notices.subscribers import subscribers
from crawler.queueing import queues
from crawler.queueing.duties import DutyResult, Scan
from crawler.reports.receipt import receipt_of
from crawler.storage.writer import OnClosed

CLAIM_TTL_S = 15  # an attempt that is not renewed expires after this, and is repeated
DELIVERIES_PER_QUERY = 100
RETRY_DELAYS_S = (5, 30, 120, 600, 3600, 6 * 3600)  # after the last attempt the delivery fails


def pending() -> QuerySet[Delivery]:
    """Pending deliveries, except deliveries of page notices."""
    return Delivery.objects.filter(state=Delivery.PENDING).exclude(notice__event=Event.PAGE)


def pending_pages() -> QuerySet[Delivery]:
    """Pending deliveries of page notices."""
    return Delivery.objects.filter(state=Delivery.PENDING, notice__event=Event.PAGE)


def send_due(scan: Scan) -> DutyResult:
    """Send the notify job if a delivery is due; it is due again when that job counts as lost."""
    number, due = _next_due()
    now = clock.now()
    moments = [at.timestamp() for at in due if at > now]
    if len(moments) < len(due):
        queues.send_notify()
        moments.append(scan.now + queues.notify_wait())
    return DutyResult(moments, pending=number)


def _next_due() -> tuple[int, list[datetime]]:
    """How many deliveries are pending, and when the next one of each kind is due."""
    due = pending().aggregate(number=Count("id"), first=Min("due_at"))
    of_pages = pending_pages().aggregate(number=Count("id"), first=Min("due_at"))
    moments = [due["first"]] if due["number"] else []
    if of_pages["number"]:
        rested = clock.now() + timedelta(seconds=queues.page_notices_wait())
        moments.append(max(of_pages["first"], rested))
    return due["number"] + of_pages["number"], moments


def due(now: datetime) -> list[Delivery]:
    """Due deliveries, oldest first."""
    return list(
        pending().filter(due_at__lte=now).select_related("notice__crawl").order_by("due_at")[:DELIVERIES_PER_QUERY]
    )


def due_pages(now: datetime) -> list[Delivery]:
    """Due deliveries of page notices, in the order of the notices."""
    found = pending_pages().filter(due_at__lte=now).select_related("notice__crawl")
    return list(found.order_by("due_at", "notice__number")[:DELIVERIES_PER_QUERY])


def claim(delivery: Delivery, now: datetime) -> bool:
    """Begin an attempt; False if another process did. The due time moves on, so that a crash leads to a retry."""
    changed = Delivery.objects.filter(id=delivery.id, state=Delivery.PENDING, due_at=delivery.due_at).update(
        attempts=F("attempts") + 1, tried_at=now, due_at=now + timedelta(seconds=CLAIM_TTL_S)
    )
    return changed == 1


def renew(delivery_id: UUID, now: datetime) -> None:
    """The attempt goes on: other processes must not begin another one."""
    due_at = now + timedelta(seconds=CLAIM_TTL_S)
    Delivery.objects.filter(id=delivery_id, state=Delivery.PENDING).update(due_at=due_at)


def mark_delivered(delivery_id: UUID, now: datetime, answer: str) -> None:
    values = {"state": Delivery.DELIVERED, "delivered_at": now, "answer": answer, "error": ""}
    Delivery.objects.filter(id=delivery_id).update(**values)


def note_call(delivery_id: UUID, place: int, tries: int) -> None:
    """Note which part of a delivery is made next, and how often it was begun."""
    Delivery.objects.filter(id=delivery_id).update(place=place, tries=tries)


def put_back(delivery_id: UUID, now: datetime) -> None:
    """The attempt made a part of the delivery; the rest is due."""
    Delivery.objects.filter(id=delivery_id, state=Delivery.PENDING).update(due_at=now)


def mark_failed(delivery_id: UUID, now: datetime, error: str, *, permanent: bool) -> None:
    """Record the error, and retry later unless it is permanent or the last attempt."""
    delivery = Delivery.objects.select_related("notice").filter(id=delivery_id).first()
    if delivery is None:
        return  # its crawl was deleted meanwhile
    delivery.error = error
    if permanent or delivery.attempts > len(RETRY_DELAYS_S):
        delivery.state = Delivery.GIVEN_UP
    else:
        delivery.due_at = now + timedelta(seconds=RETRY_DELAYS_S[delivery.attempts - 1])
    values = {"error": error, "state": delivery.state, "due_at": delivery.due_at}
    Delivery.objects.filter(id=delivery_id).update(**values)
    if delivery.notice.event == Event.PAGE:
        _postpone_others(delivery)


def _postpone_others(failed: Delivery) -> None:
    """Other page notices of this crawl to the same receiver wait as long, and fail with this one: a receiver that is
    down is tried once per interval, not once per notice."""
    rest = pending_pages().filter(
        notice__crawl=failed.notice.crawl_id, transport=failed.transport, address=failed.address
    )
    if failed.state == Delivery.GIVEN_UP:
        rest.update(state=Delivery.GIVEN_UP, error=f"given up together with an earlier one: {failed.error}")
    else:
        rest.filter(due_at__lt=failed.due_at).update(due_at=failed.due_at)


class NoticeReceiver(msgspec.Struct, frozen=True):
    """One receiver of a notice: an address the crawl was started with, or a channel of its owner."""

    transport: str
    stored_address: str  # the address as tables hold it
    channel: UUID | None = None  # of the account; None = the crawl was started with it


def receivers_of(crawl: Crawl, event: Event) -> list[NoticeReceiver]:
    """Each receiver once, whether named by the crawl, a channel, or both; and what capabilities do then."""
    found: dict[tuple[str, str], NoticeReceiver] = {}
    for to in (*_crawl_receivers(crawl.chosen, event), *_account_receivers(crawl, event), *_subscribed(event)):
        found.setdefault((to.transport, _decrypted(to.stored_address)), to)
    return list(found.values())


def _crawl_receivers(options: CrawlOptions, event: Event) -> Iterator[NoticeReceiver]:
    if event not in options.notify_events:
        return
    for kind in KINDS:
        if kind.takes_pages or event is not Event.PAGE:
            yield from (NoticeReceiver(kind.name, address) for address in getattr(options, kind.option))


def _account_receivers(crawl: Crawl, event: Event) -> Iterator[NoticeReceiver]:
    """Channels get no page notices: those are enabled per crawl, because there may be a million of them."""
    if crawl.owner_id is None or event is Event.PAGE:
        return
    for channel in Channel.objects.filter(owner=crawl.owner_id, enabled=True).order_by("created_at"):
        if event in channel.events:
            yield NoticeReceiver(channel.transport, channel.address, channel.id)


def _subscribed(event: Event) -> Iterator[NoticeReceiver]:
    for subscriber in subscribers():
        yield from (NoticeReceiver(subscriber.transport, address) for address in subscriber.addresses(event))


def _decrypted(stored: str) -> str:
    with suppress(SealBroken):  # it cannot be compared with others; the delivery reports the error
        return opened_address(stored)
    return stored


# Notices are written in the transaction that makes them true; their receivers are fixed at that moment.

MAX_PAGES_PER_NOTICE = 250
GATHER_S = 1.0  # pages are gathered for this long before the first attempt


def add_notice(crawl: Crawl, event: Event) -> None:
    """Add the notice of an event, with a delivery for each receiver. The end of a crawl always has a notice, other
    events only if there are receivers. The crawl's row is locked or new.

    A round begins and ends once. If it does so once more because a backup was restored, the notice and its deliveries
    have the same ids again, so that receivers can drop the duplicate."""
    receivers = receivers_of(crawl, event)
    if not receivers and event not in ENDS:
        return
    crawl.refresh_from_db()
    notice = Notice(crawl=crawl, event=event, round=crawl.round)
    if event is Event.PAUSED:
        notice.number = Notice.objects.filter(crawl=crawl, round=crawl.round, event=event).count()
    else:
        notice.id = uuid5(crawl.id, f"{crawl.round} {crawl.round_began_at.isoformat()} {event}")
    notice.save(force_insert=True)
    _add_deliveries(notice, receivers)
    notice.receipt = receipt_of(crawl)
    notice.save(update_fields=["receipt"])


def add_page_notice(crawl: Crawl, page_ids: Sequence[int]) -> None:
    """Add these closed pages to a page notice. The caller holds the lock of the crawl's row, so only a sender can
    interfere: it stops the gathering of a notice, and then pages go into the next one."""
    last = Notice.objects.filter(crawl=crawl, round=crawl.round, event=Event.PAGE).order_by("-number").first()
    if last is not None and last.gathering and len(last.pages) < MAX_PAGES_PER_NOTICE:
        gathering = Notice.objects.filter(id=last.id, gathering=True)
        if gathering.update(pages=[*last.pages, *page_ids]) == 1:
            return
    notice = Notice.objects.create(
        crawl=crawl,
        event=Event.PAGE,
        round=crawl.round,
        number=last.number + 1 if last else 0,
        pages=list(page_ids),
        gathering=True,
    )
    _add_deliveries(notice, receivers_of(crawl, Event.PAGE), after=GATHER_S)


def request_delivery(crawl: Crawl) -> None:
    """Send the notify job if deliveries are pending. If that fails, `reconcile` does it."""
    if Delivery.objects.filter(notice__crawl=crawl, state=Delivery.PENDING).exists():
        queues.send_notify()


def _add_deliveries(notice: Notice, receivers: Sequence[NoticeReceiver], after: float = 0.0) -> None:
    due_at = clock.now() + timedelta(seconds=after)
    Delivery.objects.bulk_create(
        Delivery(
            id=uuid5(notice.id, f"{to.transport} {to.stored_address}"),
            notice=notice,
            channel_id=to.channel,
            transport=to.transport,
            address=to.stored_address,
            due_at=due_at,
        )
        for to in receivers
    )


# Page notices, for crawls whose options enable them, and for capabilities.


def _has_page_notices(options: CrawlOptions) -> bool:
    return Event.PAGE in options.notify_events or any(_subscribed(Event.PAGE))


def page_notifier(options: CrawlOptions, results: Iterable[PageResult]) -> OnClosed | None:
    """A callback that adds page notices for the closed pages among these results; None if the crawl has none."""
    if not _has_page_notices(options):
        return None
    requested = [result.id for result in results if result.outcome.category.is_requested]

    def notify(crawl: Crawl, closed: Collection[int]) -> None:
        pages = list(dict.fromkeys(page for page in requested if page in closed))
        if pages:
            add_page_notice(crawl, pages)

    return notify


def closed_page_notifier(options: CrawlOptions) -> OnClosed | None:
    """The same for pages that are closed without a result: their workers died, or they had a Retry-After."""
    if not _has_page_notices(options):
        return None
    return lambda crawl, closed: add_page_notice(crawl, list(closed))
