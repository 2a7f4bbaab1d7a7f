"""Step three of a tick: let open pages flow from the table into the window, and hand slices of them to fetch jobs."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from crawler import clock, conf
from crawler.accounts import quotas
from crawler.core.crawl import retries
from crawler.core.crawl.cache_policy import NO_VALIDATORS
from crawler.core.crawl.completion import Limit
from crawler.core.crawl.messages import Batch, FetchPolicy, PageTask, Slice
from crawler.core.crawl.options import CrawlOptions
from crawler.core.crawl.outcomes import Outcome
from crawler.core.urls.normalise import host_of
from crawler.crashpoints import crash_point
from crawler.crawls.credentials import own_hosts_of
from crawler.frontier.ready_queue import Level
from crawler.manager.collect import take_in
from crawler.manager.context import Desk, learn_paces, waiting
from crawler.manager.response_cache import Known, remembered
from crawler.models import Crawl
from crawler.notices.outbox import teller_of_closed
from crawler.queueing import queues
from crawler.queueing.wakeups import wake
from crawler.storage import queries, writer
from crawler.storage.queries import OpenPage

LEVEL_WAITS_S = 10.0  # for which a level is waited for whose last pages were put off by their servers
WINDOW_PAGES = 50_000  # pages Redis holds per crawl; the rest waits in the table
REFILL_PAGES = 5_000  # pages that flow in per tick
BATCHES_OUT = 128  # batches of a crawl handed out and not settled, at most
BATCHES_AHEAD = 2  # batches that may wait beyond one for each worker: what is handed out late is handed out wisely
SLICES_A_BATCH = 32  # at most; they are worked on side by side
PAGES_A_BATCH = 512  # no further slice is added to a batch that holds so many
MEMORY_SECONDS = 2.0  # for which pages are taken from the memory of answers in one go


@dataclass(frozen=True)
class _Draft:
    """A batch being filled; its lease exists as soon as its first slice is taken."""

    id: str
    token: str
    slices: list[tuple[str, list[int]]]  # lane (see `core.crawl.retries`), page ids

    @property
    def pages(self) -> int:
        return sum(len(ids) for _, ids in self.slices)


def dispatch(desk: Desk) -> int:
    """Hand out what may be fetched now; how many batches.

    Pages whose answers are remembered are taken in at once. A crawl may consist of nothing else, so this ends after a
    while and asks for another tick.
    """
    refill(desk)
    began = desk.now()
    while drafts := _take(desk):
        crash_point("dispatch: slices taken")
        batches = _written_out(desk, drafts)
        worth_sending = [batch for batch in batches if any(part.pages for part in batch.slices)]
        _drop(desk, [draft for draft, batch in zip(drafts, batches, strict=True) if batch not in worth_sending])
        if worth_sending:
            queues.send_batches(worth_sending)
            crash_point("dispatch: batches sent")
            return len(worth_sending)
        if desk.now() - began > MEMORY_SECONDS:
            wake(desk.frontier, desk.crawl.site)
            return 0
        refill(desk)
    return 0


def _drop(desk: Desk, drafts: Sequence[_Draft]) -> None:
    """End batches whose pages were all closed since they went into the window: by a limit, a deadline, from memory."""
    for draft in drafts:
        for number, (lane, _) in enumerate(draft.slices):
            desk.frontier.leases.settle(draft.id, draft.token, number, lane, (), 0)


def refill(desk: Desk) -> None:
    """Let open pages flow into the window, the most urgent first, and among them in the order of their discovery.

    With a depth limit the crawl goes level by level: a page's depth is then the least number of links to it, so that
    the limit cuts off the same pages whatever order the answers arrive in. A page that its server put off for longer
    than LEVEL_WAITS_S does not keep deeper levels from being fetched.
    """
    soon = desk.now() + LEVEL_WAITS_S
    depth = queries.shallowest_open(desk.id, soon) if desk.options.max_depth is not None else None
    window, room = desk.frontier.window, _room(desk)
    tried = set[int]()
    if not window.is_lined_up() and desk.options.max_pages is not None:
        rows = queries.tried_before(desk.id)  # under a page limit, what was asked for already comes first: it counts
        _let_in(desk, rows)
        tried = {row.id for row in rows}
        room -= len(tried)
    for priority in queries.priorities(desk.id):
        level = Level(priority, -1 if depth is None else depth)
        cursor = window.cursor(level)
        rows = queries.next_open(desk.id, priority, cursor, room, depth) if room > 0 else []
        _let_in(desk, rows)
        if rows or cursor == 0:
            window.move_cursor(level, max((row.id for row in rows), default=0))
        room -= sum(row.id not in tried for row in rows)


def _let_in(desk: Desk, rows: Sequence[OpenPage]) -> None:
    if not rows:
        return
    learn_paces(desk, [host_of(row.url) for row in rows])
    desk.frontier.window.put(waiting(row) for row in rows)
    crash_point("refill: pages let in")


def _room(desk: Desk) -> int:
    """How many pages may flow in now. A page limit is a hard one: only as many pages are ever let into the window as
    may still be asked for; one that is skipped without being asked makes room for another. So it is with the pages its
    owner has left of a day."""
    window = desk.frontier.window
    let_in = window.waiting()
    room = min(REFILL_PAGES, WINDOW_PAGES - let_in, _left_today(desk, let_in))
    limits = desk.options
    if limits.max_pages is None and limits.max_bytes is None:
        return room
    desk.crawl.refresh_from_db(fields=["discovered", "outcomes", "statuses", "bytes"])
    if limits.max_bytes is not None and desk.crawl.bytes >= limits.max_bytes:
        error = f"beyond the limit of {limits.max_bytes:,} bytes"
        writer.close_rest(desk.id, Outcome.LIMIT, error, desk.now(), Limit.BYTES)
        return 0
    if limits.max_pages is None:
        return room
    asked = desk.crawl.tallies.asked
    if asked >= limits.max_pages:
        error = f"beyond the limit of {limits.max_pages} pages"
        writer.close_rest(desk.id, Outcome.LIMIT, error, desk.now(), Limit.PAGES)
        return 0
    return min(room, limits.max_pages - asked - let_in - window.taken())


def _left_today(desk: Desk, let_in: int) -> int:
    """Of this crawl's share of the pages its owner may ask for today, those that are not in the window or handed out by
    now. At least one while nothing is: another crawl of theirs may have used up the day since `ration` looked, and it
    looks again."""
    share = quotas.share(desk.crawl.owner_id, clock.now()) if desk.crawl.owner_id is not None else None
    if share is None:
        return WINDOW_PAGES
    out = let_in + desk.frontier.window.taken()
    return max(share - out, 0 if out else 1)


def _take(desk: Desk) -> list[_Draft]:
    """Take slices, and deal them out to as many batches as workers can use. Suspects (`core.crawl.retries`) are sent in
    batches of their own."""
    now, leases, workers = desk.now(), desk.frontier.leases, queues.worker_count()
    outstanding, waiting_now = leases.outstanding(), leases.waiting()
    room = min(BATCHES_OUT - outstanding, workers + BATCHES_AHEAD - waiting_now)
    if room <= 0:
        return []
    # Of few hosts a batch is soon done, and the next should wait at hand. Of many it lasts, and a slice that waits in
    # the queue is one of a heavy host that could go on.
    ahead = BATCHES_AHEAD if desk.frontier.window.lanes() <= SLICES_A_BATCH else 0
    wanted = min(room, max(1, workers + ahead - outstanding))
    shared, own = [_new_draft() for _ in range(wanted)], list[_Draft]()
    for place in range(wanted * SLICES_A_BATCH):
        draft = shared[place % wanted]
        if draft.pages >= PAGES_A_BATCH:
            break
        alone = _new_draft() if len(own) <= room - wanted else None
        picked = desk.frontier.window.pick(
            draft.id, draft.token, len(draft.slices), now, alone=(alone.id, alone.token) if alone else None
        )
        if picked is None:
            break
        if alone is not None and retries.company(picked.lane) is not None:
            own.append(alone)
            draft = alone
        draft.slices.append((picked.lane, picked.pages))
    return [draft for draft in (*shared, *own) if draft.slices]


def _new_draft() -> _Draft:
    return _Draft(queues.new_id("fetch"), secrets.token_hex(8), [])


def _written_out(desk: Desk, drafts: Sequence[_Draft]) -> list[Batch]:
    """The batches with their URLs. Pages that were closed meanwhile, or whose answers are remembered, are left out; the
    slice stays, so that its end gives the host's connection back."""
    rows = queries.open_pages(desk.id, [page for draft in drafts for _, ids in draft.slices for page in ids])
    known = remembered(desk, rows.values())
    if known.results:
        take_in(desk, known.results)
        for result in known.results:
            del rows[result.id]
    policy = _policy(desk)
    return [
        Batch(
            crawl=str(desk.id),
            site=desk.crawl.site,
            id=draft.id,
            token=draft.token,
            policy=policy,
            slices=tuple(
                Slice(retries.host_of(lane), _tasks(ids, rows, known), retries.company(lane) is not None)
                for lane, ids in draft.slices
            ),
        )
        for draft in drafts
    ]


def _tasks(ids: Sequence[int], rows: dict[int, OpenPage], known: Known) -> tuple[PageTask, ...]:
    return tuple(
        PageTask(
            row.id, row.url, row.attempts + 1, row.expires_at, row.kind, *known.validators.get(page, NO_VALIDATORS)
        )
        for page in ids
        if (row := rows.get(page))
    )


def _policy(desk: Desk) -> FetchPolicy:
    options = desk.options
    return FetchPolicy(
        user_agent=conf.user_agent(),
        obey_robots=options.obey_robots,
        delay=options.delay,
        concurrency=options.concurrency,
        private_hosts=options.private_hosts,
        max_body_bytes=conf.max_body_bytes(),
        per_minute=options.per_minute,
        throttle=options.throttle,
        sitemaps=options.sitemaps,
        own_hosts=own_hosts_of(desk.crawl),
        sealed=desk.crawl.sealed,
        sketches=options.near_duplicates,
        fields=options.fields,
        keep=options.keep,
    )


# Closes open pages that are not waited for any longer: their time is over (the crawl's deadline, or their own time to
# live), or nothing else is left to be done and their servers asked for a later time.


def has_deadlines(options: CrawlOptions) -> bool:
    return options.deadline is not None or options.page_ttl is not None


def expire(desk: Desk) -> int:
    """How many pages were closed. A page that is being fetched at this moment is closed as well; its answer comes too
    late and changes nothing (rule R2)."""
    if not has_deadlines(desk.options):
        return 0
    closed = writer.close_expired(desk.id, desk.now())
    crash_point("expire: committed")
    return closed


def close_put_off(desk: Desk) -> int:
    """Where nothing is in hand, and all that waits in the window are pages that their servers put off (Retry-After):
    close them once that has been so for CRAWLER_RETRY_AFTER_WAIT seconds, with the response they had. They can be sent
    again. How many were closed.

    It is asked behind a refill, so a page that is open and not in the window may not be asked for before these are
    closed: it is beyond the crawl's page limit, or its owner's.
    """
    now = desk.now()
    put_off = queries.count_put_off(desk.id, now)
    if not put_off or desk.frontier.window.waiting() > put_off:
        desk.frontier.close_nothing()
        return 0
    discovered = Crawl.objects.values_list("discovered", flat=True).get(id=desk.id)
    if now < desk.frontier.closing_at(discovered, now + conf.retry_after_wait()):
        return 0
    closed = writer.close_put_off(desk.id, now, teller_of_closed(desk.options))
    crash_point("conclude: put off pages closed")
    desk.frontier.dead.add(closed, now)
    return len(closed)
