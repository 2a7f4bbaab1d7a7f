"""The numbers on a crawl's page that stand in lists: statuses, reasons, notices, and the receipt that adds up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crawler.models import Crawl, Delivery
from crawler.reports import words
from crawler.web.rows import Row

DELIVERIES = {Delivery.PENDING: "on its way", Delivery.DELIVERED: "delivered", Delivery.GIVEN_UP: "given up"}
DELIVERY_TONES = {Delivery.PENDING: "calm", Delivery.DELIVERED: "good", Delivery.GIVEN_UP: "bad"}


def status_rows(statuses: dict[str, int]) -> list[Row]:
    tones = {"2": "good", "3": "calm", "4": "warn", "5": "bad"}
    return [
        {"name": code, "number": words.count(number), "tone": tones.get(code[0], "calm")}
        for code, number in sorted(statuses.items())
    ]


def skipped_rows(skipped: dict[str, int]) -> list[Row]:
    return [
        {"name": words.outcome(reason), "number": words.count(number), "tone": "calm"}
        for reason, number in skipped.items()
    ]


def notice_rows(crawl: Crawl) -> list[Row]:
    """Whom the end was told, and how that went; while the crawl is not over, whom it will be told."""
    deliveries = Delivery.objects.filter(notice__crawl=crawl).order_by("notice__round", "transport", "address")
    told = [_delivery_row(delivery) for delivery in deliveries]
    if crawl.is_over:
        return told
    chosen = crawl.chosen
    return [*told, *_planned("email", chosen.notify_emails), *_planned("webhook", chosen.notify_webhooks)]


def _delivery_row(delivery: Delivery) -> Row:
    tries = f" (try {delivery.attempts})" if delivery.attempts > 1 else ""
    return {
        "transport": delivery.transport,
        "address": delivery.address,
        "state": DELIVERIES[delivery.state] + tries,
        "error": "" if delivery.state == Delivery.DELIVERED else delivery.error,
        "tone": DELIVERY_TONES[delivery.state],
    }


def _planned(transport: str, addresses: Sequence[str]) -> list[Row]:
    return [
        {"transport": transport, "address": address, "state": "when it is finished", "error": "", "tone": "calm"}
        for address in addresses
    ]


def receipt_rows(receipt: dict[str, Any]) -> list[Row]:
    """The receipt as a table that adds up: discovered, and below it the heaps it is the sum of."""
    heaps = [("fetched", receipt["fetched"]), ("failed", receipt["failed"])]
    skipped = [(f"skipped: {words.outcome(reason)}", number) for reason, number in receipt["skipped"].items()]
    heaps += skipped or [("skipped", 0)]
    heaps += [("cancelled", receipt["cancelled"])]
    return [
        *({"name": name, "number": words.count(number), "tone": "part"} for name, number in heaps),
        {"name": "discovered", "number": words.count(receipt["discovered"]), "tone": "sum"},
        {"name": "requests", "number": words.count(receipt["requests"]), "tone": "more"},
        {"name": "retries", "number": words.count(receipt["retries"]), "tone": "more"},
        {"name": "bytes read", "number": words.size(receipt["bytes"]), "tone": "more"},
        {"name": "time", "number": words.duration(receipt["seconds"]), "tone": "more"},
    ]
