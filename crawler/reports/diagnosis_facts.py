"""The facts that `reports.explanation` explains, from the database and Redis.

Read-only and bounded for any crawl: a few rows by index, and the dispatched batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec
from django.db.models import QuerySet
from msgspec.structs import replace
from redis import Redis, RedisError

from crawler import encryption
from crawler.clock import Clock
from crawler.core.errors import SealBroken, ServiceDown, first_line
from crawler.core.installation.backpressure import Memory, Shortage, concerns
from crawler.core.pages.outcomes import Outcome
from crawler.core.politeness.host_rules import (
    BLOCKING_REASONS,
    ConnectionUse,
    HostTiming,
    HostWait,
    WaitReason,
    chosen_delay,
    host_delay,
    wait_reason,
)
from crawler.core.protocol import retries
from crawler.core.protocol.completion import State
from crawler.core.protocol.diagnosis import Facts, HandedOut, Hold, Manager, hold_of, manager_of
from crawler.core.protocol.holds import HoldReason, hold_reason, needs_person
from crawler.core.protocol.lanes import SlotLane, base_lane, chosen_slot_lanes
from crawler.core.text.quantities import duration
from crawler.core.urls.normalise import origin_of, origins_of
from crawler.frontier import capacity
from crawler.frontier.autoscalers import has_autoscaler
from crawler.frontier.frontier import Frontier
from crawler.frontier.inspect import HostSnapshot, LaneSnapshot, Snapshot, take_snapshot
from crawler.frontier.keys import CrawlKeys
from crawler.frontier.leases import LEASE_TTL_S, Lease
from crawler.frontier.proxy_health import ProxyHealth
from crawler.frontier.ready_queue import JOB_CHECK_INTERVAL_S
from crawler.frontier.results import LOCK_TTL_S
from crawler.frontier.robots import RobotsCache
from crawler.models import Crawl, Page
from crawler.queueing import queues
from crawler.queueing.workers import listeners, slots_of
from crawler.reports.cause_text import hold_message, waits_for
from crawler.storage import queries
from crawler.storage.database import silent_lock


class HoldCause(msgspec.Struct, frozen=True):
    """What holds a crawl."""

    why: str = ""  # as users read it; "" = nothing holds it, or a user paused it
    reason: HoldReason = HoldReason.USER
    needs_person: bool = False


def held_because(crawl: Crawl, now: float) -> str:
    """The reason as users read it; "" when nothing holds the crawl, or a user paused it."""
    return held(crawl, now).why


def held(crawl: Crawl, now: float) -> HoldCause:
    """What holds a crawl, running or paused."""
    state = State(crawl.state)
    if state not in {State.RUNNING, State.PAUSED}:
        return HoldCause()
    short, until = shortage_for(crawl), crawl.held_until
    if state is State.RUNNING:
        if short is None:
            return HoldCause()
        return HoldCause(waits_for(short), HoldReason.CAPACITY, needs_person(HoldReason.CAPACITY, short))
    has_credentials = encryption.is_readable(crawl.sealed) or not crawl.tallies.open
    reason = hold_reason(until, short, now, has_credentials=has_credentials, pause_reason=crawl.pause_reason)
    ends = f"on {until.day} {until:%b %Y, %H:%M} UTC" if until else ""
    return HoldCause(hold_message(reason, short, ends, crawl.pause_reason), reason, needs_person(reason, short))


def shortage_for(crawl: Crawl) -> Shortage | None:
    """The resources that are short for this crawl, as far as Redis knows."""
    try:
        short = capacity.shortage(queues.connection(), held=crawl.held_until is not None)
    except (ServiceDown, RedisError):
        return None
    return short if short is not None and concerns(short, keeps=bool(crawl.chosen.keep)) else None


# The cached robots.txt files of the start URLs.

MAX_LISTED = 20  # origins, open pages, and hosts that wait


def robots_cache_of(redis: Redis, crawl: Crawl) -> RobotsCache:
    """The cache of robots.txt files of a crawl."""
    chosen = crawl.chosen
    return RobotsCache.of(
        redis,
        str(crawl.id),
        sealed=crawl.sealed,
        private_hosts=chosen.private_hosts,
        user_agent=chosen.user_agent,
        ignore_tls_errors=chosen.ignore_tls_errors,
    )


def robots_of(crawl: Crawl) -> list[dict[str, Any]] | None:
    """Each origin of the start URLs whose file was fetched recently: `origin`, `status` (None = not available),
    `oddity` (anything unusual; "" = nothing) and `error`. None when Redis does not respond."""
    if not crawl.chosen.obey_robots:
        return []
    origins = list(dict.fromkeys(map(origin_of, crawl.start_urls)))[:MAX_LISTED]
    try:
        memory = robots_cache_of(queues.connection(), crawl)
        memos = [(origin, memory.get(origin)) for origin in origins]
    except (ServiceDown, RedisError):
        return None
    return [
        {"origin": origin, "status": memo.status, "oddity": memo.oddity, "error": memo.error}
        for origin, memo in memos
        if memo is not None
    ]


def oddities(files: list[dict[str, Any]] | None) -> list[str]:
    """The oddities of `robots_of` as sentences."""
    return [f"{file['origin']}/robots.txt: {file['oddity']}." for file in files or () if file["oddity"]]


def proxies_left_out(crawl: Crawl, now: float) -> list[str]:
    """A sentence for each proxy of the crawl that cannot be connected to; by its number, as its address is secret."""
    if not crawl.sealed or State(crawl.state).is_over:
        return []
    try:
        number_of_all = len(encryption.opened(crawl.sealed).proxies)
        health = ProxyHealth(queues.connection(), CrawlKeys(str(crawl.id)), lambda: now)
        left_out = sorted(health.left_out().items())
    except (SealBroken, ServiceDown, RedisError):
        return []
    return [
        f"Proxy {number + 1} of {number_of_all} cannot be reached, and is skipped for {duration(until - now)}."
        for number, until in left_out
    ]


SHOWN_LATELY = 5  # pages given up
GIVEN_UP_WITHIN = 3600.0  # seconds
LATELY = 10.0  # seconds; recent activity shows that workers live although RQ lists none


class BatchState(msgspec.Struct, frozen=True):
    lease: Lease
    look_at: float  # epoch seconds of the next check
    hold: Hold
    open_ids: frozenset[int]  # of its pages, those that are open in the table
    back_in: float  # seconds

    @property
    def hosts(self) -> list[str]:
        return list(dict.fromkeys(retries.host_of(lane) for lane, _ in self.lease.slices.values()))

    @property
    def pages(self) -> int:
        return sum(len(ids) for _, ids in self.lease.slices.values())


class HostStatus(msgspec.Struct, frozen=True):
    seen: LaneSnapshot
    wait: HostWait


class RedisState(msgspec.Struct, frozen=True):
    """The state of a crawl in Redis."""

    snapshot: Snapshot
    queued: Mapping[str, set[str]]  # queue -> jobs
    workers: Mapping[str, int]  # queue -> workers
    batches: Sequence[BatchState]
    hosts: Sequence[HostStatus]
    held_up: Sequence[HostWait]  # the hosts of dispatched pages, if a worker must wait for each
    given_up: int
    newly_given_up: Sequence[tuple[int, float]]  # page, epoch seconds
    is_autoscaled: bool  # an autoscaler runs, which starts workers
    for_slots: Sequence[tuple[SlotLane, int, int]] = ()  # see `Facts`
    memory: Memory | None = None  # of Redis; None = not known

    @property
    def manager(self) -> Manager:
        mark, left = self.snapshot.mark, self.snapshot.lock_left
        is_fresh = mark is not None and mark.is_fresh(self.snapshot.now)
        is_queued = mark is not None and mark.job in self.queued[queues.CRAWL]
        silent_for = None if left is None else LOCK_TTL_S - left
        return manager_of(silent_for=silent_for, is_coming=is_fresh or is_queued)


def observe(crawl: Crawl, clock: Clock | None, visible: QuerySet[Crawl]) -> tuple[RedisState | None, str]:
    """The state in Redis; None and the error when it does not respond. Of the crawls that use a host's connections only
    `visible` ones are named."""
    try:
        frontier = Frontier(queues.connection(), str(crawl.id), clock=clock)
        return _looked(crawl, frontier, visible), ""
    except (ServiceDown, RedisError) as error:
        return None, first_line(error)


def _looked(crawl: Crawl, frontier: Frontier, visible: QuerySet[Crawl]) -> RedisState:
    batch_queues = queues.batch_queues()
    queued = {name: queues.queued(name) for name in (queues.CRAWL, *batch_queues)}
    seen = take_snapshot(frontier, MAX_LISTED)
    sent = {job for name in batch_queues for job in queued[name]}
    started = {job for name in batch_queues for job in queues.started(name)}
    batches = [_batch(crawl, lease, look_at, seen, sent, started) for lease, look_at in seen.leases]
    judge = _Judge(crawl, seen, frontier, visible)
    return RedisState(
        snapshot=seen,
        queued=queued,
        workers=listeners(queues.CRAWL, *batch_queues),
        batches=batches,
        hosts=_hosts(crawl, seen, judge),
        held_up=_held_up(batches, judge),
        given_up=frontier.dead_letters.count_since(seen.now - GIVEN_UP_WITHIN),
        newly_given_up=frontier.dead_letters.newest(SHOWN_LATELY),
        is_autoscaled=has_autoscaler(frontier.redis),
        for_slots=[
            (lane, frontier.ready_queue.counts(seen.now, lane.suffix).due, slots_of(lane, seen.now))
            for lane in chosen_slot_lanes(crawl.chosen)
        ],
        memory=capacity.memory_of(frontier.redis),
    )


def _batch(
    crawl: Crawl, lease: Lease, look_at: float, seen: Snapshot, queued: set[str], started: set[str]
) -> BatchState:
    look_in = look_at - seen.now
    missed_for = None if lease.absent_since is None else seen.now - lease.absent_since
    ids = [page for _, pages_of_slice in lease.slices.values() for page in pages_of_slice]
    return BatchState(
        lease=lease,
        look_at=look_at,
        hold=hold_of(
            held=lease.held,
            silent_for=LEASE_TTL_S - look_in,
            queued=lease.batch in queued,
            started=lease.batch in started,
            missed_for=missed_for,
            reports=seen.queue_side.results,
        ),
        open_ids=frozenset(queries.open_pages(crawl.id, ids)),
        back_in=look_in if missed_for is None else max(look_in, JOB_CHECK_INTERVAL_S - missed_for),
    )


def _hosts(crawl: Crawl, seen: Snapshot, judge: _Judge) -> list[HostStatus]:
    """When each host may be requested: by this crawl's queue or by the host limiter, whichever is later."""
    first_pages = [host.first_page for host in seen.hosts if host.first_page is not None]
    found = Page.objects.filter(crawl=crawl, id__in=first_pages).values_list("id", "error", "attempts")
    tried = {page: (error.rstrip("."), attempts) for page, error, attempts in found}
    judged = [
        HostStatus(
            lane,
            judge.wait(
                lane.host,
                lane.shared,
                pages=lane.pages,
                rest_in=lane.rest_until - seen.now,
                due_in=lane.first_due - seen.now,
                tried=tried.get(lane.first_page or 0, ("", 1)),
            ),
        )
        for lane in seen.hosts
    ]
    return sorted(judged, key=lambda host: host.wait.next_in)


def _held_up(batches: Sequence[BatchState], judge: _Judge) -> list[HostWait]:
    """The hosts of dispatched pages, if a worker must wait for each of them; none if it can request one."""
    pages = Counter[str]()
    for batch in batches:
        if batch.hold is Hold.FETCHING:
            for lane, ids in batch.lease.slices.values():
                if left := batch.open_ids.intersection(ids):
                    pages[retries.host_of(lane)] += len(left)
    seen = judge.seen.held_hosts
    if not pages.keys() <= seen.keys():
        return []  # too many to check each
    waits = [judge.wait(host, seen[host], pages=number) for host, number in pages.items()]
    return waits if all(judge.holds_up(wait) for wait in waits) else []


class _Judge:
    """Explains what a crawl waits for at a host, and which crawls use its connections."""

    def __init__(self, crawl: Crawl, seen: Snapshot, frontier: Frontier, visible: QuerySet[Crawl]) -> None:
        self._crawl, self._options, self.seen, self._visible = str(crawl.id), crawl.chosen, seen, visible
        self._robots, self._unresponsive = robots_cache_of(frontier.redis, crawl), frontier.unresponsive_hosts

    def wait(
        self,
        host: str,
        shared: HostSnapshot,
        *,
        pages: int,
        rest_in: float = 0,
        due_in: float = 0,
        tried: tuple[str, int] = ("", 1),
    ) -> HostWait:
        """`tried`: the last error of its first page, and the attempts."""
        trouble, attempts = tried
        options, manners, now = self._options, shared.state, self.seen.now
        others = [policy for crawl, policy in shared.policies.items() if crawl != self._crawl]
        fewest = min([options.concurrency, *(policy.connections for policy in others)])
        look = HostTiming(
            rest_in=rest_in,
            due_in=due_in,
            stop_in=manners.stop.until - now,
            probe_in=manners.probe_until - now,
            asked_ago=None if shared.asked_at is None else now - shared.asked_at,
            chosen=chosen_delay(options.delay, options.per_minute),
            crawl_delay=host_delay(0.0, manners.crawl_delay) if options.obey_robots else 0.0,
            throttle=manners.throttle.delay if options.throttle else 0.0,
            others=max((policy.delay for policy in others), default=0.0),
            connections=shared.connections,
            allowed=manners.throttle.allowed(fewest) if options.throttle else fewest,
            robots_asked=options.obey_robots and self._robots.is_being_fetched(origins_of(host)),
            robots_unreachable=due_in > 0 and self._lacks_robots(host),
            is_new=attempts == 0,
        )
        next_in, reason = wait_reason(look)
        return HostWait(
            host=host,
            pages=pages,
            next_in=next_in,
            reason=reason,
            trouble=trouble,
            delay=look.delay,
            until=manners.stop.until,
            status=manners.stop.status,
            used=self._used(shared.slots),
            allowed=look.allowed,
            wanted=options.concurrency,
            throttle=manners.throttle if options.throttle else None,
        )

    def _lacks_robots(self, host: str) -> bool:
        streak = self._unresponsive.get(host)
        return streak is not None and streak.outcome is Outcome.ROBOTS

    def holds_up(self, wait: HostWait) -> bool:
        """Whether a worker with pages of this host must wait."""
        has_one = any(used.crawl == self._crawl for used in wait.used)
        return wait.reason in BLOCKING_REASONS and not (wait.reason is WaitReason.BUSY and has_one)

    def _used(self, slots: Mapping[str, int]) -> list[ConnectionUse]:
        """The connections by crawl, this one last: it may wait for the others."""
        named = self._names.keys() & slots.keys()
        used = [ConnectionUse(f"crawl {crawl} ({self._names[crawl]})", slots[crawl], crawl) for crawl in sorted(named)]
        untold = [crawl for crawl in slots if crawl not in named and crawl != self._crawl]
        if untold:
            by = "another crawl" if len(untold) == 1 else "other crawls"
            used.append(ConnectionUse(by, sum(slots[one] for one in untold)))
        return used + ([ConnectionUse("this crawl", slots[self._crawl], self._crawl)] if slots.get(self._crawl) else [])

    @cached_property
    def _names(self) -> dict[str, str]:
        """The other crawls that use connections and may be named."""
        seen = [*(lane.shared for lane in self.seen.hosts), *self.seen.held_hosts.values()]
        ids = {crawl for host in seen for crawl in host.slots if crawl} - {self._crawl}
        return {str(crawl.id): crawl.site for crawl in self._visible.filter(pk__in=ids)} if ids else {}


def facts_of(crawl: Crawl, seen: RedisState | None, rows: int, now: float) -> Facts:
    """The number of open pages: `rows` found in the table, or beyond MAX_LISTED the crawl's counters."""
    tallies, deadline = crawl.tallies, crawl.chosen.deadline
    next_expiry = queries.next_expiry(crawl.id)
    shortage = None if crawl.is_over else shortage_for(crawl)
    of_the_table = Facts(
        State(crawl.state),
        open_pages=rows if rows < MAX_LISTED else max(rows, tallies.open),
        redis_answers=seen is not None,
        has_begun=tallies.closed > 0,
        begun_for=max(0.0, now - crawl.round_began_at.timestamp()),
        stays_open=crawl.chosen.stay_open,
        ends_in=None if deadline is None else crawl.round_began_at.timestamp() + deadline - now,
        expires_in=None if next_expiry is None else next_expiry - now,
        disagreements=crawl.disagreements.count(),
        hold=hold_reason(
            crawl.held_until,
            shortage,
            now,
            has_credentials=encryption.is_readable(crawl.sealed) or not rows,
            pause_reason=crawl.pause_reason,
        ),
        pause_reason=crawl.pause_reason,
        held_for=crawl.held_until.timestamp() - now if crawl.held_until else None,
        shortage=shortage,
        locked=None if crawl.is_over else silent_lock(crawl.id),
    )
    return of_the_table if seen is None else _with_queue_side(of_the_table, crawl, seen, now)


def _with_queue_side(facts: Facts, crawl: Crawl, seen: RedisState, now: float) -> Facts:
    looked, lane = seen.snapshot, base_lane(crawl.chosen)
    return replace(
        facts,
        ran_ago=max(0.0, now - looked.last_tick.at) if looked.last_tick else None,
        crawl_workers=seen.workers[queues.CRAWL],
        fetch_workers=seen.workers[queues.FETCH],
        lane=lane,
        lane_workers=seen.workers[lane.queue],
        is_autoscaled=seen.is_autoscaled,
        for_slots=seen.for_slots,
        stirred=_stirred(crawl, seen, now),
        is_lined_up=looked.has_cursor,
        batches=[HandedOut(batch.hold, len(batch.open_ids), batch.back_in) for batch in seen.batches],
        hosts=[host.wait for host in seen.hosts],
        hosts_waiting=looked.queue_side.hosts,
        held_up=seen.held_up,
        reports=looked.queue_side.results,
        manager=seen.manager,
        sent_ago=now - looked.mark.sent_at if looked.mark else 0.0,
        lock_left=looked.lock_left or 0.0,
        closing_in=None if looked.closing_at is None else looked.closing_at - now,
        evicts=seen.memory is not None and seen.memory.evicts_any_key,
        given_up=seen.given_up,
    )


def _stirred(crawl: Crawl, seen: RedisState, now: float) -> bool:
    """Whether workers are active, although RQ may not list them after Redis was flushed."""
    if seen.manager is Manager.WORKING or any(batch.hold is Hold.FETCHING for batch in seen.batches):
        return True
    last_tick = seen.snapshot.last_tick
    if last_tick is not None and now - last_tick.at < LATELY:
        return True
    return any(now - at < LATELY for at, _, closed, *_ in crawl.samples[-1:] if closed > 0)
