"""The state of one crawl as its page shows it, for the template and as JSON."""

from __future__ import annotations

import json
from typing import Any, assert_never

from crawler.command_names import as_typed
from crawler.core.pages.outcomes import ERRORS, SUCCESSES, Category
from crawler.core.protocol.completion import FOLLOWS, EndReason, State
from crawler.core.protocol.progress import Completion
from crawler.core.text.controls import Surface
from crawler.models import Crawl, Delivery, KeptExtraction
from crawler.reports import crawl_parts, text, traps
from crawler.reports.comparison import from_memory
from crawler.reports.diagnosis import stands_still, waits_because
from crawler.reports.diagnosis_facts import held_because
from crawler.reports.explanation import AUTOSCALED
from crawler.reports.hints import hints_of, lines_of
from crawler.reports.host_load import load_of
from crawler.reports.links import dead_letters, orphans
from crawler.reports.progress import (
    MAX_LISTED,
    last_pages,
    progress_of,
    rate_of,
    standing_of,
    start_count,
    troubled_pages,
    troubled_start_pages,
)
from crawler.reports.receipt import ended_of, masked_receipt, ran_until
from crawler.reports.scale import of_useful_workers
from crawler.reports.workforce import Workforce, workforce
from crawler.web.crawl.crawl_summary import (
    DELIVERY_TONES,
    answer_bars,
    notice_rows,
    receipt_rows,
    skipped_rows,
    status_rows,
)
from crawler.web.tables.rows import Row, dead_letter_row, page_row, trap_row

NO_WORKER = as_typed("No worker is running, so nothing is fetched. Start one: bin/worker")
NO_REDIS = "Redis does not respond, so nothing is fetched. The crawl continues once Redis is back."

LATELY = 10.0  # seconds
START_S = 3.0  # after the start of a crawl: its workers may be starting, too

STATES = {
    State.LOADING: "Reading its list",
    State.RUNNING: "Running",
    State.PAUSED: "Paused",
    State.FINISHED: "Finished",
    State.CANCELLED: "Cancelled",
}

CUT_SHORT = (EndReason.LIMIT, EndReason.DEADLINE)
"""Ends that the list of crawls names; it counts errors, and the state shows a cancelled crawl."""


def status_of(crawl: Crawl, now: float, *, in_full: bool = False) -> dict[str, Any]:
    """The state of a crawl in plain values. Receivers of notices are masked unless `in_full`.

    progress   counts, rate and receipt for programs (`reports.progress.progress_of`)
    state, over, settled   `settled` = the page will not change any more
    title      of the browser's tab
    can        verb -> whether the state allows it
    bar        value and maximum of the progress bar
    texts      name -> text, for each place on the page that shows one
    lists      name -> rows, for each list on the page
    alerts     what the user should know or do
    """
    progress = progress_of(crawl, now)
    if not in_full:
        progress["receipt"] = masked_receipt(progress["receipt"])
    notices = notice_rows(crawl, in_full=in_full)
    over = crawl.is_over
    odd = progress["receipt"]["hints"] if over else hints_of(crawl)
    letters = list(dead_letters(crawl)[:MAX_LISTED])
    orphaned = list(orphans(crawl)[:MAX_LISTED]) if over else []  # earlier, most pages of a sitemap would be orphans
    caught = traps.traps_of(crawl, MAX_LISTED)
    began = crawl.round_began_at.timestamp()
    seen = workforce(began) if crawl.state == State.RUNNING else Workforce()
    alerts = _alerts(crawl, now, seen)
    lists = {
        "alerts": alerts,
        "hints": [{"text": line, "tone": "warn"} for line in lines_of(odd, Surface.PAGE)],
        "answers": [{**bar, "share": f"{bar['share']:g}"} for bar in answer_bars(crawl)],
        "statuses": status_rows(progress["receipt"]["statuses"]),
        "skipped": skipped_rows(progress["receipt"]["skipped"]),
        "pages": [page_row(page) for page in last_pages(crawl)],
        "troubled": [page_row(page) for page in troubled_pages(crawl)],
        "dead_letters": [dead_letter_row(page) for page in letters],
        "orphans": [page_row(page) for page in orphaned],
        "traps": [trap_row(one) for one in caught if not one.trap.released],
        "notices": notices,
        **crawl_parts.rows_of(crawl),
        "receipt": receipt_rows(progress["receipt"]) if over else [],
    }
    tones = {notice["tone"] for notice in notices}
    read_again = KeptExtraction.objects.filter(crawl=crawl).first()
    is_at_work = crawl_parts.is_any_at_work(crawl) or (read_again is not None and read_again.done_at is None)
    return {
        "progress": progress,
        "state": progress["state"],
        "over": over,
        "settled": over and DELIVERY_TONES[Delivery.PENDING] not in tones and not is_at_work,
        "title": f"{_headline(crawl, progress)} · {crawl.site}",
        "can": _can(State(crawl.state)) | {"finish": crawl.chosen.stay_open and not over},
        "bar": {"value": progress["done"], "max": max(progress["total"], 1)},
        "texts": {
            **_texts(crawl, progress),
            "workers": "" if alerts else _workers(crawl, now, seen),
            "waits": "" if any(alert["tone"] == "warn" for alert in alerts) else _waits(crawl, now),
            "dead_letters": _dead_letters(crawl, len(letters)),
            "orphans": _orphans(crawl, len(orphaned)),
            "kept_html": text.kept_extraction(read_again) if read_again else "",
            "traps": traps.summary(crawl, caught if len(caught) < MAX_LISTED else None),
        },
        "lists": lists,
    }


def _can(state: State) -> dict[str, bool]:
    """The buttons of the page. A reply explains an action that comes too late."""
    return {
        "pause": State.PAUSED in FOLLOWS[state],
        "resume": state is State.PAUSED,
        "cancel": State.CANCELLED in FOLLOWS[state],
        "delete": state is not State.LOADING,
    }


def _dead_letters(crawl: Crawl, shown: int) -> str:
    """The number of dead letters, counted only when there may be more than are shown."""
    number = shown if shown < MAX_LISTED else dead_letters(crawl).count()
    return f"{text.counted(number, 'page')} failed at the last attempt. A retry may succeed." if number else ""


def _orphans(crawl: Crawl, shown: int) -> str:
    """The number of orphans, and whether there may be fewer."""
    number = shown if shown < MAX_LISTED else orphans(crawl).count()
    if not number:
        return ""
    unasked = crawl.tallies.in_category(Category.SKIPPED) + crawl.tallies.in_category(Category.CANCELLED)
    doubt = f" {text.counted(unasked, 'page')} that may do so were not requested." if unasked else ""
    verb = "is in a sitemap but no page links to it" if number == 1 else "are in a sitemap but no page links to them"
    return f"{text.counted(number, 'page')} {verb}.{doubt}"


def summary_of(crawl: Crawl, now: float) -> dict[str, Any]:
    """One line of the list of crawls."""
    tallies, stands, why = crawl.tallies, standing_of(crawl), ended_of(crawl)
    errors = tallies.number_of(ERRORS)
    return {
        "crawl": crawl,
        "state": STATES[State(crawl.state)],
        "done": stands.done,
        "total": max(stands.total, 1),
        "pages": _pages(stands),
        "ended": text.ENDED[why] if why in CUT_SHORT else "",
        "failed": text.counted(errors, "error") if errors else "",
        "is_in_vain": crawl.is_over and not tallies.number_of(SUCCESSES),
        "rate": _pace(crawl, now),
        "took": text.duration(ran_until(crawl, crawl.finished_at)) if crawl.finished_at else "",
    }


def _pages(stands: Completion) -> str:
    """The number of pages; with a page limit, how many of the allowed ones."""
    if stands.at_most:
        return text.progress_text(stands.done, stands.total, at_most=True)
    return text.counted(stands.total, "page")


def _pace(crawl: Crawl, now: float) -> str:
    """Pages a second while it runs; "" without data."""
    if crawl.state != State.RUNNING:
        return ""
    pace = rate_of(crawl, now)
    return "" if pace is None else text.rate(pace)


def _headline(crawl: Crawl, progress: dict[str, Any]) -> str:
    if crawl.state == State.RUNNING:
        return f"{progress['percent']} %"
    return STATES[State(crawl.state)]


def _texts(crawl: Crawl, progress: dict[str, Any]) -> dict[str, str]:
    receipt = progress["receipt"]
    eta = progress["eta"]
    return {
        "state": STATES[State(crawl.state)],
        "summary": _summary(crawl, progress),
        "loading": _loading(crawl),
        "percent": f"{progress['percent']} %",
        "at_most": text.progress_text(progress["done"], progress["total"], at_most=True) if progress["at_most"] else "",
        "discovered": text.count(progress["discovered"]),
        "open": text.count(progress["open"]),
        "fetched": text.count(receipt["fetched"]),
        "failed": text.count(receipt["failed"]),
        "skipped": text.count(sum(receipt["skipped"].values())),
        "rate": text.rate(_average(progress) if crawl.is_over else progress["rate"]),
        "eta": text.DASH if eta is None else f"about {text.duration(max(eta, 1))}",
        "elapsed": text.duration(receipt["seconds"]),
        "from_memory": from_memory(crawl),
        "receipt_json": json.dumps(receipt, indent=2, ensure_ascii=False) if crawl.is_over else "",
    }


def _average(progress: dict[str, Any]) -> float | None:
    """Average pages a second of a crawl that is over."""
    seconds: float = progress["receipt"]["seconds"]
    return progress["done"] / seconds if seconds > 0 else None


def _summary(crawl: Crawl, progress: dict[str, Any]) -> str:
    """The sentence that screen readers announce when it changes, so it has no number that changes all the time."""
    receipt = progress["receipt"]
    pages, took = text.counted(receipt["discovered"], "page"), text.duration(receipt["seconds"])
    if progress["at_most"]:
        pages = text.progress_text(progress["done"], progress["total"], at_most=True)
    state = State(crawl.state)
    match state:
        case State.FINISHED:
            why = "" if receipt["ended"] == EndReason.COMPLETE else f" {receipt['ended_message']}"
            return f"{pages} in {took}, none left open.{why}"
        case State.CANCELLED:
            discovered = text.counted(receipt["discovered"], "page")
            return f"After {took}, with {text.count(receipt['cancelled'])} of {discovered} not requested."
        case State.LOADING:
            return "Its list of URLs is being read; requests start afterwards."
        case State.PAUSED:
            return "Paused: no further pages are requested."
        case State.RUNNING:
            return "The crawl is running. This page updates automatically."
    assert_never(state)


def _loading(crawl: Crawl) -> str:
    """The progress of its list; not announced, because it changes all the time."""
    if crawl.state != State.LOADING:
        return ""
    counts = {"lines": 0, "taken": 0, "duplicates": 0, "invalid": 0, **crawl.source_report}
    return f"{crawl.source}: {text.list_read(counts)}"


def _waits(crawl: Crawl, now: float) -> str:
    """Why no page has closed for some seconds; not announced, because its figures change all the time. It names no
    crawls of other users; the diagnosis does, to users who may see them."""
    return waits_because(crawl, Crawl.objects.none()) if stands_still(crawl, now) else load_of(crawl)


def _alerts(crawl: Crawl, now: float, seen: Workforce) -> list[Row]:
    alerts = [*_hold_alert(crawl, now), *_start_alert(crawl)]
    if crawl.state != State.RUNNING:
        return alerts
    if not seen.has_redis:
        said = NO_REDIS
    elif seen.live or _moved_lately(crawl, now) or now - crawl.round_began_at.timestamp() < START_S:
        return alerts
    else:
        said = AUTOSCALED if seen.is_autoscaled else NO_WORKER
    return [*alerts, {"text": said, "tone": "warn"}]


def _workers(crawl: Crawl, now: float, seen: Workforce) -> str:
    """How many of the workers that would be useful to all crawls run, as far as RQ lists any; not announced, because it
    changes often."""
    if not seen.live:
        return ""
    if not seen.wanted and _moved_lately(crawl, now):
        return f"{text.counted(seen.live, 'worker')} {'runs' if seen.live == 1 else 'run'}."
    return of_useful_workers(seen.live, seen.wanted)


def _moved_lately(crawl: Crawl, now: float) -> bool:
    """Whether pages were closed recently: after a FLUSHALL RQ does not list workers that live."""
    if not crawl.samples:
        return False
    seen_at, _, closed, *_ = crawl.samples[-1]
    return bool(closed > 0 and now - seen_at < LATELY)


def _hold_alert(crawl: Crawl, now: float) -> list[Row]:
    """That it waits for the next day, or for space, and resumes by itself."""
    why = held_because(crawl, now)
    return [{"text": why, "tone": "warn"}] if why else []


def _start_alert(crawl: Crawl) -> list[Row]:
    """Start URLs without links to follow."""
    troubled = troubled_start_pages(crawl)
    return [{"text": text.start_trouble(troubled, start_count(crawl)), "tone": "bad"}] if troubled else []
