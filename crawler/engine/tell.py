"""Writes what must be told of a crawl, in the transaction that makes it true; who is told is settled at that moment."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from crawler import clock, queues
from crawler.core.events import ENDS, Event
from crawler.engine.receivers import Addressed, receivers_of
from crawler.models import Crawl, Delivery, Notice
from crawler.reports.receipt import receipt_of

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
