"""What a crawl left behind: in the table, in Redis, at the site and at the receiver of notices."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import redis

from crawler.capabilities.browser.lanes import RENDER
from crawler.frontier.slots import LaneSlots
from tools.chaos.redis_server import RedisServer

Page = tuple[str, int | None]
"""Outcome ("" while open) and HTTP status."""

Shown = tuple[str, str]
"""Why a page was rendered in a browser, and its title there."""

Rows = Callable[..., list[dict[str, Any]]]
"""The rows that a query with "?" finds."""


@dataclass(frozen=True)
class Closing:
    """A page's status changed. `new` is None when the row was deleted."""

    url: str
    old: int
    new: int | None
    at: float = 0.0  # epoch seconds


@dataclass(frozen=True)
class Finish:
    """The crawl's state changed, while so many pages were open and so many known."""

    old: str
    new: str
    open: int
    pages: int
    at: float = 0.0  # epoch seconds


@dataclass(frozen=True)
class Counts:
    """The crawl row's counters, or the rows counted by us."""

    discovered: int
    outcomes: Mapping[str, int]
    statuses: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What both scenes know of a crawl."""

    state: str
    pages: Mapping[str, Page]
    closings: Sequence[Closing]
    finishes: Sequence[Finish]
    counters: Counts
    disagreements: Sequence[str]
    notices: int
    receipt: Mapping[str, Any]
    rounds: int
    deaths: Mapping[str, int]  # path -> workers that died over this page, in the table's eyes
    titles: Mapping[str, str]  # URL -> as stored
    shown: Mapping[str, Shown]  # URL -> of pages that were rendered
    received: Sequence[str]  # ids of the deliveries that arrived, in order
    left_in_redis: Sequence[str]  # keys of the crawl
    left_in_queues: Sequence[str]  # ids of jobs
    hits: Mapping[str, int]  # path -> requests

    @property
    def opened(self) -> Counter[str]:
        """Path -> times it was opened again."""
        return Counter(urlsplit(closing.url).path for closing in self.closings if closing.new == 0)

    @property
    def lost(self) -> set[str]:
        """Paths of the pages that were lost with their workers, in a crawl that acknowledges early."""
        return {urlsplit(url).path for url, (outcome, _) in self.pages.items() if outcome == "lost"}


def recorded(rows: Rows, crawl: UUID) -> dict[str, Any]:
    """The fields of `Evidence` that the database has."""
    row = rows("SELECT * FROM crawler_crawl WHERE id = ?", crawl)[0]
    pages = rows(
        "SELECT url, outcome, http_status, deaths, rendering, title FROM crawler_page WHERE crawl_id = ?", crawl
    )
    told = rows("SELECT receipt FROM crawler_notice WHERE crawl_id = ? AND event <> 'crawl.page' ORDER BY round", crawl)
    closings = rows("SELECT url, old, new, at FROM chaos_page WHERE crawl = ? ORDER BY id", crawl)
    finishes = rows("SELECT old, new, open, pages, at FROM chaos_crawl WHERE crawl = ? ORDER BY id", crawl)
    disagreements = rows("SELECT what FROM crawler_disagreement WHERE crawl_id = ?", crawl)
    return {
        "state": row["state"],
        "pages": {page["url"]: (page["outcome"], page["http_status"]) for page in pages},
        "closings": [Closing(**closing) for closing in closings],
        "finishes": [Finish(**finish) for finish in finishes],
        "counters": Counts(row["discovered"], _plain(row["outcomes"]), _plain(row["statuses"])),
        "disagreements": [found["what"] for found in disagreements],
        "notices": len(told),
        "receipt": _plain(told[-1]["receipt"]) if told else {},
        "rounds": row["round"],
        "deaths": {urlsplit(page["url"]).path: page["deaths"] for page in pages if page["deaths"]},
        "titles": {page["url"]: page["title"] for page in pages},
        "shown": {page["url"]: (page["rendering"], page["title"]) for page in pages if page["rendering"]},
    }


def _plain(value: Any) -> Any:
    """SQLite keeps JSON as text."""
    return json.loads(value) if isinstance(value, str) else value


def left_in_redis(server: RedisServer, crawl: UUID) -> list[str]:
    """Keys of the crawl. Those that end by themselves (its dead letters, a note that it was deleted) may stay."""
    try:
        taken = LaneSlots(server.client, RENDER).taken()
        return [*server.keys(f"crawler:{crawl}:*"), *([f"{taken} places of browser workers"] if taken else [])]
    except redis.RedisError as error:
        return [f"Redis does not respond: {error}"]


def left_in_queues(server: RedisServer, *, without_power: bool = False) -> list[str]:
    """Jobs that wait, and lifelines of a crawl that is over. One that was at work when its worker was killed stays in
    RQ's registry for a while, as any job does. `without_power`: a job whose worker lost its power stays known to RQ for
    a day, as a failed one or in no list at all: it wakes nobody, as a lifeline does that is still planted."""
    try:
        started = [entry.split(":") for entry in server.started("crawl")]
        lifelines = {job for job, execution in started if execution == "planted"}
        if not without_power:
            at_work = {job for job, execution in started if execution != "planted"}
            lifelines = {key.removeprefix("rq:job:") for key in server.keys("rq:job:*lifeline*")} - at_work
        waiting = [job for queue in ("crawl", "fetch", "render", "scrapy") for job in server.queued(queue)]
        return sorted({*waiting, *lifelines})
    except redis.RedisError as error:
        return [f"Redis does not respond: {error}"]
