"""The numbers on a crawl's page that stand in lists: statuses, reasons, notices, and the receipt that adds up."""

from __future__ import annotations

from typing import Any

from django.db.models import Count

from crawler.core.crawl.completion import Ended
from crawler.core.crawl.notices import Event, Means
from crawler.models import Crawl, Delivery
from crawler.notices.outbox import receivers_of
from crawler.reports import text
from crawler.reports.receipt import address_shown, error_shown, stored_shown
from crawler.reports.text import event_word
from crawler.web.tables.rows import Row

NOTICES = 50  # deliveries on the crawl's page; its log has all of them
DELIVERIES = {Delivery.PENDING: "on its way", Delivery.DELIVERED: "delivered", Delivery.GIVEN_UP: "given up"}
DELIVERY_TONES = {Delivery.PENDING: "calm", Delivery.DELIVERED: "good", Delivery.GIVEN_UP: "bad"}


def status_rows(statuses: dict[str, int]) -> list[Row]:
    tones = {"2": "good", "3": "calm", "4": "warn", "5": "bad"}
    return [
        {"name": code, "number": text.count(number), "tone": tones.get(code[0], "calm")}
        for code, number in sorted(statuses.items())
    ]


def skipped_rows(skipped: dict[str, int]) -> list[Row]:
    return [
        {"name": text.outcome(reason), "number": text.count(number), "tone": "calm"}
        for reason, number in skipped.items()
    ]


def notice_rows(crawl: Crawl, *, in_full: bool) -> list[Row]:
    """Who was told of what, and how that went; while the crawl is not over, who will be told of its end. Addresses are
    masked unless they are to be shown in full."""
    deliveries = Delivery.objects.filter(notice__crawl=crawl).exclude(notice__event=Event.PAGE)
    ordered = deliveries.select_related("notice").defer("notice__receipt")
    told = [
        _delivery_row(delivery, in_full=in_full)
        for delivery in ordered.order_by("notice__created_at", "transport", "created_at")[:NOTICES]
    ]
    told += _page_rows(crawl)
    return told if crawl.is_over else [*told, *_planned(crawl, in_full=in_full)]


def _delivery_row(delivery: Delivery, *, in_full: bool) -> Row:
    tries = f" (try {delivery.attempts})" if delivery.attempts > 1 else ""
    return {
        "event": event_word(delivery.notice.event),
        "transport": delivery.transport,
        "address": address_shown(delivery, in_full=in_full),
        "state": DELIVERIES[delivery.state] + tries,
        "error": "" if delivery.state == Delivery.DELIVERED else error_shown(delivery, in_full=in_full),
        "tone": DELIVERY_TONES[delivery.state],
    }


def _page_rows(crawl: Crawl) -> list[Row]:
    """Of the deliveries that tell of pages only how many there are: they may be thousands."""
    if Event.PAGE not in crawl.chosen.notify_events:
        return []
    of_pages = Delivery.objects.filter(notice__crawl=crawl, notice__event=Event.PAGE)
    numbers = dict(of_pages.order_by().values_list("state").annotate(Count("id")))
    return [
        {
            "event": event_word(Event.PAGE),
            "transport": Means.WEBHOOK.value,
            "address": text.counted(numbers[state], "notice"),
            "state": DELIVERIES[state],
            "error": "",
            "tone": DELIVERY_TONES[state],
        }
        for state in DELIVERIES
        if numbers.get(state)
    ]


def _planned(crawl: Crawl, *, in_full: bool) -> list[Row]:
    return [
        {
            "event": event_word(Event.FINISHED),
            "transport": to.means.value,
            "address": stored_shown(to.means, to.stored_address, in_full=in_full),
            "state": "when it is finished",
            "error": "",
            "tone": "calm",
        }
        for to in receivers_of(crawl, Event.FINISHED)
    ]


def receipt_rows(receipt: dict[str, Any]) -> list[Row]:
    """The receipt of a crawl that is over as a table that adds up: the heaps, and discovered, their sum."""
    heaps = [("fetched", receipt["fetched"]), ("failed", receipt["failed"])]
    skipped = [(f"skipped: {text.outcome(reason)}", number) for reason, number in receipt["skipped"].items()]
    heaps += skipped or [("skipped", 0)]
    heaps += [("cancelled", receipt["cancelled"])]
    return [
        *({"name": name, "number": text.count(number), "tone": "part"} for name, number in heaps),
        {"name": "discovered", "number": text.count(receipt["discovered"]), "tone": "sum"},
        {"name": "requests", "number": text.count(receipt["requests"]), "tone": "more"},
        {"name": "retries", "number": text.count(receipt["retries"]), "tone": "more"},
        {"name": "bytes read", "number": text.size(receipt["bytes"]), "tone": "more"},
        *_times(receipt),
        {"name": "ended", "number": text.ENDED[Ended(receipt["ended"])], "tone": "more"},
    ]


def _times(receipt: dict[str, Any]) -> list[Row]:
    """How long it ran; where its pauses were longer than nothing, also from its start to its end."""
    ran, elapsed = text.duration(receipt["seconds"]), text.duration(receipt["elapsed_seconds"])
    rows = [{"name": "time it ran", "number": ran, "tone": "more"}]
    if elapsed == ran:
        return [{**rows[0], "name": "time"}]
    return [*rows, {"name": "time with pauses", "number": elapsed, "tone": "more"}]
