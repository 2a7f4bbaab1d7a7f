"""What running crawls could request soon, by host: two round trips for all of them, a bounded number of commands."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import ResponseError

from crawler.core.politeness.scaling import Steady
from crawler.core.protocol import retries
from crawler.frontier.keys import SCALE, CrawlKeys

MAX_LANES = 512  # lanes (`core.protocol.retries`) read one by one, over all crawls
MAX_LANES_PER_CRAWL, MIN_LANES_PER_CRAWL = 128, 4
COMMANDS_PER_CRAWL, COMMANDS_PER_LANE = 10, 4
FIGURE_TTL_S = 300  # the figure shown is forgotten when nothing has asked for it for so long


@dataclass(frozen=True)
class LaneLoad:
    """A host with pages of one crawl, or a lane of it."""

    lane: str
    pages: int  # that are queued and due by the horizon
    slices: int  # handed out and not complete; each uses a connection
    pages_out: int  # in those slices, about
    is_unresponsive: bool  # the host has not responded lately

    @property
    def host(self) -> str:
        return retries.host_of(self.lane)

    @property
    def is_of_suspects(self) -> bool:
        return retries.batch_size(self.lane) is not None


@dataclass(frozen=True)
class CrawlLoad:
    """What one crawl could do."""

    crawl: str
    lanes: Sequence[LaneLoad]  # those with the most slices left, and those being fetched
    other_lanes: int  # that have due pages or are being fetched beyond these; at least one page each
    other_pages: int | None  # that wait in these, about; None = it is not known
    needs_tick: bool  # its manager has something to do, or is at work


def read_workload(redis: Redis, crawls: Sequence[str], now: float, horizon: float, suffix: str = "") -> list[CrawlLoad]:
    """The load of these crawls in their base lane, or in the slot lane with this suffix. `now` and `horizon` in epoch
    seconds: pages that may not be requested before `horizon` are left out.

    Of each crawl the largest lanes are read one by one, MAX_LANES at most over all crawls (but MIN_LANES_PER_CRAWL of
    each); the others are counted only.
    """
    if not crawls:
        return []
    per_crawl = max(MIN_LANES_PER_CRAWL, min(MAX_LANES_PER_CRAWL, MAX_LANES // len(crawls)))
    outlines = _outlines(redis, crawls, now, horizon, per_crawl, suffix)
    with redis.pipeline(transaction=False) as pipe:
        for outline in outlines:
            _ask_lanes(pipe, outline, horizon)
        answers = iter(pipe.execute())
    return [_load(outline, answers, horizon) for outline in outlines]


@dataclass(frozen=True)
class _Outline:
    """The first look at a crawl."""

    keys: CrawlKeys
    suffix: str  # of the slot lane that its lanes belong to; "" = the base lane
    lanes: Sequence[str]  # to be read one by one
    slices: dict[str, int]  # lane -> slices handed out; of all lanes
    pages_a_slice: float  # on average
    due_lanes: int  # that may give a slice by the horizon
    waiting: int | None  # pages of all lanes; None = it is not known
    needs_tick: bool


def _outlines(
    redis: Redis, crawls: Sequence[str], now: float, horizon: float, at_most: int, suffix: str
) -> list[_Outline]:
    keys_of = [CrawlKeys(crawl) for crawl in crawls]
    with redis.pipeline(transaction=False) as pipe:
        for keys in keys_of:
            kind = keys.of_suffix(suffix)
            pipe.zrevrange(kind.weights, 0, at_most - 1)
            pipe.hgetall(keys.active)  # as long as the list of slices handed out
            pipe.zcount(kind.hosts, "-inf", horizon)
            pipe.exists(*(lane.hosts for lane in keys.of_suffixes()))
            pipe.exists(keys.cursor)
            pipe.exists(*(name for each in keys.of_all_collectors() for name in (each.mark, each.lock, each.results)))
            pipe.zcard(keys.leases)
            pipe.zcount(keys.leases, "-inf", now)
            pipe.scard(keys.taken)
            pipe.get(kind.waiting)
        answers = iter(pipe.execute())
    return [_outline(keys, list(islice(answers, COMMANDS_PER_CRAWL)), at_most, suffix) for keys in keys_of]


def _outline(keys: CrawlKeys, answers: Sequence[Any], at_most: int, suffix: str) -> _Outline:
    heaviest, active, due_lanes, has_lanes, has_cursor, in_tick, leases, overdue, taken, waiting = answers
    names = {lane.decode(): int(number) for lane, number in active.items()}
    slices = {lane: number for lane, number in names.items() if retries.suffix_of(lane) == suffix}
    return _Outline(
        keys=keys,
        suffix=suffix,
        lanes=list(dict.fromkeys([*list(slices)[:at_most], *(lane.decode() for lane in heaviest)]))[:at_most],
        slices=slices,
        pages_a_slice=1.0 if suffix else taken / max(1, sum(slices.values())),  # a slot is one page's
        due_lanes=due_lanes,
        waiting=int(waiting) if waiting is not None else None,
        needs_tick=bool(in_tick or overdue or not has_cursor or not (has_lanes or leases)),
    )


def _ask_lanes(pipe: Pipeline, outline: _Outline, horizon: float) -> None:
    keys = outline.keys
    for lane in outline.lanes:
        pipe.zcount(keys.queue(lane), "-inf", horizon)
        pipe.zscore(keys.of_suffix(outline.suffix).hosts, lane)
        pipe.hget(keys.rest, lane)
        pipe.hget(keys.silent, retries.host_of(lane))


def _load(outline: _Outline, answers: Iterator[Any], horizon: float) -> CrawlLoad:
    lanes, due_here, out_and_due, other_pages = [], 0, 0, outline.waiting
    for lane in outline.lanes:
        due, next_at, rest, silent = cast(
            tuple[int, float | None, bytes | None, bytes | None], islice(answers, COMMANDS_PER_LANE)
        )
        is_due = next_at is not None and next_at <= horizon
        due_here += is_due
        out_and_due += is_due and lane in outline.slices
        other_pages = max(0, other_pages - due) if other_pages is not None else None
        is_resting = float(rest or 0) > horizon
        slices = outline.slices.get(lane, 0)
        pages_out = math.ceil(slices * outline.pages_a_slice)
        lanes.append(LaneLoad(lane, 0 if is_resting else due, slices, pages_out, silent is not None))
    others = outline.slices.keys() - set(outline.lanes)
    both_here = out_and_due / max(1, sum(lane.slices > 0 for lane in lanes))  # and so of the others
    return CrawlLoad(
        crawl=outline.keys.crawl,
        lanes=[lane for lane in lanes if lane.pages or lane.slices],
        other_lanes=max(0, outline.due_lanes - due_here - round(both_here * len(others))) + len(others),
        other_pages=other_pages,
        needs_tick=outline.needs_tick,
    )


# The figures that were shown last, so that they do not flap whichever process is asked: the key SCALE has the number of
# workers, `lane_scale` that of the workers of a slot lane.


@dataclass(frozen=True)
class ShownFigure:
    steady: Steady
    at: float  # epoch seconds


def shown_figure(redis: Redis, key: str = SCALE) -> ShownFigure | None:
    """None when there is none, or another version stored it."""
    raw = cast(bytes | None, redis.get(key))
    try:
        wanted, lower_since, highest, at = json.loads(raw or b"null")
    except (TypeError, ValueError):
        return None
    return ShownFigure(Steady(wanted, lower_since, highest), at)


def restore_figure(redis: Redis, before: ShownFigure) -> None:
    """Redis has lost its data, and what crawls can do is found out again: until then the figure is the one before. One
    that was found meanwhile counts if it is higher."""
    found = shown_figure(redis)
    if found is None or found.steady.wanted < before.steady.wanted:
        store_figure(redis, before)


def store_figure(redis: Redis, figure: ShownFigure, key: str = SCALE) -> None:
    """Of two concurrent calls one may be lost: the next corrects that. A full Redis refuses it, and the figure is shown
    as it is."""
    steady = figure.steady
    with suppress(ResponseError):
        redis.set(key, json.dumps([steady.wanted, steady.lower_since, steady.highest, figure.at]), ex=FIGURE_TTL_S)
