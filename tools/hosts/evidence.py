"""What a run left behind: for each crawl the evidence of `tools.chaos`, and what several hosts add to it."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import redis

from tools.chaos.evidence import Closing, Counts, Evidence, Finish, left_in_redis
from tools.chaos.expected import Expected
from tools.chaos.memory import Memory
from tools.hosts.scene import Fault, Running, Scene
from tools.hosts.site import gaps, most_at_once
from tools.hosts.workers import Sample

CRASHED = "crashed"
SLOT_SECONDS = 10.0  # after which a connection that is in use has been entered again, or has ended


@dataclass(frozen=True)
class Crawled:
    """One crawl. Moments are epoch seconds by the clock of the database's host or of the site."""

    id: str
    evidence: Evidence
    expected: Expected
    stuck: float  # seconds, the longest time without a page or the end, beyond what excuses it
    crashed: int  # pages
    deaths: int  # of workers, that were counted against pages
    off: float  # seconds, the largest difference between a moment on the crawl's rows and the real one
    delivered: int  # deliveries of its notice that arrived


@dataclass(frozen=True)
class Run:
    """All of it."""

    crawls: Sequence[Crawled]
    faults: Sequence[Fault]
    measured: dict[str, float]
    shortest_gap: float  # seconds between two requests to one host
    most_at_once: int  # requests to one host
    most_when_known: int  # the same, but for the moments at which Redis had lost the connections in use
    seconds: float
    samples: Sequence[Sample] = ()  # of workers


def collect(scene: Scene, seconds: float) -> Run:
    visits = [site.visits for site in scene.sites]
    return Run(
        crawls=[_crawled(scene, crawl) for crawl in scene.crawls],
        faults=tuple(scene.faults),
        measured=dict(scene.measured),
        shortest_gap=min((gap for visited in visits for gap in gaps(visited)), default=0.0),
        most_at_once=max(most_at_once(visited) for visited in visits),
        most_when_known=max(most_at_once(visited, _forgotten(scene.faults)) for visited in visits),
        seconds=seconds,
        samples=tuple(scene.samples),
    )


def left_jobs(memory: Memory) -> list[str]:
    """Jobs that wait, and a lifeline that is still planted. A job whose worker lost its power stays known to RQ for a
    day, as a failed one or in no list at all: it wakes nobody."""
    try:
        planted = [entry.partition(":")[0] for entry in memory.started("crawl") if entry.endswith(":planted")]
        return sorted({*memory.queued("crawl"), *memory.queued("fetch"), *planted})
    except redis.RedisError as error:
        return [f"Redis does not answer: {error}"]


def stillness(moments: Sequence[float], excused: Sequence[tuple[float, float]]) -> float:
    """The longest time between one of these moments and the next, in seconds, without the parts of it that lie within
    an excuse."""

    def beyond(began: float, ended: float) -> float:
        covered, reached = 0.0, began
        for start, end in sorted(excused):
            start, end = max(start, reached), min(end, ended)  # noqa: PLW2901 (the part of it that is new)
            if end > start:
                covered += end - start
                reached = end
        return ended - began - covered

    return max((beyond(one, next_one) for one, next_one in itertools.pairwise(sorted(moments))), default=0.0)


def excuses(faults: Sequence[Fault]) -> list[tuple[float, float]]:
    """When nobody could do anything."""
    return [(fault.began, fault.ended) for fault in faults if fault.excuses]


def _forgotten(faults: Sequence[Fault]) -> list[tuple[float, float]]:
    """When Redis did not know all connections in use; see "Hosts and politeness" in docs/protocol.md."""
    return [(fault.began, fault.ended + SLOT_SECONDS) for fault in faults if fault.kind == "redis-lost"]


def _crawled(scene: Scene, crawl: Running) -> Crawled:
    def rows(query: str) -> list[dict[str, Any]]:
        return scene.postgresql.rows(query, crawl.id)

    row = rows(
        """SELECT *, extract(epoch FROM created_at)::float AS began, extract(epoch FROM finished_at)::float AS ended
        FROM crawler_crawl WHERE id = %s"""
    )[0]
    pages = rows("SELECT url, outcome, http_status, deaths FROM crawler_page WHERE crawl_id = %s")
    closings = rows("SELECT url, old, new, at FROM chaos_page WHERE crawl = %s ORDER BY id")
    finishes = rows("SELECT old, new, open, pages, at FROM chaos_crawl WHERE crawl = %s ORDER BY id")
    notices = rows("SELECT receipt FROM crawler_notice WHERE crawl_id = %s")
    told = [delivery for site in scene.sites for of, delivery in site.told if of == str(crawl.id)]
    shared = len(scene.sites) == 1
    evidence = Evidence(
        state=row["state"],
        pages={page["url"]: (page["outcome"], page["http_status"]) for page in pages},
        closings=[Closing(found["url"], found["old"], found["new"]) for found in closings],
        finishes=[Finish(found["old"], found["new"], found["open"], found["pages"]) for found in finishes],
        counters=Counts(row["discovered"], row["outcomes"], row["statuses"]),
        disagreements=[found["what"] for found in rows("SELECT what FROM crawler_disagreement WHERE crawl_id = %s")],
        notices=len(notices),
        received=told,
        receipt=notices[0]["receipt"] if notices else {},
        left_in_redis=left_in_redis(scene.redis, crawl.id),
        left_in_queues=left_jobs(scene.redis) if scene.over else [],
        left_working=[],
        hits=Counter() if shared else crawl.site.hits,
        deaths={},  # told below, for both crawls of a shared site as well
        struck=[],
        crew=[],
        seconds=0.0,
        refetches=[],
        revivals=[],
        announced=None,
    )
    ended = [found["at"] for found in finishes]
    last = [] if ended else [time.time()]
    excused = excuses(scene.faults)
    return Crawled(
        id=str(crawl.id),
        evidence=evidence,
        expected=crawl.expected,
        stuck=stillness([crawl.began, *(found["at"] for found in closings), *ended, *last], excused),
        crashed=sum(page["outcome"] == CRASHED for page in pages),
        deaths=sum(page["deaths"] for page in pages),
        off=_off(scene, crawl, row, ended),
        delivered=len(told),
    )


def _off(scene: Scene, crawl: Running, row: dict[str, Any], ended: Sequence[float]) -> float:
    """How far the times that people are shown lie from when it was."""
    query = """SELECT extract(epoch FROM min(fetched_at))::float AS first, extract(epoch FROM max(fetched_at))::float
        AS last FROM crawler_page WHERE crawl_id = %s"""
    fetched = scene.postgresql.rows(query, crawl.id)[0]
    last = ended[-1] if ended else crawl.began
    early = [crawl.began - moment for moment in (row["began"], fetched["first"]) if moment is not None]
    late = [fetched["last"] - last] if ended and fetched["last"] is not None else []
    end = [abs(row["ended"] - last)] if ended and row["ended"] is not None else []
    return max(0.0, *early, *late, *end)
