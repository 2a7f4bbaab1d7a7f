"""Why a crawl is not finished: what is open, who has it, and what it waits for, from the table and from Redis.

Without Redis the table's part is still told.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

from crawler import queues
from crawler.core import suspects
from crawler.core.diagnosis import Hold, explain
from crawler.frontier.clock import Clock
from crawler.models import Crawl, Page
from crawler.reports.observe import SHOWN, BatchSeen, HostJudged, Seen, facts_of, observe
from crawler.reports.robots import oddities, robots_of

SHOWN_LATELY = 5  # disagreements

Plain = dict[str, Any]
"""Values JSON can hold. Moments are ISO 8601 in UTC, `..._in` are seconds from `at`."""


def why_of(crawl: Crawl, clock: Clock | None = None) -> Plain:
    """What a person may want to know of a crawl that is not finished; also of one that is.

    `sentences`   the answer, then what else is to be known, in plain words (`core.diagnosis`)
    `open`        how many pages are open, and the first of them
    `redis`       whether it answers; the parts below are None when it does not
    `workers`, `queues`    listening to, and jobs waiting in, each queue
    `manager`     what it is doing, and its last run
    `batches`     each that is handed out: who holds it, since when, until when
    `robots`      what came of asking for the robots.txt of each start URL's origin (`reports.robots`)
    `hosts`       how many have pages that wait, and when the next of them may be asked
    `given_up`    how many lately, and the newest of them
    `ends`        the crawl's deadline, and when the next page expires
    `disagreements`    how often the checks for the end did not say the same, newest first
    """
    seen, error = observe(crawl, clock)
    now = seen.glance.now if seen else (clock or time.time)()
    rows = _open_rows(crawl)
    facts = facts_of(crawl, seen, len(rows), now)
    robots = robots_of(crawl) if seen else None
    return {
        "id": str(crawl.id),
        "site": crawl.site,
        "state": str(crawl.state),
        "at": _moment(now),
        "sentences": [*explain(facts), *oddities(robots)],
        "open": {"count": facts.open_pages, "shown": _open_pages(crawl, rows, seen, now)},
        "redis": {"answers": seen is not None, "error": error},
        "workers": {queues.CRAWL: facts.crawl_workers, queues.FETCH: facts.fetch_workers} if seen else None,
        "queues": {name: _to_do(jobs) for name, jobs in seen.queued.items()} if seen else None,
        "manager": _manager(seen) if seen else None,
        "batches": [_batch(batch, now) for batch in seen.batches] if seen else None,
        "robots": robots,
        "hosts": {"waiting": facts.hosts_waiting, "shown": [_host(host) for host in seen.hosts]} if seen else None,
        "given_up": {"last_hour": facts.given_up, "newest": _given_up(crawl, seen)} if seen else None,
        "ends": {"deadline_in": _rounded(facts.ends_in), "next_expiry_in": _rounded(facts.expires_in)},
        "disagreements": {"count": facts.disagreements, "newest": _disagreements(crawl)},
    }


def _open_rows(crawl: Crawl) -> list[Page]:
    """The open pages that were discovered first."""
    return list(Page.objects.filter(crawl=crawl, status=Page.OPEN).order_by("id")[:SHOWN])


def _open_pages(crawl: Crawl, rows: Sequence[Page], seen: Seen | None, now: float) -> list[Plain]:
    parents = {row.parent_id for row in rows if row.parent_id is not None}
    found_on = dict(Page.objects.filter(id__in=parents).values_list("id", "url"))
    holders = {page: batch for batch in (seen.batches if seen else ()) for page in batch.open_ids}
    return [_open_page(row, found_on.get(row.parent_id or 0, ""), holders.get(row.id), now) for row in rows]


def _open_page(row: Page, found_on: str, batch: BatchSeen | None, now: float) -> Plain:
    return {
        "id": row.id,
        "url": row.url,
        "depth": row.depth,
        "found_on": found_on,
        "attempts": row.attempts,
        "deaths": row.deaths,
        "error": row.error,
        "due_in": _rounded(max(0.0, row.due_at - now)),
        "expires_in": _rounded(None if row.expires_at is None else row.expires_at - now),
        "batch": batch.lease.batch if batch else None,
        "hold": batch.hold.value if batch else None,
        "holder": batch.lease.holder if batch else "",
    }


def _batch(batch: BatchSeen, now: float) -> Plain:
    return {
        "id": batch.lease.batch,
        "hold": batch.hold.value,
        "holder": batch.lease.holder,
        "since": _moment(batch.lease.since),
        "lease_left": _rounded(batch.look_at - now) if batch.lease.held else None,
        "back_in": _rounded(batch.back_in) if batch.hold in (Hold.SILENT, Hold.LOST) else None,
        "hosts": batch.hosts,
        "pages": batch.pages,
        "open": len(batch.open_ids),
    }


def _host(host: HostJudged) -> Plain:
    return {
        "host": host.wait.host,
        "suspects": suspects.company(host.seen.lane) is not None,
        "pages": host.wait.pages,
        "next_in": _rounded(host.wait.next_in),
        "reason": host.wait.reason.value,
        "trouble": host.wait.trouble,
        "crawl_delay": host.seen.crawl_delay,
        "connections": host.seen.connections,
    }


def _manager(seen: Seen) -> Plain:
    looked = seen.glance
    return {
        "doing": seen.manager.value,
        "lock_left": _rounded(looked.lock_left),
        "sent_for_at": _moment(looked.mark.sent_at) if looked.mark else None,
        "last_run_at": _moment(looked.last_tick.at) if looked.last_tick else None,
        "last_run_said": looked.last_tick.said if looked.last_tick else "",
        "reports": looked.queue_side.results,
        "handed_out": looked.handed_out,
    }


def _given_up(crawl: Crawl, seen: Seen) -> list[Plain]:
    newest = dict(seen.newly_given_up)
    rows = Page.objects.in_bulk(newest)
    return [
        {"id": page, "url": rows[page].url, "outcome": rows[page].outcome, "error": rows[page].error, "at": _moment(at)}
        for page, at in newest.items()
        if page in rows and rows[page].crawl_id == crawl.id
    ]


def _disagreements(crawl: Crawl) -> list[Plain]:
    newest = crawl.disagreements.order_by("-id")[:SHOWN_LATELY]
    return [{"at": _moment(said.seen_at.timestamp()), "what": said.what} for said in newest]


def _moment(epoch_seconds: float | None) -> str | None:
    if epoch_seconds is None:
        return None
    return datetime.fromtimestamp(epoch_seconds, UTC).isoformat(timespec="milliseconds")


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


def _to_do(jobs: Collection[str]) -> int:
    """How many of these jobs are work; a watch only waits for a worker that has none."""
    return sum(not queues.is_watch(job) for job in jobs)
