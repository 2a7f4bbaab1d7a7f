"""The receipt of a crawl, for the web page, the command line and the notice."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from crawler import clock, conf
from crawler.core.channels.catalogue import is_encrypted, masked, shown
from crawler.core.errors import SealBroken
from crawler.core.options import schedule
from crawler.core.options.events import ENDS
from crawler.core.options.queue import EARLY
from crawler.core.pages.outcomes import Category, Outcome
from crawler.core.protocol.completion import EndReason, State, ended
from crawler.core.protocol.counters import adds_up
from crawler.core.protocol.progress import ran_seconds
from crawler.encryption import opened_address
from crawler.models import Channel, Crawl, Delivery, Notice
from crawler.reports.end_text import end_text
from crawler.reports.hints import hints_of
from crawler.reports.host_load import slowed_hosts
from crawler.reports.receipt_parts import values_of

LIST = ("lines", "taken", "invalid", "duplicates")
"""The part of a list in the receipt; receipts of other crawls have no "list"."""


def receipt_of(crawl: Crawl) -> dict[str, Any]:
    """The receipt as plain JSON values; docs/api.md lists the keys ("The receipt").

    Times are ISO 8601 in UTC. `seconds` is the time it ran, `elapsed_seconds` the time from start to end (or now) with
    its pauses and the time before its dead letters were retried. While pages are open, `discovered` exceeds the sum of
    the others by their number.
    """
    tallies, until, why = crawl.tallies, crawl.finished_at or clock.now(), ended_of(crawl)
    receipt = {
        "id": str(crawl.id),
        "state": str(crawl.state),
        "start_urls": list(crawl.start_urls),
        "started_at": crawl.created_at.isoformat(timespec="milliseconds"),
        "finished_at": crawl.finished_at.isoformat(timespec="milliseconds") if crawl.finished_at else None,
        "seconds": round(ran_until(crawl, until), 3),
        "elapsed_seconds": round((until - crawl.created_at).total_seconds(), 3),
        "ended": why and why.value,
        "ended_message": _ended_message(crawl, why) if why else None,
        "limits": dict(crawl.limits),
        "discovered": tallies.discovered,
        "fetched": tallies.in_category(Category.FETCHED),
        "failed": tallies.in_category(Category.FAILED),
        "skipped": tallies.skipped(),
        "cancelled": tallies.in_category(Category.CANCELLED),
        "statuses": dict(tallies.statuses),
        "requests": crawl.requests,
        "bytes": crawl.bytes,
        "retries": crawl.retries,
        "notifications": [],
    }
    if crawl.source:
        receipt["list"] = {name: crawl.source_report.get(name, 0) for name in LIST}
    receipt |= values_of(crawl)
    if crawl.is_over:
        receipt["hints"] = hints_of(crawl)
        if slowed := slowed_hosts(crawl):
            receipt["slowed"] = slowed
    if crawl.chosen.ack == EARLY:
        receipt["lost"] = tallies.outcomes.get(Outcome.LOST, 0)
    if crawl.is_over or crawl.round > 1:  # else there is no notice of an end
        receipt["notifications"] = _notifications(crawl)
    if crawl.is_over and not adds_up(receipt):
        raise AssertionError(f"the receipt of finished crawl {crawl.id} does not add up: {receipt}")
    return receipt


def _ended_message(crawl: Crawl, why: EndReason) -> str:
    """As its notice has it, which names the limits as they were at the end: a user may have changed them since."""
    if why in (EndReason.LIMIT, EndReason.DEADLINE, EndReason.CANCELLED):
        ends = Notice.objects.filter(crawl=crawl, round=crawl.round, event__in=ENDS)
        if told := (ends.values_list("receipt", flat=True).first() or {}).get("ended_message"):
            return str(told)
    return end_text(why, crawl.tallies, crawl.limits, crawl.chosen)


def ended_of(crawl: Crawl) -> EndReason | None:
    """Why it ended; None while it is not over."""
    return ended(State(crawl.state), crawl.tallies, crawl.limits)


def ran_until(crawl: Crawl, until: datetime) -> float:
    """The seconds it ran until now, without its pauses and the time it was over."""
    return ran_seconds(crawl.created_at, until, crawl.idle_seconds, crawl.paused_at)


def _notifications(crawl: Crawl) -> list[dict[str, str]]:
    """The receivers of the end of the crawl, without the results of deliveries and repetitions, so that it never
    changes. Secret addresses and addresses of the owner's account are masked, because all receivers get the receipt."""
    deliveries = Delivery.to_receivers().filter(notice__crawl=crawl, notice__event__in=ENDS, again=False)
    return [
        {"id": str(delivery.id), "transport": delivery.transport, "address": _shown(delivery)}
        for delivery in deliveries.order_by("transport", "created_at", "id")
    ]


def _shown(delivery: Delivery) -> str:
    """Masked: a receipt is stored and sent to all receivers."""
    in_full = delivery.channel_id is None and not is_encrypted(delivery.transport)
    return address_shown(delivery, in_full=in_full)


def masked_receipt(receipt: dict[str, Any]) -> dict[str, Any]:
    """The same for users who may see the crawl but not its receivers."""
    masked_ones = [{**to, "address": masked(to["transport"], to["address"])} for to in receipt["notifications"]]
    return {**receipt, "notifications": masked_ones}


def address_shown(delivery: Delivery, *, in_full: bool) -> str:
    """The address of a delivery as users see it."""
    return stored_shown(delivery.transport, delivery.address, in_full=in_full)


def stored_shown(transport: str, stored: str, *, in_full: bool) -> str:
    """A stored address as users see it."""
    try:
        return shown(transport, opened_address(stored), in_full=in_full)
    except SealBroken:
        return "an unreadable address"


def channel_shown(channel: Channel) -> str:
    """The address of a channel, for its owner."""
    try:
        return shown(channel.transport, opened_address(channel.address), in_full=True)
    except SealBroken:
        return "stored with another SECRET_KEY: type it again"


def error_shown(delivery: Delivery, *, in_full: bool) -> str:
    """Why the last attempt failed, without the address unless it may be shown: mail servers repeat it."""
    try:
        address = opened_address(delivery.address)
    except SealBroken:
        return delivery.error
    return delivery.error.replace(address, shown(delivery.transport, address, in_full=in_full))


# Retention.


def deleted_on(crawl: Crawl) -> datetime | None:
    """When the crawl will be deleted; None = never, or not known because it is not over."""
    finished_at = crawl.finished_at if crawl.is_over else None
    return schedule.deleted_on(finished_at, conf.keep_days(), is_kept=crawl.keep)
