"""The figures on a crawl's page: statuses, reasons, notices, the receipt, and the charts."""

from __future__ import annotations

from typing import Any

from django.db.models import Count

from crawler.core.channels import webhook
from crawler.core.channels.catalogue import CHANNELS
from crawler.core.options.events import Event
from crawler.core.pages.outcomes import STATUS_TONES, Category, Outcome, Tone
from crawler.core.protocol import progress
from crawler.core.protocol.completion import EndReason, State
from crawler.models import Crawl, Delivery
from crawler.notices.outbox import receivers_of
from crawler.reports import queue_figures, text
from crawler.reports.progress import Breakdown, cheap_breakdown, is_of_now
from crawler.reports.receipt import address_shown, error_shown, stored_shown
from crawler.reports.receipt_parts import rows_of
from crawler.reports.slowdown_text import slowed_lines
from crawler.reports.text import event_word
from crawler.web.tables.rows import Row

NOTICES = 50  # deliveries on the crawl's page; its log has all of them
DELIVERIES = {Delivery.PENDING: "being sent", Delivery.DELIVERED: "delivered", Delivery.GIVEN_UP: "given up"}
DELIVERY_TONES = {Delivery.PENDING: "calm", Delivery.DELIVERED: "good", Delivery.GIVEN_UP: "bad"}


def status_rows(statuses: dict[str, int]) -> list[Row]:
    return [_row(code, text.count(number), _tone(code)) for code, number in sorted(statuses.items())]


def skipped_rows(skipped: dict[str, int]) -> list[Row]:
    return [_row(text.outcome(reason), text.count(number), "calm") for reason, number in skipped.items()]


def _row(name: str, number: str, tone: str) -> Row:
    return {"name": name, "number": number, "tone": tone}


def _tone(code: str) -> Tone:
    return STATUS_TONES.get(code[0], Tone.NEUTRAL)


def notice_rows(crawl: Crawl, *, in_full: bool) -> list[Row]:
    """The deliveries of notices and their results; while the crawl is not over, also the receivers of its end.
    Addresses are masked unless `in_full`."""
    deliveries = Delivery.to_receivers().filter(notice__crawl=crawl).exclude(notice__event=Event.PAGE)
    ordered = deliveries.select_related("notice").defer("notice__receipt")
    rows = [
        _delivery_row(delivery, in_full=in_full)
        for delivery in ordered.order_by("notice__created_at", "transport", "created_at")[:NOTICES]
    ]
    rows += _page_rows(crawl)
    return rows if crawl.is_over else [*rows, *_planned(crawl, in_full=in_full)]


def _notice_row(event: str, transport: str, address: str, state: str, tone: str, error: str = "") -> Row:
    shown = {"event": event_word(event), "transport": transport, "address": address}
    return {**shown, "state": state, "error": error, "tone": tone}


def _delivery_row(delivery: Delivery, *, in_full: bool) -> Row:
    state = DELIVERIES[delivery.state] + (f" (try {delivery.attempts})" if delivery.attempts > 1 else "")
    error = "" if delivery.state == Delivery.DELIVERED else error_shown(delivery, in_full=in_full)
    address, tone = address_shown(delivery, in_full=in_full), DELIVERY_TONES[delivery.state]
    return _notice_row(delivery.notice.event, delivery.transport, address, state, tone, error)


def _page_rows(crawl: Crawl) -> list[Row]:
    """Deliveries of page notices by state, as numbers: there may be thousands."""
    if Event.PAGE not in crawl.chosen.notify_events:
        return []
    of_pages = Delivery.to_receivers().filter(notice__crawl=crawl, notice__event=Event.PAGE)
    numbers = dict(of_pages.order_by().values_list("state").annotate(Count("id")))
    counted = {state: text.counted(numbers[state], "notice") for state in DELIVERIES if numbers.get(state)}
    return [
        _notice_row(Event.PAGE, webhook.KIND.name, notices, DELIVERIES[state], DELIVERY_TONES[state])
        for state, notices in counted.items()
    ]


def _planned(crawl: Crawl, *, in_full: bool) -> list[Row]:
    planned = [to for to in receivers_of(crawl, Event.FINISHED) if to.transport in CHANNELS]
    shown = ((to.transport, stored_shown(to.transport, to.stored_address, in_full=in_full)) for to in planned)
    return [_notice_row(Event.FINISHED, *where, "when it is finished", "calm") for where in shown]


def receipt_rows(receipt: dict[str, Any]) -> list[Row]:
    """The receipt of a crawl that is over as a table: the parts, and discovered, their sum."""
    parts = [("fetched", receipt["fetched"]), ("failed", receipt["failed"])]
    skipped = [(f"skipped: {text.outcome(reason)}", number) for reason, number in receipt["skipped"].items()]
    parts += skipped or [("skipped", 0)]
    parts += [("cancelled", receipt["cancelled"])]
    more = (
        *rows_of(receipt),
        *(("slowed down", line) for line in slowed_lines(receipt.get("slowed", ()))),
        ("requests", text.count(receipt["requests"])),
        ("retries", text.count(receipt["retries"])),
        ("bytes read", text.size(receipt["bytes"])),
        *_times(receipt),
        ("ended", text.ENDED[EndReason(receipt["ended"])]),
    )
    return [
        *(_row(name, text.count(number), "part") for name, number in parts),
        _row("discovered", text.count(receipt["discovered"]), "sum"),
        *(_row(name, number, "more") for name, number in more),
    ]


def _times(receipt: dict[str, Any]) -> list[tuple[str, str]]:
    """How long it ran; with pauses, also the time from its start to its end."""
    ran, elapsed = text.duration(receipt["seconds"]), text.duration(receipt["elapsed_seconds"])
    return [("time", ran)] if elapsed == ran else [("time it ran", ran), ("time with pauses", elapsed)]


# Charts: pages per second, responses, depths and hosts.

SOON, LATER = "300ms", "2s"  # until a page requests the first count, and one that another request is making

MAX_BARS = 15  # depths with a bar of their own; greater ones share one

Bar = dict[str, Any]
"""One row of a histogram: `name`, `number` as text, `share` of the longest bar in per cent, `tone`."""


def quick_figures(crawl: Crawl, now: float) -> dict[str, Any]:
    """The figures without counting many rows: the open page requests the others."""
    return figures_of(crawl, cheap_breakdown(crawl, now), now)


def figures_of(crawl: Crawl, counted: Breakdown | None, now: float) -> dict[str, Any]:
    """The context of pace, queue, answers, depths and hosts; empty without data. `again_in`: the time after which to
    request the count; "" = it is complete."""
    return {
        "pace": _pace(crawl),
        "queue": None if crawl.is_over else _queue(crawl, now),
        "answers": answer_bars(crawl),
        "counted": counted,
        "counted_ago": _counted_ago(crawl, counted, now),
        "again_in": _again_in(crawl, counted),
        "depths": depth_bars(counted.depths) if counted else [],
        "hosts": _host_rows(counted) if counted else [],
    }


def _queue(crawl: Crawl, now: float) -> dict[str, Any]:
    figures = queue_figures.queue_figures(crawl, now)
    return {"lines": queue_figures.lines(figures), "oldest": queue_figures.oldest(figures)}


def _counted_ago(crawl: Crawl, counted: Breakdown | None, now: float) -> str:
    """How old the count of a running crawl is, whose other figures are of now; "" = not older than those."""
    if counted is None or crawl.is_over or now - counted.made_at < 1.0:
        return ""
    return text.duration(now - counted.made_at)


def _again_in(crawl: Crawl, counted: Breakdown | None) -> str:
    if counted is None:
        return SOON
    return "" if is_of_now(counted, crawl) else LATER


def answer_bars(crawl: Crawl) -> list[Bar]:
    """HTTP statuses, then the outcomes without one."""
    tallies = crawl.tallies
    numbers = [(code, number, _tone(code)) for code, number in sorted(tallies.statuses.items())]
    for value, number in sorted(tallies.outcomes.items()):
        outcome = Outcome(value)
        if outcome.category is not Category.FETCHED:
            numbers.append((outcome.label, number, outcome.tone))
    return _bars([row for row in numbers if row[1]])


def depth_bars(depths: dict[int, int]) -> list[Bar]:
    """Every depth up to the greatest, empty ones too; the greatest ones as one bar."""
    last = min(max(depths, default=-1), MAX_BARS)
    rows = [(str(depth), depths.get(depth, 0), "") for depth in range(last + 1)]
    below = sum(number for depth, number in depths.items() if depth > MAX_BARS)
    return _bars([*rows, (f"{MAX_BARS + 1} and more", below, "")] if below else rows)


def _bars(rows: list[tuple[str, int, str]]) -> list[Bar]:
    most = max((number for _, number, _ in rows), default=0)
    return [
        {"name": name, "number": text.count(number), "share": progress.share(number, most), "tone": tone}
        for name, number, tone in rows
    ]


def _pace(crawl: Crawl) -> dict[str, Any] | None:
    """The line chart, and its content in a sentence for screen readers."""
    values = progress.pace(crawl.samples)
    line = progress.line(values)
    if line is None:
        return None
    span = values[-1][0] - values[0][0]
    fastest, now = max(pace for _, pace in values), values[-1][1]
    last = "" if State(crawl.state).is_over else f", {text.rate(now)} at last"
    return {
        "line": line,
        "top": f"{line.top:,g}/s",
        "span": text.duration(span),
        "said": f"Pages closed a second, over {text.duration(span)}: {text.rate(fastest)} at most{last}.",
    }


def _host_rows(counted: Breakdown) -> list[dict[str, str]]:
    return [
        {
            "name": host.name,
            "pages": text.count(host.pages),
            "open": text.count(host.open),
            "errors": text.count(host.errors),
            "time": f"{host.elapsed_ms:,} ms",
            "size": text.size(host.bytes),
        }
        for host in counted.hosts
    ]
