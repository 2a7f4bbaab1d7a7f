"""Schemas of crawls, receipts, diagnosis and traps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Schema
from pydantic import ConfigDict, Field

from crawler.api.addresses import address
from crawler.api.openapi import CRAWL_ID
from crawler.api.paging import RowId
from crawler.api.schemas.fields import fields_of
from crawler.core.channels.catalogue import KINDS
from crawler.core.protocol.completion import EndReason, Limit, State
from crawler.crawls.actions import FINISH, Action
from crawler.encryption import shown
from crawler.models import Crawl
from crawler.reports.diagnosis_facts import held_because
from crawler.reports.progress import progress_of
from crawler.reports.receipt import deleted_on, ended_of, masked_receipt, stored_shown
from crawler.reports.traps import TrapReport

ROOT = "/api/v1/crawls"
ENDED = (
    "Why it ended; null before the end. `complete`: every page has its outcome. `complete_with_errors`: the same, "
    "but some returned no usable response. `limit`, `deadline`, `cancelled`: pages were not requested because of a "
    "limit (`limits` of the receipt), the time for the crawl, or a user."
)


class Progress(Schema):
    """The progress of a crawl."""

    discovered: int = Field(description="Known pages.")
    closed: int = Field(description="Closed pages.")
    open: int = Field(description="Open pages.")
    done: int = Field(description="Progress towards `total`: closed pages; with `max_pages` the requested pages.")
    total: int = Field(description="Known pages; with `max_pages` at most that many, without skipped pages.")
    at_most: bool = Field(description="`total` is the page limit: at least as many pages are known.")
    percent: int = Field(description="`done` of `total`, 0 to 100, rounded down.")
    rate: float | None = Field(description="Recent pages per second, as counted in `done`; null when it does not run.")
    eta: float | None = Field(
        description="Seconds left; null if unknown. With `max_pages` known as soon as there is a rate."
    )


class CrawlLine(Schema):
    """A crawl in a list."""

    id: UUID
    state: State
    site: str = Field(description="A short display name.")
    start_urls: list[str]
    created_at: datetime
    finished_at: datetime | None
    ended: EndReason | None = Field(description=ENDED)
    discovered: int
    closed: int
    url: str = Field(description="The address of the full object.")


class CrawlPage(Schema):
    """A page of the list of crawls."""

    items: list[CrawlLine]
    next: str | None = Field(description="The address of the next page; null on the last one.")


class CrawlDetail(CrawlLine):
    """A crawl in full."""

    owner: str | None
    source: str = Field(description='The name of its list of URLs; "" when it has none.')
    round: int = Field(description="Incremented each time its dead letters are retried after its end.")
    previous: UUID | None = Field(description="The previous run of the same schedule.")
    schedule: UUID | None
    group: str | None = Field(description="The group whose members can also view it.")
    group_controls: bool = Field(description="They may pause, resume and cancel it.")
    keep: bool = Field(description="Kept until a user deletes it.")
    held: str = Field(
        description='Why it waits: a quota, no space, a failed log-in. "" = it does not wait, or a user paused it.'
    )
    deleted_on: datetime | None = Field(
        description="When it expires and is deleted; null when never, or not yet known."
    )
    list_report: dict[str, Any] | None = Field(
        description="The result of reading its list, with the first invalid lines; null when it has none."
    )
    options: dict[str, Any] = Field(description="Every option, by its name.")
    sends: list[str] = Field(description="Its credentials, masked.")
    progress: Progress
    receipt: dict[str, Any] = Field(description="The sum: discovered = fetched + failed + skipped + cancelled.")
    links: dict[str, str] = Field(description="The addresses of its pages, receipt and other parts.")


class ReceiptHint(Schema):
    """A hint about a crawl as a whole."""

    hint: str = Field(description="Its name; docs/reports.md lists all.")
    pages: int = Field(description="The number of affected pages.")
    of: int = Field(description="The number of pages considered.")
    example: str = Field(description="The URL of an example.")
    message: str
    remedy: str = Field(description="What to do.")


class Receipt(Schema):
    """The receipt of a crawl."""

    model_config = ConfigDict(extra="allow")  # later versions may add fields

    id: UUID
    state: State
    start_urls: Sequence[str]
    started_at: str
    finished_at: str | None
    seconds: float = Field(
        description="Seconds of running time: without pauses, and without the time before a retry of its dead letters."
    )
    elapsed_seconds: float = Field(description="From `started_at` to `finished_at`, or to now.")
    ended: EndReason | None = Field(description=ENDED)
    ended_message: str | None = Field(description="The same as a sentence.")
    limits: dict[Limit, int] = Field(
        description="The limits reached, each with the number of pages skipped because of it."
    )
    discovered: int
    fetched: int
    failed: int
    skipped: dict[str, int]
    cancelled: int
    statuses: dict[str, int]
    requests: int
    bytes: int
    retries: int
    notifications: Sequence[dict[str, Any]]
    hints: Sequence[ReceiptHint] | None = Field(
        None, description="Hints about the crawl as a whole; null before its end."
    )
    list: dict[str, int] | None = Field(
        None, description="The result of reading its list of URLs; null when it has none."
    )
    lost: int | None = Field(
        None, description="The failed pages that were lost with their workers; null unless it acknowledges early."
    )


class Why(Schema):
    """Why a crawl is not finished. Null values are unknown while Redis does not respond."""

    model_config = ConfigDict(extra="allow")  # as above

    id: UUID
    site: str = Field(description="A short display name.")
    state: State
    at: datetime = Field(description="The time of these data; `..._in` are seconds from it.")
    sentences: Sequence[str] = Field(description="The reason first, then further facts.")
    open: dict[str, Any] = Field(description="How many pages are open, and the first of them.")
    redis: dict[str, Any] = Field(description="Whether it responds, and the error if it does not.")
    workers: dict[str, int] | None = Field(description="How many listen to each queue.")
    queues: dict[str, Any] | None = Field(description="Jobs that wait in each.")
    manager: dict[str, Any] | None = Field(description="Its current state, and its last run.")
    batches: Sequence[dict[str, Any]] | None = Field(
        description="Each dispatched batch: its worker and the end of its lease."
    )
    robots: Sequence[dict[str, Any]] | None = Field(description="The result of fetching each robots.txt.")
    hosts: dict[str, Any] | None = Field(description="Hosts with waiting pages, and the time of their next request.")
    given_up: dict[str, Any] | None = Field(description="The number of recent pages, and the newest of them.")
    ends: dict[str, Any] = Field(
        description="The crawl's deadline, the next expiry of a page, and the time when postponed pages close."
    )
    disagreements: dict[str, Any] = Field(description="How often the two checks for its end disagreed.")


class StateChange(Schema):
    """The result of pausing, resuming or cancelling a crawl."""

    id: UUID
    state: State
    moved: bool = Field(description="Whether this call changed it; false if it was already in that state.")
    message: str = Field(description="The same in words.")


def line_of(crawl: Crawl) -> dict[str, Any]:
    url = address("crawls", crawl.id)
    return fields_of(CrawlLine, crawl, ended=ended_of(crawl), closed=crawl.tallies.closed, url=url)


def whole_of(crawl: Crawl, now: float, *, in_full: bool) -> dict[str, Any]:
    """`in_full`: with the receivers of its notices and its credentials, masked."""
    progress = progress_of(crawl, now)
    return fields_of(
        CrawlDetail,
        crawl,
        **line_of(crawl),
        owner=crawl.owner.get_username() if crawl.owner else None,
        previous=crawl.previous_id,
        schedule=crawl.schedule_id,
        group=crawl.group.name if crawl.group else None,
        held=held_because(crawl, now),
        deleted_on=deleted_on(crawl),
        list_report=crawl.source_report or None,
        options=options_shown(crawl.chosen.to_plain(), in_full=in_full),
        sends=list(shown(crawl.sealed)) if in_full else [],
        progress={name: progress[name] for name in Progress.model_fields},
        receipt=progress["receipt"] if in_full else masked_receipt(progress["receipt"]),
        links=links_of(crawl),
    )


def options_shown(options: Mapping[str, Any], *, in_full: bool) -> dict[str, Any]:
    """The options without the private hosts, addresses that are secrets, and, unless `in_full`, all receivers."""
    hidden = {"private_hosts", *(kind.option for kind in KINDS if kind.is_secret or not in_full)}
    chosen = {name: value for name, value in options.items() if name not in hidden}
    for kind in KINDS:
        if kind.option in chosen:
            chosen[kind.option] = [stored_shown(kind.name, one, in_full=True) for one in chosen[kind.option]]
    return chosen


def links_of(crawl: Crawl) -> dict[str, str]:
    below = (
        *("pages", "dead-letters", "orphans", "traps", "reports", "comparisons", "graph", "figures", "exports"),
        *("receipt", "why", "events", "notices"),
    )
    own = address("crawls", crawl.id)
    return {"self": own, **{name: f"{own}/{name}" for name in below}}


def address_of(request: HttpRequest, crawl: Crawl) -> str:
    """For the header Location."""
    return request.build_absolute_uri(address("crawls", crawl.id))


RECEIPT_EXAMPLE: dict[str, Any] = {
    "id": CRAWL_ID,
    "state": "finished",
    "start_urls": ["https://example.com/"],
    "started_at": "2026-11-21T10:00:00.000+00:00",
    "finished_at": "2026-11-21T10:00:01.500+00:00",
    "seconds": 1.5,
    "elapsed_seconds": 1.5,
    "ended": "complete_with_errors",
    "ended_message": "Complete, but 1 page returned no usable response.",
    "limits": {},
    "discovered": 120,
    "fetched": 118,
    "failed": 1,
    "skipped": {"robots": 1},
    "cancelled": 0,
    "statuses": {"200": 117, "404": 1},
    "requests": 121,
    "bytes": 1_600_000,
    "retries": 2,
    "notifications": [],
    "hints": [
        {
            "hint": "sitemap",
            "pages": 108,
            "of": 118,
            "example": "https://example.com/offers/",
            "message": "No link leads to 108 of 118 pages; only a sitemap names them.",
            "remedy": "Look at the orphans: link them, or take them out of the sitemap.",
        }
    ],
    "list": None,
}

CRAWL_LINE_EXAMPLE: dict[str, Any] = {
    "id": CRAWL_ID,
    "state": "finished",
    "site": "example.com",
    "start_urls": ["https://example.com/"],
    "created_at": "2026-11-21T10:00:00Z",
    "finished_at": "2026-11-21T10:00:01.500Z",
    "ended": "complete_with_errors",
    "discovered": 120,
    "closed": 120,
    "url": f"{ROOT}/{CRAWL_ID}",
}

CRAWL_EXAMPLE: dict[str, Any] = {
    **CRAWL_LINE_EXAMPLE,
    "owner": "ann",
    "source": "",
    "round": 1,
    "previous": None,
    "schedule": None,
    "group": None,
    "group_controls": False,
    "keep": False,
    "deleted_on": None,
    "held": "",
    "list_report": None,
    "options": {"max_pages": 500, "max_depth": None, "subdomains": False},
    "sends": [],
    "progress": {
        "discovered": 120,
        "closed": 120,
        "open": 0,
        "done": 120,
        "total": 120,
        "at_most": False,
        "percent": 100,
        "rate": None,
        "eta": None,
    },
    "receipt": RECEIPT_EXAMPLE,
    "links": {"self": f"{ROOT}/{CRAWL_ID}", "pages": f"{ROOT}/{CRAWL_ID}/pages"},
}

START_EXAMPLE: dict[str, Any] = {"start_urls": ["https://example.com/"], "max_pages": 500, "exclude": ["/private/"]}


def state_change_example(action: Action) -> dict[str, Any]:
    state = State.RUNNING if action is FINISH else action.target  # until no page is open
    return {"id": CRAWL_ID, "state": str(state), "moved": True, "message": action.done}


WHY_EXAMPLE: dict[str, Any] = dict.fromkeys(Why.model_fields) | {
    "id": CRAWL_ID,
    "site": "example.com",
    "state": "running",
    "at": "2026-11-21T10:00:00Z",
    "sentences": ["2 pages are open: 1 host is to be asked again in 8 s."],
    "open": {"count": 2, "shown": []},
    "redis": {"answers": False, "error": "Redis does not respond."},
    "ends": {"deadline_in": None, "next_expiry_in": None, "put_off_pages_close_in": None},
    "disagreements": {"count": 0, "newest": []},
}


class TrapDetail(Schema):
    """An endless series of pages that was quarantined."""

    id: int
    reason: str
    evidence: str = Field(description="The evidence for the trap; empty if the reason is sufficient.")
    pattern: str
    pages: int = Field(description="Pages of this pattern that were accepted.")
    quarantined: int = Field(description="Pages that were quarantined.")
    left_out: int = Field(description="Further links, without a row.")
    released: bool
    examples: list[str]


class Traps(Schema):
    items: list[TrapDetail]


class Release(Schema):
    """Which traps to release."""

    model_config = ConfigDict(extra="forbid")

    traps: list[RowId] | None = Field(None, max_length=1000, description="Their ids; leave out for all.")


class TrapRelease(Schema):
    traps: int
    pages: int = Field(description="That are open now.")
    left_out: int = Field(description="Links without a row, which are not released.")
    message: str


def trap_of(caught: TrapReport) -> dict[str, Any]:
    examples = [page.url for page in caught.examples]
    return fields_of(TrapDetail, caught.trap, evidence=caught.evidence, examples=examples)


TRAP_EXAMPLE: dict[str, Any] = {
    "id": 3,
    "reason": "silent",
    "evidence": "Its last 300 pages repeated the content of 1,450 others.",
    "pattern": "example.com/calendar/*/*",
    "pages": 24,
    "quarantined": 200,
    "left_out": 1204,
    "released": False,
    "examples": ["https://example.com/calendar/2031/07"],
}
