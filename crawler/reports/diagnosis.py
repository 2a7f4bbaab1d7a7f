"""Why a crawl is not finished: its open pages, who has them, and what they wait for, from the database and Redis.

Without Redis the report has the part from the database.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db.models import QuerySet
from msgspec.structs import asdict

from crawler.clock import Clock, epoch_seconds
from crawler.core.politeness.host_rules import WaitReason
from crawler.core.protocol import retries
from crawler.core.protocol.completion import State
from crawler.core.protocol.diagnosis import Hold
from crawler.core.protocol.progress import still_for
from crawler.models import Crawl, Page
from crawler.queueing import queues
from crawler.reports.cause_text import wait_text
from crawler.reports.diagnosis_facts import (
    MAX_LISTED,
    BatchState,
    HostStatus,
    RedisState,
    facts_of,
    observe,
    oddities,
    proxies_left_out,
    robots_of,
)
from crawler.reports.explanation import explain
from crawler.reports.host_load import load_of
from crawler.reports.slowdown_text import load_text

SHOWN_LATELY = 5  # disagreements
STILL_SECONDS = 5.0  # without a closed page, after which the reason is shown with the progress

Plain = dict[str, Any]
"""JSON values. Times are ISO 8601 in UTC, `..._in` are seconds from `at`."""


def waits_because(crawl: Crawl, visible: QuerySet[Crawl] | None = None) -> str:
    """One sentence: what a running crawl does or waits for; "" when it does not run. Only `visible` crawls are named
    (None = all)."""
    if crawl.state != State.RUNNING:
        return ""
    seen, _ = observe(crawl, None, Crawl.objects.all() if visible is None else visible)
    now = seen.snapshot.now if seen else epoch_seconds()
    return explain(facts_of(crawl, seen, len(_open_rows(crawl)), now))[0]


def stands_still(crawl: Crawl, now: float) -> bool:
    """Whether a running crawl has closed no page for STILL_SECONDS."""
    still = still_for(crawl.samples, now, crawl.tallies.closed)
    began = now - crawl.round_began_at.timestamp()
    return crawl.state == State.RUNNING and min(began, began if still is None else still) >= STILL_SECONDS


def why_of(crawl: Crawl, clock: Clock | None = None, visible: QuerySet[Crawl] | None = None) -> Plain:
    """The diagnosis of any crawl. Of the crawls that use a host's connections only `visible` ones (None = all) are
    named.

    `sentences`   the answer and further facts, in plain words (`reports.explanation`)
    `open`        the number of open pages, and the first of them
    `redis`       whether it responds; otherwise the parts below are None
    `workers`, `queues`    workers that listen to, and jobs that wait in, each queue
    `manager`     what it does, and its last run
    `batches`     dispatched batches: their worker, since when, until when
    `robots`      the robots.txt of each start URL's origin (`reports.diagnosis_facts`)
    `hosts`       the number of hosts with waiting pages, and when the next of them may be requested
    `given_up`    the number of recent dead letters, and the newest of them
    `ends`        the crawl's deadline, when the next page expires, and when pages with a Retry-After close
    `disagreements`    how often the two completion checks differed, newest first
    """
    seen, error = observe(crawl, clock, Crawl.objects.all() if visible is None else visible)
    now = seen.snapshot.now if seen else (clock or epoch_seconds)()
    rows = _open_rows(crawl)
    facts = facts_of(crawl, seen, len(rows), now)
    robots = robots_of(crawl) if seen else None
    return {
        "id": str(crawl.id),
        "site": crawl.site,
        "state": str(crawl.state),
        "at": moment(now),
        "sentences": [*explain(facts), *_load(crawl), *oddities(robots), *proxies_left_out(crawl, now)],
        "open": {"count": facts.open_pages, "shown": _open_pages(crawl, rows, seen, now)},
        "redis": {"answers": seen is not None, "error": error},
        "workers": {queues.CRAWL: facts.crawl_workers, queues.FETCH: facts.fetch_workers} if seen else None,
        "queues": {name: _to_do(jobs) for name, jobs in seen.queued.items()} if seen else None,
        "manager": _manager(seen) if seen else None,
        "batches": [_batch(batch, now) for batch in seen.batches] if seen else None,
        "robots": robots,
        "hosts": {"waiting": facts.hosts_waiting, "shown": [_host(host) for host in seen.hosts]} if seen else None,
        "given_up": {"last_hour": facts.given_up, "newest": _given_up(crawl, seen)} if seen else None,
        "ends": {
            "deadline_in": rounded(facts.ends_in),
            "next_expiry_in": rounded(facts.expires_in),
            "put_off_pages_close_in": rounded(facts.closing_in),
        },
        "disagreements": {"count": facts.disagreements, "newest": _disagreements(crawl)},
    }


def _load(crawl: Crawl) -> list[str]:
    return [load] if (load := load_of(crawl)) else []


def _open_rows(crawl: Crawl) -> list[Page]:
    """The first open pages in the order of discovery."""
    return list(Page.objects.filter(crawl=crawl, status=Page.OPEN).order_by("id")[:MAX_LISTED])


def _open_pages(crawl: Crawl, rows: Sequence[Page], seen: RedisState | None, now: float) -> list[Plain]:
    parents = {row.parent_id for row in rows if row.parent_id is not None}
    found_on = dict(Page.objects.filter(id__in=parents).values_list("id", "url"))
    holders = {page: batch for batch in (seen.batches if seen else ()) for page in batch.open_ids}
    return [_open_page(row, found_on.get(row.parent_id or 0, ""), holders.get(row.id), now) for row in rows]


def _open_page(row: Page, found_on: str, batch: BatchState | None, now: float) -> Plain:
    return {
        "id": row.id,
        "url": row.url,
        "depth": row.depth,
        "found_on": found_on,
        "attempts": row.attempts,
        "deaths": row.deaths,
        "error": row.error,
        "due_in": rounded(max(0.0, max(row.due_at, row.not_before or 0.0) - now)),
        "expires_in": rounded(None if row.expires_at is None else row.expires_at - now),
        "batch": batch.lease.batch if batch else None,
        "hold": batch.hold.value if batch else None,
        "holder": batch.lease.holder if batch else "",
    }


def _batch(batch: BatchState, now: float) -> Plain:
    return {
        "id": batch.lease.batch,
        "hold": batch.hold.value,
        "holder": batch.lease.holder,
        "since": moment(batch.lease.since),
        "lease_left": rounded(batch.look_at - now) if batch.lease.held else None,
        "back_in": rounded(batch.back_in) if batch.hold in (Hold.SILENT, Hold.LOST) else None,
        "hosts": batch.hosts,
        "pages": batch.pages,
        "open": len(batch.open_ids),
    }


def _host(host: HostStatus) -> Plain:
    wait = host.wait
    return {
        "host": wait.host,
        "suspects": retries.batch_size(host.seen.lane) is not None,
        "pages": wait.pages,
        "next_in": rounded(wait.next_in),
        "reason": wait.reason.value,
        "sentence": wait_text(wait),
        "trouble": wait.trouble,
        "stop": {"until": moment(wait.until), "status": wait.status} if wait.reason is WaitReason.STOP else None,
        "delay": rounded(wait.delay),
        "crawl_delay": host.seen.shared.state.crawl_delay,
        "connections": host.seen.shared.connections,
        "connections_allowed": wait.allowed,
        "load": load_text(wait.throttle, wait.wanted) if wait.throttle and wait.throttle.seconds else "",
        "used_by": [asdict(used) for used in wait.used],
    }


def _manager(seen: RedisState) -> Plain:
    looked = seen.snapshot
    return {
        "doing": seen.manager.value,
        "lock_left": rounded(looked.lock_left),
        "sent_for_at": moment(looked.mark.sent_at) if looked.mark else None,
        "last_run_at": moment(looked.last_tick.at) if looked.last_tick else None,
        "last_run_said": looked.last_tick.summary if looked.last_tick else "",
        "reports": looked.queue_side.results,
        "handed_out": looked.handed_out,
    }


def _given_up(crawl: Crawl, seen: RedisState) -> list[Plain]:
    newest = dict(seen.newly_given_up)
    rows = Page.objects.in_bulk(newest)
    return [
        {"id": page, "url": rows[page].url, "outcome": rows[page].outcome, "error": rows[page].error, "at": moment(at)}
        for page, at in newest.items()
        if page in rows and rows[page].crawl_id == crawl.id
    ]


def _disagreements(crawl: Crawl) -> list[Plain]:
    newest = crawl.disagreements.order_by("-id")[:SHOWN_LATELY]
    return [{"at": moment(said.seen_at.timestamp()), "what": said.what} for said in newest]


def moment(epoch_seconds: float | None) -> str | None:
    if epoch_seconds is None:
        return None
    return datetime.fromtimestamp(epoch_seconds, UTC).isoformat(timespec="milliseconds")


def rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


def _to_do(jobs: Collection[str]) -> int:
    """The number of these jobs without idle pollers."""
    return sum(not queues.is_poller(job) for job in jobs)
