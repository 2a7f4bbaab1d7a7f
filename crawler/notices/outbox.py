"""The outbox: which deliveries are due, and what came of trying them. Each try is claimed by a conditional update.

Those that tell of pages are kept apart: there may be thousands of them, and nothing else is to wait for them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import F, QuerySet

from crawler import clock
from crawler.core.crawl.messages import PageResult
from crawler.core.crawl.notices import ENDS, Event, Means
from crawler.core.crawl.options import RECEIVERS, CrawlOptions
from crawler.core.crawl.outcomes import Kind
from crawler.core.errors import SealBroken
from crawler.encryption import opened_address
from crawler.models import Channel, Crawl, Delivery, Notice
from crawler.queueing import queues
from crawler.reports.receipt import receipt_of
from crawler.storage.writer import OnClosed

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


# Who is told of something that happens to a crawl: those it was started with, and the channels of its owner.


@dataclass(frozen=True, slots=True)
class Addressed:
    """One place a notice goes to."""

    means: Means
    stored: str  # the address as tables hold it
    channel: UUID | None = None  # of the account; None = the crawl was started with it


def receivers_of(crawl: Crawl, event: Event) -> list[Addressed]:
    """Each place once, whether the crawl names it, a channel does, or both."""
    found: dict[tuple[Means, str], Addressed] = {}
    for to in (*_of_options(crawl.chosen, event), *_of_account(crawl, event)):
        found.setdefault((to.means, _in_plain(to.stored)), to)
    return list(found.values())


def _of_options(options: CrawlOptions, event: Event) -> Iterator[Addressed]:
    if event not in options.notify_events:
        return
    for means, field in RECEIVERS.items():
        if event is Event.PAGE and means is not Means.WEBHOOK:
            continue  # a crawl has thousands; they are for programs
        yield from (Addressed(means, address) for address in getattr(options, field))


def _of_account(crawl: Crawl, event: Event) -> Iterator[Addressed]:
    """Pages are asked for crawl by crawl: nobody who adds a channel means a million of them."""
    if crawl.owner_id is None or event is Event.PAGE:
        return
    for channel in Channel.objects.filter(owner=crawl.owner_id, enabled=True).order_by("created_at"):
        if event in channel.events:
            yield Addressed(Means(channel.transport), channel.address, channel.id)


def _in_plain(stored: str) -> str:
    with suppress(SealBroken):  # then nobody knows whether it is another one; trying to send to it says so
        return opened_address(stored)
    return stored


# Writes what must be told of a crawl, in the transaction that makes it true; who is told is settled at that moment.

PAGES_A_NOTICE = 250  # a notice that tells of so many takes no more
GATHER_SECONDS = 1.0  # pages are gathered for so long before they are first told of


def tell(crawl: Crawl, event: Event) -> None:
    """The notice of something that has become true of a crawl, with a delivery for each who is to be told. Of its end
    there always is a notice; of other things only when somebody is told. The crawl's row is locked or new."""
    receivers = receivers_of(crawl, event)
    if not receivers and event not in ENDS:
        return
    crawl.refresh_from_db()
    earlier = Notice.objects.filter(crawl=crawl, round=crawl.round, event=event)
    number = earlier.count() if event is Event.PAUSED else 0  # a round is begun and ended once
    notice = Notice.objects.create(crawl=crawl, event=event, round=crawl.round, number=number)
    _address(notice, receivers)
    notice.receipt = receipt_of(crawl)
    notice.save(update_fields=["receipt"])


def tell_of_pages(crawl: Crawl, page_ids: Sequence[int]) -> None:
    """Tell that these pages have their outcome. Whatever closed them holds the crawl's row locked, so that only a
    sender can get in between: it closes the notice, and then pages go into the next one."""
    last = Notice.objects.filter(crawl=crawl, round=crawl.round, event=Event.PAGE).order_by("-number").first()
    if last is not None and last.gathering and len(last.pages) < PAGES_A_NOTICE:
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
    _address(notice, receivers_of(crawl, Event.PAGE), after=GATHER_SECONDS)


def send_out(crawl: Crawl) -> None:
    """Have delivered what was written. Should this never happen, whoever reconciles does it."""
    if Delivery.objects.filter(notice__crawl=crawl, state=Delivery.PENDING).exists():
        queues.send_notify()


def _address(notice: Notice, receivers: Sequence[Addressed], after: float = 0.0) -> None:
    due_at = clock.now() + timedelta(seconds=after)
    Delivery.objects.bulk_create(
        Delivery(notice=notice, channel_id=to.channel, transport=to.means.value, address=to.stored, due_at=due_at)
        for to in receivers
    )


# Has receivers told of pages as they close, where a crawl's options ask for it; nothing is done for the others.

ASKED = (Kind.FETCHED, Kind.FAILED)
"""What is told of is what was asked for: the receipt's "fetched" and "failed"."""


def teller_of(options: CrawlOptions, results: Iterable[PageResult]) -> OnClosed | None:
    """Tells of those of these results whose page they closed; None when nobody wants to know."""
    if Event.PAGE not in options.notify_events:
        return None
    asked = [result.id for result in results if result.outcome.kind in ASKED]

    def tell(crawl: Crawl, closed: Collection[int]) -> None:
        told = list(dict.fromkeys(page for page in asked if page in closed))
        if told:
            tell_of_pages(crawl, told)

    return tell


def teller_of_closed(options: CrawlOptions) -> OnClosed | None:
    """The same of pages that are closed without a result: their worker died each time, or they were put off."""
    if Event.PAGE not in options.notify_events:
        return None
    return lambda crawl, closed: tell_of_pages(crawl, list(closed))
