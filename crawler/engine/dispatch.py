"""Step three of a tick: let open pages flow from the table into the window, and hand slices of them to fetch jobs."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from crawler import conf, pages, queues
from crawler.core import suspects
from crawler.core.outcomes import Outcome
from crawler.core.work import USUAL_PRIORITY, Batch, FetchPolicy, PageTask, Slice
from crawler.crashpoints import crash_point
from crawler.engine.desk import Desk, waiting
from crawler.frontier.window import Cursor
from crawler.pages import OpenPage

WINDOW_PAGES = 20_000  # pages Redis holds per crawl; the rest waits in the table
REFILL_PAGES = 5_000  # pages that flow in per tick
BATCHES_OUT = 16  # batches of a crawl handed out and not settled, at most
SLICES_A_BATCH = 8  # each is fetched by a thread of its own


@dataclass(frozen=True)
class _Draft:
    """A batch being filled; its lease exists as soon as its first slice is taken."""

    id: str
    token: str
    slices: list[tuple[str, list[int]]]  # lane (see `core.suspects`), page ids


def dispatch(desk: Desk) -> int:
    """Hand out what may be fetched now; how many batches."""
    refill(desk)
    while drafts := _take(desk):
        crash_point("dispatch: slices taken")
        batches = _written_out(desk, drafts)
        worth_sending = [batch for batch in batches if any(part.pages for part in batch.slices)]
        _drop(desk, [draft for draft, batch in zip(drafts, batches, strict=True) if batch not in worth_sending])
        if worth_sending:
            queues.send_batches(worth_sending)
            crash_point("dispatch: batches sent")
            return len(worth_sending)
    return 0


def _drop(desk: Desk, drafts: Sequence[_Draft]) -> None:
    """End batches whose pages were all closed since they went into the window, by a limit or a deadline."""
    for draft in drafts:
        for number, (lane, _) in enumerate(draft.slices):
            desk.frontier.leases.settle(draft.id, draft.token, number, lane, {}, 0)


def refill(desk: Desk) -> None:
    """Let open pages flow into the window, in the order of their discovery.

    With a depth limit the crawl goes level by level: a page's depth is then the least number of links to it, so that
    the limit cuts off the same pages whatever order the answers arrive in.
    """
    depth = pages.shallowest_open(desk.id) if desk.options.max_depth is not None else None
    level = -1 if depth is None else depth
    cursor = desk.frontier.window.cursor()
    if cursor is None or cursor.depth != level:
        cursor = Cursor(level, 0)
        desk.frontier.window.move_cursor(cursor)
    room = _room(desk)
    if room <= 0:
        return
    rows = pages.next_open(desk.id, USUAL_PRIORITY, cursor.id, room, depth)
    if cursor.id == 0 and desk.options.max_pages is not None:
        rows = _tried_first(pages.tried_before(desk.id), rows, room)
    if rows:
        desk.frontier.window.put(waiting(row) for row in rows)
        crash_point("refill: pages let in")
        desk.frontier.window.move_cursor(Cursor(level, max(row.id for row in rows)))


def _room(desk: Desk) -> int:
    """How many pages may flow in now. A page limit is a hard one: only as many pages are ever let into the window as
    may still be asked for; one that is skipped without being asked makes room for another."""
    waiting = desk.frontier.window.size()
    room = min(REFILL_PAGES, WINDOW_PAGES - waiting)
    limit = desk.options.max_pages
    if limit is None:
        return room
    desk.crawl.refresh_from_db(fields=["discovered", "outcomes", "statuses"])
    asked = desk.crawl.tallies.asked
    if asked >= limit:
        pages.close_rest(desk.id, Outcome.LIMIT, f"beyond the limit of {limit} pages", desk.now())
        return 0
    return min(room, limit - asked - waiting - desk.frontier.window.taken())


def _tried_first(tried: Sequence[OpenPage], rows: Sequence[OpenPage], room: int) -> list[OpenPage]:
    """When the window is built anew under a page limit, pages that were asked for already come first: they count."""
    known = {page.id for page in tried}
    return [*tried, *(row for row in rows if row.id not in known)][: max(room, len(tried))]


def _take(desk: Desk) -> list[_Draft]:
    """Take slices, a turn for each host at a time, and deal them out to as many batches as workers can use. Suspects
    (`core.suspects`) are sent in batches of their own."""
    window, now = desk.frontier.window, desk.now()
    room = BATCHES_OUT - desk.frontier.leases.outstanding()
    if room <= 0:
        return []
    wanted = min(room, max(1, queues.worker_count() - desk.frontier.leases.outstanding()))
    shared, own = [_new_draft() for _ in range(wanted)], list[_Draft]()
    for place in range(wanted * SLICES_A_BATCH):
        lanes = window.due_hosts(now, 1)
        if not lanes:
            break
        draft = shared[place % wanted]
        if suspects.company(lanes[0]) is not None:
            if len(own) == room - wanted + 1:
                break
            draft = _new_draft()
            own.append(draft)
        ids = window.take(lanes[0], desk.pace.slice_pages(lanes[0]), draft.id, draft.token, len(draft.slices), now)
        if ids:
            draft.slices.append((lanes[0], ids))
    return [draft for draft in (*shared, *own) if draft.slices]


def _new_draft() -> _Draft:
    return _Draft(queues.new_id("fetch"), secrets.token_hex(8), [])


def _written_out(desk: Desk, drafts: Sequence[_Draft]) -> list[Batch]:
    """The batches with their URLs. Pages that were closed meanwhile are left out; the slice stays, so that its end
    gives the host's connection back."""
    rows = pages.open_pages(desk.id, [page for draft in drafts for _, ids in draft.slices for page in ids])
    policy = _policy(desk)
    return [
        Batch(
            crawl=str(desk.id),
            site=desk.crawl.site,
            id=draft.id,
            token=draft.token,
            policy=policy,
            slices=tuple(Slice(suspects.host_of(lane), _tasks(ids, rows)) for lane, ids in draft.slices),
        )
        for draft in drafts
    ]


def _tasks(ids: Sequence[int], rows: dict[int, OpenPage]) -> tuple[PageTask, ...]:
    known = [rows[page] for page in ids if page in rows]
    return tuple(PageTask(row.id, row.url, row.attempts + 1, row.expires_at, row.kind) for row in known)


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
        obey_nofollow=options.obey_nofollow,
        sitemaps=options.sitemaps,
        sealed=desk.crawl.sealed,
    )
