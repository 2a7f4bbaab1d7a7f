"""Step three of a tick: enqueue open pages from the table into the ready queue, and hand slices to fetch jobs."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest

import msgspec

from crawler import clock, conf
from crawler.accounts import quotas
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.cache_policy import NO_VALIDATORS
from crawler.core.politeness.host_rules import MAX_SLICES_PER_BATCH, chosen_delay, longest_slice, slices_at_once
from crawler.core.politeness.shares import batches_ahead
from crawler.core.protocol import retries
from crawler.core.protocol.collectors import batch_id
from crawler.core.protocol.lanes import (
    Lane,
    SlotLane,
    base_lane,
    chosen_slot_lanes,
    lane_of_batch,
    slot_lane_of,
    suffixes,
)
from crawler.core.protocol.messages import PAGE, Batch, PageTask, Slice
from crawler.core.urls.normalise import host_of
from crawler.crashpoints import crash_point
from crawler.frontier.ready_queue import Level, SliceOrder
from crawler.frontier.slots import LaneSlots
from crawler.manager.collect import process_results
from crawler.manager.context import TickContext, queue_item, update_paces
from crawler.manager.fetch_policy import fetch_policy
from crawler.manager.limits import room_within_limits
from crawler.manager.patterns import close_excluded
from crawler.manager.reach import split_by_reach
from crawler.manager.response_cache import CacheHits, look_up
from crawler.models import Crawl
from crawler.notices.outbox import closed_page_notifier
from crawler.queueing import queues
from crawler.queueing.wakeups import wake
from crawler.queueing.workers import slots_of, worker_count
from crawler.storage import page_rows, queries, writer
from crawler.storage.queries import OpenPage

MAX_LEVEL_WAIT_S = 10.0  # a level whose last pages have a later Retry-After does not hold up deeper levels
MAX_REFILL_PAGES = 5_000  # per tick
PREFETCH_BATCHES = 2  # batches queued beyond one per worker; few, because a later choice of pages is a better one
MIN_SLICES_PER_WORKER = 4  # of slow hosts, from which each worker gets a batch of its own
MAX_PAGES_PER_BATCH = 512  # a batch with this many pages gets no further slice
MAX_CACHE_REPLAY_S = 2.0  # a tick closes pages from the response cache for this long


class _BatchDraft(msgspec.Struct, frozen=True):
    """A batch being filled; its lease exists as soon as its first slice is taken."""

    id: str
    token: str
    slices: list[tuple[str, list[int]]]  # lane (see `core.protocol.retries`), page ids

    @property
    def pages(self) -> int:
        return sum(len(ids) for _, ids in self.slices)


def dispatch(context: TickContext) -> int:
    """Hand out pages that may be fetched now; returns the number of batches.

    Pages with a fresh cached response are closed at once. A crawl may consist of these alone, so this stops after
    MAX_CACHE_REPLAY_S and requests another tick.
    """
    refill(context)
    began = context.now()
    while drafts := _dequeue_drafts(context):
        crash_point("dispatch: slices taken")
        batches, early = _build_batches(context, drafts)
        worth_sending = [batch for batch in batches if any(part.pages for part in batch.slices)]
        empty = [draft for draft, batch in zip(drafts, batches, strict=True) if batch not in worth_sending]
        _complete_empty(context, empty, early)
        if worth_sending:
            queues.send_batches(worth_sending)
            crash_point("dispatch: batches sent")
            return len(worth_sending)
        if context.now() - began > MAX_CACHE_REPLAY_S:
            wake(context.frontier, context.crawl.site)
            return 0
        refill(context)
    return 0


def _complete_empty(context: TickContext, drafts: Sequence[_BatchDraft], early: dict[int, OpenPage]) -> None:
    """Complete batches whose pages were all closed since they were enqueued: by a limit, a deadline, the cache. Pages
    that are `early` go back to the ready queue."""
    for draft in drafts:
        for number, (lane, ids) in enumerate(draft.slices):
            back = [queue_item(early[page], context.options) for page in ids if page in early]
            context.frontier.leases.complete_slice(draft.id, draft.token, number, lane, back, 0)


def refill(context: TickContext) -> None:
    """Enqueue open pages by priority, then in the order of their discovery.

    With a depth limit the crawl goes level by level: a page's depth is then the least number of links to it, so the
    limit cuts off the same pages in whatever order responses arrive. A page that waits for more than MAX_LEVEL_WAIT_S,
    for a Retry-After or the time a user chose, does not hold up deeper levels. Nor do pages with a later time of their
    own hold up others: if no page in the queue is due, the next ones are let in at once.
    """
    soon = context.now() + MAX_LEVEL_WAIT_S
    depth = queries.shallowest_open(context.id, soon) if context.options.max_depth is not None else None
    ready_queue, room = context.frontier.ready_queue, _free_capacity(context)
    tried, had_room = set[int](), room > 0
    if not ready_queue.has_cursor() and context.options.max_pages is not None:
        rows = queries.open_with_attempts(context.id)[: max(0, room)]  # under a page limit, these come first
        _enqueue(context, rows)
        tried = {row.id for row in rows}
        room -= len(tried)
    for priority in queries.priorities(context.id):
        level = Level(priority, -1 if depth is None else depth)
        cursor = ready_queue.cursor(level)
        rows = queries.next_open(context.id, priority, cursor, room, depth) if room > 0 else []
        _enqueue(context, rows)
        if rows or cursor == 0:
            ready_queue.move_cursor(level, max((row.id for row in rows), default=0))
        room -= sum(row.id not in tried for row in rows)
    if had_room and room <= 0 and _none_due(context):
        wake(context.frontier, context.crawl.site)


def _none_due(context: TickContext) -> bool:
    """Whether every page in the ready queue has a later time of its own."""
    queue, now = context.frontier.ready_queue, context.now()
    firsts = map(queue.next_due, suffixes())
    may_be = all(first is None or first > now for first in firsts)  # else O(lanes) is saved
    return may_be and not any(queue.counts(now, suffix).due for suffix in suffixes())


def _enqueue(context: TickContext, rows: Sequence[OpenPage]) -> None:
    if not rows:
        return
    update_paces(context, [host_of(row.url) for row in rows])
    context.frontier.ready_queue.enqueue(queue_item(row, context.options) for row in rows)
    crash_point("refill: pages let in")


def _free_capacity(context: TickContext) -> int:
    """How many pages may be enqueued now. A page limit is hard: the ready queue never holds more pages than may still
    be requested; a page skipped without a request makes room for another. The owner's daily quota works the same.

    The pages that are handed out or wait are counted first: another collector may close one of them meanwhile, which
    then counts twice, and not never.
    """
    ready_queue = context.frontier.ready_queue
    handed_out = ready_queue.handed_out()
    sizes = ready_queue.sizes()
    let_in = sum(sizes.values())
    all_take_slots, _ = slot_lane_of(context.options, PAGE, "")
    bounded = let_in if all_take_slots else sizes[""]  # pages found to need a slot hold up nothing
    free = conf.max_ready_pages() - bounded
    if free < MAX_REFILL_PAGES and _none_due(context):
        free = MAX_REFILL_PAGES
    room = min(MAX_REFILL_PAGES, free, _remaining_quota(context, let_in + handed_out))
    within = room_within_limits(context, let_in, handed_out)
    return room if within is None else min(room, within)


def _remaining_quota(context: TickContext, out: int) -> int:
    """This crawl's share of its owner's daily page quota, less the pages that are enqueued or handed out (`out`). At
    least one while there are none: another crawl of the owner may have exhausted the quota since `enforce_quota`
    checked, which checks again at the next tick."""
    share = quotas.share(context.crawl.owner_id, clock.now()) if context.crawl.owner_id is not None else None
    if share is None:
        return conf.max_ready_pages()
    return max(share - out, 0 if out else 1)


def _dequeue_drafts(context: TickContext) -> list[_BatchDraft]:
    """Those of the base lane, and of the slot lanes."""
    for_slots = (_dequeue_for_slots(context, lane) for lane in chosen_slot_lanes(context.options))
    return [*_dequeue_usual(context, base_lane(context.options)), *chain.from_iterable(for_slots)]


def _dequeue_usual(context: TickContext, lane: Lane) -> list[_BatchDraft]:
    """Dequeue slices and distribute them over as many batches as the workers can use. Suspects
    (`core.protocol.retries`) get batches of their own."""
    now, leases, workers = context.now(), context.frontier.leases, worker_count(lane.queue)
    batches = _without_slots(leases.batches())
    unclaimed, outstanding = leases.unclaimed(batches), len(batches)
    weights = queries.running_weights() or [context.options.weight]
    ahead = batches_ahead(workers + PREFETCH_BATCHES, context.options.weight, weights)
    room = min(conf.max_batches() - outstanding, ahead - len(unclaimed))
    if room <= 0:
        return []
    # A batch of few hosts is done soon, and the next should be queued already. One of many hosts takes long, and a
    # queued slice would hold back a host with many pages, unless a worker has free connections and takes it.
    connections, queue = max(1, workers) * conf.worker_connections(), context.frontier.ready_queue
    lanes = queue.lane_count()
    slices = min(lanes * _slices_at_once(context.options), queue.sizes()[""])  # that the hosts may give now, at most
    out = queue.slices_out()
    free = connections - out
    at_least = (ahead if lanes <= MAX_SLICES_PER_BATCH else workers) - outstanding
    shares = min(workers, (slices - out) // MIN_SLICES_PER_WORKER)
    if shares > max(1, at_least) and lanes <= workers and queue.is_of_slow_host():
        at_least = shares  # else one worker would have all slices, and the others idle connections
    wanted = min(room, max(1, at_least, min(slices, free) // MAX_SLICES_PER_BATCH))
    most_pages = longest_slice(needs_early_results=context.frontier.needs_early_results())
    shared, own = [_new_draft(lane) for _ in range(wanted)], list[_BatchDraft]()
    for _ in range(MAX_SLICES_PER_BATCH):
        if any(draft.pages >= MAX_PAGES_PER_BATCH for draft in shared):
            break
        alone = [_new_draft(lane) for _ in range(min(wanted, room - wanted + 1 - len(own)))]
        dequeued = _dequeue_round(context, shared, alone, now, connections, most_pages)
        own += [draft for draft in alone if draft.slices]
        if dequeued < wanted:
            break
    return [draft for draft in (*shared, *own) if draft.slices]


def _slices_at_once(options: CrawlOptions) -> int:
    """Of a host that has responded."""
    return slices_at_once(chosen_delay(options.delay, options.per_minute), options.concurrency)


def _dequeue_round(
    context: TickContext,
    shared: Sequence[_BatchDraft],
    alone: Sequence[_BatchDraft],
    now: float,
    connections: int,
    most_pages: int,
) -> int:
    """Dequeue one slice for each shared batch; one of suspects goes to a batch `alone` instead. Returns how many there
    were."""
    orders = [
        SliceOrder(draft.id, draft.token, len(draft.slices), (own.id, own.token) if own else None)
        for draft, own in zip_longest(shared, alone[: len(shared)])
        if draft
    ]
    drafts = {draft.id: draft for draft in (*shared, *alone)}
    dequeued = context.frontier.ready_queue.dequeue(orders, now, connections, most_pages)
    for slice_ in dequeued:
        drafts[slice_.batch].slices.append((slice_.lane, slice_.pages))
    return len(dequeued)


def _without_slots(batches: Sequence[str]) -> list[str]:
    return [batch for batch in batches if not isinstance(lane_of_batch(batch), SlotLane)]


def _dequeue_for_slots(context: TickContext, lane: SlotLane) -> list[_BatchDraft]:
    """Dequeue a slice for each free slot of the lane's workers, if pages wait for one. The slots are taken first,
    because other crawls' managers do the same."""
    now, ready_queue = context.now(), context.frontier.ready_queue
    due = ready_queue.next_due(lane.suffix)
    if due is None or due > now:
        return []
    slots, all_slots = LaneSlots(context.frontier.redis, lane), slots_of(lane, now)
    room = conf.max_batches() - context.frontier.leases.outstanding()
    drafts = [_new_draft(lane) for _ in range(min(all_slots, room))]
    keys = [context.frontier.keys.lease(draft.id) for draft in drafts]
    given = slots.take(keys, all_slots, now)
    crash_point("dispatch: places taken")
    orders = [SliceOrder(draft.id, draft.token, 0, (draft.id, draft.token), lane.suffix) for draft in drafts[:given]]
    dequeued = {slice_.batch: slice_ for slice_ in ready_queue.dequeue(orders, now, all_slots)} if orders else {}
    for draft in drafts:
        if (slice_ := dequeued.get(draft.id)) is not None:
            draft.slices.append((slice_.lane, slice_.pages))
    slots.confirm([key for key, draft in zip(keys, drafts, strict=True) if draft.slices])
    slots.give_back([key for key, draft in zip(keys[:given], drafts, strict=False) if not draft.slices])
    return [draft for draft in drafts if draft.slices]


def _new_draft(lane: Lane) -> _BatchDraft:
    collector, token = secrets.randbelow(conf.collectors()), secrets.token_hex(8)
    return _BatchDraft(batch_id(queues.new_id(lane.queue), collector), token, [])


def _build_batches(context: TickContext, drafts: Sequence[_BatchDraft]) -> tuple[list[Batch], dict[int, OpenPage]]:
    """The batches with their URLs, without pages that were closed meanwhile, have a cached response, or whose time is a
    later one by now: these are returned, too. An empty slice stays: completing it frees the host's connection."""
    rows = queries.open_pages(context.id, [page for draft in drafts for _, ids in draft.slices for page in ids])
    now = context.now()
    early = {page: row for page, row in rows.items() if row.not_before is not None and row.not_before > now}
    for page in [*early, *close_excluded(context, [row for page, row in rows.items() if page not in early])]:
        del rows[page]
    known = look_up(context, rows.values())
    if known.results:
        process_results(context, known.results)
        for result in known.results:
            del rows[result.id]
    parts = split_by_reach({draft.id: [page for _, ids in draft.slices for page in ids] for draft in drafts}, rows)
    policies = {kind: fetch_policy(context, public_only=kind) for kind in {part.public_only for part in parts.values()}}
    policy_of = {draft_id: policies[part.public_only] for draft_id, part in parts.items()}
    notes = page_rows.notes(context.id, context.options, rows.values())
    batches = [
        Batch(
            crawl=str(context.id),
            site=context.crawl.site,
            id=draft.id,
            token=draft.token,
            policy=policy_of[draft.id],
            slices=tuple(
                Slice(
                    retries.host_of(lane),
                    _tasks(ids, parts[draft.id].rows, known, context.options, notes),
                    retries.batch_size(lane) is not None,
                )
                for lane, ids in draft.slices
            ),
            version=policy_of[draft.id].version,
            needs_slot=isinstance(lane_of_batch(draft.id), SlotLane),
        )
        for draft in drafts
    ]
    return batches, early


def _tasks(
    ids: Sequence[int],
    rows: Mapping[int, OpenPage],
    known: CacheHits,
    options: CrawlOptions,
    notes: Mapping[str, str],
) -> tuple[PageTask, ...]:
    return tuple(
        PageTask(
            row.id,
            row.url,
            row.attempts + 1,
            row.expires_at,
            row.kind,
            *known.validators.get(page, NO_VALIDATORS),
            slot_lane_of(options, row.kind, row.lane_reason)[1],
            notes.get(row.url, "") if row.kind == PAGE else "",
        )
        for page in ids
        if (row := rows.get(page))
    )


def expire(context: TickContext) -> int:
    """Close expired pages; returns their number. A page that is being fetched is closed as well; its result comes too
    late and changes nothing (rule R2)."""
    closed = writer.close_expired(context.id, context.now())
    crash_point("expire: committed")
    return closed


def close_postponed(context: TickContext) -> int:
    """If nothing is handed out and only pages with a Retry-After wait: close them after CRAWLER_RETRY_AFTER_WAIT
    seconds, with the response they had. The user can retry them. Returns how many were closed.

    Called after a refill, so an open page outside the ready queue cannot be fetched before these are closed: it is
    beyond the crawl's page limit or its owner's quota.
    """
    now = context.now()
    put_off = queries.count_postponed(context.id, now)
    if not put_off or context.frontier.ready_queue.size() > put_off:
        context.frontier.clear_close_at()
        return 0
    discovered = Crawl.objects.values_list("discovered", flat=True).get(id=context.id)
    if now < context.frontier.deferred_close_at(discovered, now + conf.retry_after_wait()):
        return 0
    closed = writer.close_postponed(context.id, now, closed_page_notifier(context.options))
    crash_point("conclude: put off pages closed")
    context.frontier.dead_letters.add(closed, now)
    return len(closed)
