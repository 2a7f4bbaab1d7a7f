"""What can be seen of a crawl that is not finished, from the table and from Redis: the facts `core.diagnosis` explains.

Read-only and bounded: a few rows by index, and what is handed out, however large the crawl is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from redis import RedisError

from crawler import queues, sealing, table
from crawler.core import suspects
from crawler.core.diagnosis import Facts, HandedOut, Hold, HostWait, Manager, hold_of, manager_of, what_holds
from crawler.core.errors import ServiceDown
from crawler.core.lifecycle import State
from crawler.core.politeness import host_delay
from crawler.core.shortages import Memory
from crawler.frontier import room
from crawler.frontier.clock import Clock
from crawler.frontier.frontier import Frontier
from crawler.frontier.glance import Glance, HostSeen, glance
from crawler.frontier.leases import LEASE_SECONDS, Lease
from crawler.frontier.results import FRESH_SECONDS, LOCK_SECONDS
from crawler.frontier.window import LOOK_AFTER
from crawler.models import Crawl, Page
from crawler.reports.holding import is_for_the_day, shortage_for

SHOWN = 20  # open pages, and hosts that wait
SHOWN_LATELY = 5  # pages given up
GIVEN_UP_WITHIN = 3600.0  # seconds
LATELY = 10.0  # seconds in which somebody must have done something to be taken for alive although RQ lists nobody


@dataclass(frozen=True)
class BatchSeen:
    lease: Lease
    look_at: float  # epoch seconds when somebody looks at it
    hold: Hold
    open_ids: frozenset[int]  # of its pages, those that are open in the table
    back_in: float  # seconds

    @property
    def hosts(self) -> list[str]:
        return list(dict.fromkeys(suspects.host_of(lane) for lane, _ in self.lease.slices.values()))

    @property
    def pages(self) -> int:
        return sum(len(ids) for _, ids in self.lease.slices.values())


@dataclass(frozen=True)
class HostJudged:
    seen: HostSeen
    wait: HostWait


@dataclass(frozen=True)
class Seen:
    """The queue side of a crawl."""

    glance: Glance
    queued: Mapping[str, set[str]]  # queue -> jobs
    workers: Mapping[str, int]  # queue -> workers
    batches: Sequence[BatchSeen]
    hosts: Sequence[HostJudged]
    given_up: int
    newly_given_up: Sequence[tuple[int, float]]  # page, epoch seconds
    memory: Memory | None = None  # of Redis; None = it does not say

    @property
    def manager(self) -> Manager:
        mark, left = self.glance.mark, self.glance.lock_left
        is_fresh = mark is not None and self.glance.now - mark.sent_at <= FRESH_SECONDS
        is_queued = mark is not None and mark.job in self.queued[queues.CRAWL]
        silent_for = None if left is None else LOCK_SECONDS - left
        return manager_of(silent_for=silent_for, is_coming=is_fresh or is_queued)


def observe(crawl: Crawl, clock: Clock | None) -> tuple[Seen | None, str]:
    """What Redis knows; None and its trouble when it does not answer."""
    try:
        frontier = Frontier(queues.connection(), str(crawl.id), clock=clock)
        return _looked(crawl, frontier), ""
    except (ServiceDown, RedisError) as error:
        return None, (str(error).strip() or type(error).__name__).splitlines()[0]


def _looked(crawl: Crawl, frontier: Frontier) -> Seen:
    queued = {name: queues.queued(name) for name in (queues.CRAWL, queues.FETCH)}
    seen = glance(frontier, SHOWN)
    started = queues.started(queues.FETCH)
    return Seen(
        glance=seen,
        queued=queued,
        workers=queues.listeners(),
        batches=[_batch(crawl, lease, look_at, seen, queued[queues.FETCH], started) for lease, look_at in seen.leases],
        hosts=_hosts(crawl, seen),
        given_up=frontier.dead.since(seen.now - GIVEN_UP_WITHIN),
        newly_given_up=frontier.dead.newest(SHOWN_LATELY),
        memory=room.memory_of(frontier.redis),
    )


def _batch(crawl: Crawl, lease: Lease, look_at: float, seen: Glance, queued: set[str], started: set[str]) -> BatchSeen:
    look_in = look_at - seen.now
    missed_for = None if lease.absent_since is None else seen.now - lease.absent_since
    ids = [page for _, pages_of_slice in lease.slices.values() for page in pages_of_slice]
    return BatchSeen(
        lease=lease,
        look_at=look_at,
        hold=hold_of(
            held=lease.held,
            silent_for=LEASE_SECONDS - look_in,
            queued=lease.batch in queued,
            started=lease.batch in started,
            missed_for=missed_for,
            reports=seen.queue_side.results,
        ),
        open_ids=frozenset(table.open_pages(crawl.id, ids)),
        back_in=look_in if missed_for is None else max(look_in, LOOK_AFTER - missed_for),
    )


def _hosts(crawl: Crawl, seen: Glance) -> list[HostJudged]:
    """When each host may really be asked: its time here, or its turn over all crawls, whichever is later."""
    options = crawl.chosen
    first_pages = [host.first_page for host in seen.hosts if host.first_page is not None]
    trouble = dict(Page.objects.filter(crawl=crawl, id__in=first_pages).values_list("id", "error"))
    judged = []
    for host in seen.hosts:
        next_in, reason = what_holds(
            rest_in=host.rest_until - seen.now,
            due_in=host.first_due - seen.now,
            turn_in=host.turn_at - seen.now,
            delay=options.delay,
            crawl_delay=host_delay(0.0, host.crawl_delay),
            connections=host.connections,
            concurrency=options.concurrency,
        )
        error = trouble.get(host.first_page or 0, "").rstrip(".")
        judged.append(HostJudged(host, HostWait(host.host, host.pages, next_in, reason, error)))
    return sorted(judged, key=lambda host: host.wait.next_in)


def facts_of(crawl: Crawl, seen: Seen | None, rows: int, now: float) -> Facts:
    """`rows` open pages were found in the table, SHOWN at most; beyond that the crawl's counters tell their number."""
    tallies, deadline = crawl.tallies, crawl.chosen.deadline
    next_expiry = table.next_expiry(crawl.id)
    of_the_table = Facts(
        State(crawl.state),
        open_pages=rows if rows < SHOWN else max(rows, tallies.open),
        redis_answers=seen is not None,
        has_begun=tallies.closed > 0,
        ends_in=None if deadline is None else crawl.round_began_at.timestamp() + deadline - now,
        expires_in=None if next_expiry is None else next_expiry - now,
        disagreements=crawl.disagreements.count(),
        is_sealed_shut=not sealing.is_readable(crawl.sealed),
        held_for=crawl.held_until.timestamp() - now if crawl.held_until else None,
        held_for_the_day=crawl.held_until is not None and is_for_the_day(crawl.held_until, now),
        shortage=None if crawl.is_over else shortage_for(crawl),
    )
    return of_the_table if seen is None else _with_queue_side(of_the_table, crawl, seen, now)


def _with_queue_side(facts: Facts, crawl: Crawl, seen: Seen, now: float) -> Facts:
    looked = seen.glance
    return replace(
        facts,
        crawl_workers=seen.workers[queues.CRAWL],
        fetch_workers=seen.workers[queues.FETCH],
        stirred=_stirred(crawl, seen, now),
        is_lined_up=looked.is_lined_up,
        batches=[HandedOut(batch.hold, len(batch.open_ids), batch.back_in) for batch in seen.batches],
        hosts=[host.wait for host in seen.hosts],
        hosts_waiting=looked.queue_side.hosts,
        reports=looked.queue_side.results,
        manager=seen.manager,
        sent_ago=now - looked.mark.sent_at if looked.mark else 0.0,
        lock_left=looked.lock_left or 0.0,
        evicts=seen.memory is not None and seen.memory.throws_away,
        given_up=seen.given_up,
    )


def _stirred(crawl: Crawl, seen: Seen, now: float) -> bool:
    """Whether somebody is at work, whatever workers RQ lists: it forgets those that live when Redis was emptied."""
    if seen.manager is Manager.WORKING or any(batch.hold is Hold.FETCHING for batch in seen.batches):
        return True
    last_tick = seen.glance.last_tick
    if last_tick is not None and now - last_tick.at < LATELY:
        return True
    return any(now - at < LATELY for at, _, closed in crawl.samples[-1:] if closed > 0)
