"""What a run left behind: in the table, in Redis, at the site and at the receiver of notices."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import redis

from crawler.capabilities.browser.lanes import RENDER
from crawler.core.pages.outcomes import Category, Outcome
from crawler.frontier.slots import LaneSlots
from tools.chaos.browser_processes import orphans
from tools.chaos.hooked import CALLED, HANG, strikes_in
from tools.chaos.members import MembersSite
from tools.chaos.memory import Memory
from tools.chaos.processes import BROWSER_PLACES, Role, children_of
from tools.chaos.scene import Clocked, Scene, Struck
from tools.chaos.user import User

ASKED = (Category.FETCHED, Category.FAILED)

Page = tuple[str, int | None]
"""Outcome ("" while open) and HTTP status."""

Shown = tuple[str, str]
"""Why a page was rendered in a browser, and its title there."""


@dataclass(frozen=True)
class Closing:
    """A page's status changed. `new` is None when the row was deleted."""

    url: str
    old: int
    new: int | None


@dataclass(frozen=True)
class Finish:
    """The crawl's state changed, while so many pages were open and so many known."""

    old: str
    new: str
    open: int
    pages: int


@dataclass(frozen=True)
class Counts:
    """The crawl row's counters, or the rows counted by us."""

    discovered: int
    outcomes: Mapping[str, int]
    statuses: Mapping[str, int]


@dataclass(frozen=True)
class Evidence:
    state: str
    pages: Mapping[str, Page]
    closings: Sequence[Closing]
    finishes: Sequence[Finish]
    counters: Counts
    disagreements: Sequence[str]
    notices: int
    received: Sequence[str]  # ids of the deliveries that arrived, in order
    receipt: Mapping[str, Any]
    left_in_redis: Sequence[str]  # keys of the crawl
    left_in_queues: Sequence[str]  # ids of jobs
    left_working: Sequence[str]  # names of workers
    hits: Mapping[str, int]  # path -> requests
    deaths: Mapping[str, int]  # path -> workers that died over this page, in the table's eyes
    struck: Sequence[Struck]
    crew: Sequence[Role]
    seconds: float
    refetches: Sequence[float]  # seconds from a worker's death to its pages' next requests
    revivals: Sequence[float]  # seconds from the start of one worker to the first request
    announced: float | None  # seconds from the last closing to the notice, where nothing was being disturbed
    shown: Mapping[str, Shown] = field(default_factory=dict)  # URL -> of pages that were rendered
    places: int = BROWSER_PLACES  # of each browser worker
    titles: Mapping[str, str] = field(default_factory=dict)  # URL -> as stored
    logins: int = 0  # times that the form was sent
    knocks: int = 0  # connections to the address that no page may reach
    rounds: int = 1
    user: User | None = None  # who uses the crawl as a queue; else no page is opened again
    hook_strikes: Mapping[str, int] = field(default_factory=dict)  # what hooks did to their processes -> times
    not_called: Sequence[str] = ()  # calls of hooks that were not made

    @property
    def opened(self) -> Counter[str]:
        """Path -> times it was opened again."""
        return Counter(urlsplit(closing.url).path for closing in self.closings if closing.new == 0)

    @property
    def hook_kills(self) -> int:
        """Processes that a hook has killed."""
        return sum(times for what, times in self.hook_strikes.items() if what != HANG)

    @property
    def left_out(self) -> int:
        """Pages that a pattern closed."""
        return sum(outcome == "excluded" for outcome, _ in self.pages.values())

    @property
    def lost(self) -> set[str]:
        """Paths of the pages that were lost with their workers, in a crawl that acknowledges early."""
        return {urlsplit(url).path for url, (outcome, _) in self.pages.items() if outcome == "lost"}


def collect(scene: Scene, seconds: float, calm: float) -> Evidence:
    """`calm`: seconds without disturbance before the last page closed, for the time of the notice to count."""
    of_crawl = scene.crawl.hex
    rows = scene.database.rows(
        "SELECT url, outcome, http_status, deaths, rendering, title FROM crawler_page WHERE crawl_id = ?", of_crawl
    )
    crawl = scene.database.rows("SELECT * FROM crawler_crawl WHERE id = ?", of_crawl)[0]
    told = scene.database.rows(
        "SELECT receipt FROM crawler_notice WHERE crawl_id = ? AND event <> 'crawl.page' ORDER BY round", of_crawl
    )
    closings = scene.database.rows("SELECT url, old, new FROM chaos_page ORDER BY rowid")
    finishes = scene.database.rows("SELECT old, new, open, pages FROM chaos_crawl ORDER BY rowid")
    return Evidence(
        state=crawl["state"],
        pages={row["url"]: (row["outcome"], row["http_status"]) for row in rows},
        closings=[Closing(**row) for row in closings],
        finishes=[Finish(**row) for row in finishes],
        counters=Counts(crawl["discovered"], json.loads(crawl["outcomes"]), json.loads(crawl["statuses"])),
        disagreements=[row["what"] for row in scene.database.rows("SELECT what FROM crawler_disagreement")],
        notices=len(told),
        received=[received.id for received in scene.site.received],
        receipt=json.loads(told[-1]["receipt"]) if told else {},
        left_in_redis=left_in_redis(scene.memory, scene.crawl),
        left_in_queues=left_in_queues(scene.memory),
        left_working=[*left_working(scene), *orphans()],
        hits=scene.site.hits,
        deaths={urlsplit(row["url"]).path: row["deaths"] for row in rows if row["deaths"]},
        struck=tuple(scene.struck),
        crew=tuple(place.role for place in scene.crew.workers(Role.STOCK, Role.OWN, Role.BROWSER, Role.SCRAPY)),
        seconds=seconds,
        refetches=_times(scene, Clocked.REFETCH),
        revivals=_times(scene, Clocked.REVIVAL),
        announced=_announced(scene, calm),
        shown={row["url"]: (row["rendering"], row["title"]) for row in rows if row["rendering"]},
        places=scene.places,
        titles={row["url"]: row["title"] for row in rows},
        logins=scene.site.members.logins if isinstance(scene.site, MembersSite) else 0,
        knocks=len(scene.canary.knocks) if scene.canary else 0,
        rounds=crawl["round"],
        user=scene.user,
        hook_strikes=strikes_in(scene.hooks),
        not_called=not_called(scene) if scene.user else (),
    )


def rounds(scene: Scene) -> int:
    return int(scene.database.rows("SELECT round FROM crawler_crawl WHERE id = ?", scene.crawl.hex)[0]["round"])


def not_called(scene: Scene) -> list[str]:
    """What hooks were not told of: each page that was requested, and the end of each round."""
    noted = set((scene.hooks / CALLED).read_text().splitlines()) if (scene.hooks / CALLED).exists() else set()
    rows = scene.database.rows("SELECT url, outcome FROM crawler_page WHERE crawl_id = ?", scene.crawl.hex)
    asked = [row["url"] for row in rows if row["outcome"] and Outcome(row["outcome"]).category in ASKED]
    wanted = {f"closed {urlsplit(url).path}" for url in asked}
    return sorted((wanted | {f"finished {number}" for number in range(1, rounds(scene) + 1)}) - noted)


def are_pending(scene: Scene) -> bool:
    """Whether calls of hooks are to be made once more: a worker that a hook has killed may have noted nothing."""
    return bool(scene.database.rows("SELECT id FROM crawler_delivery WHERE state = 'pending' LIMIT 1"))


def nothing_left(scene: Scene) -> bool:
    in_redis = left_in_redis(scene.memory, scene.crawl) or left_in_queues(scene.memory)
    return not (in_redis or left_working(scene) or orphans())


def left_in_redis(memory: Memory, crawl: UUID) -> list[str]:
    """Keys of the crawl. Those that end by themselves (its dead letters, a note that it was deleted) may stay."""
    try:
        taken = LaneSlots(memory.client, RENDER).taken()
        return [*memory.keys(f"crawler:{crawl}:*"), *([f"{taken} places of browser workers"] if taken else [])]
    except redis.RedisError as error:
        return [f"Redis does not answer: {error}"]


def left_in_queues(memory: Memory) -> list[str]:
    """Jobs that wait, and a lifeline that was planted for a crawl that is over. One that was at work when its worker
    was killed stays in RQ's registry for a while, as any job does."""
    try:
        at_work = {entry.partition(":")[0] for entry in memory.started("crawl") if not entry.endswith(":planted")}
        lifelines = {key.removeprefix("rq:job:") for key in memory.keys("rq:job:*lifeline*")}
        waiting = [job for queue in ("crawl", "fetch", "render", "scrapy") for job in memory.queued(queue)]
        return sorted({*waiting, *(lifelines - at_work)})
    except redis.RedisError as error:
        return [f"Redis does not answer: {error}"]


def left_working(scene: Scene) -> list[str]:
    """Workers that have not come to rest: dead, with a work-horse, or busy in RQ's eyes."""
    try:
        busy = scene.memory.at_work()
    except redis.RedisError:
        busy = {}
    return [
        place.name
        for place in scene.crew.workers()
        if place.pid is None or children_of(place.pid) or (place.role is Role.OWN and place.pid in busy)
    ] + [
        place.name for place in scene.crew.workers(Role.BROWSER, Role.SCRAPY) if place.pid is None or place.pid in busy
    ]


def _times(scene: Scene, what: Clocked) -> list[float]:
    return [watch.seconds for watch in scene.stopwatches if watch.what is what and watch.seconds is not None]


def _announced(scene: Scene, calm: float) -> float | None:
    closed = scene.database.rows("SELECT MAX(at) AS at FROM chaos_page WHERE new = 1")[0]["at"]
    if scene.user or closed is None or not scene.site.received or closed < scene.quiet_since + calm:
        return None
    return scene.site.received[0].at - float(closed)
