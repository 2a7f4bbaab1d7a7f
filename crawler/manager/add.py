"""Adds pages to a crawl, moves open ones in its queue, and asks for closed ones again. A crawl that was over runs in
its next round."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from uuid import UUID

from django.db import transaction
from redis.exceptions import RedisError

from crawler import clock, logs
from crawler.accounts import audit, quotas
from crawler.accounts.permissions import installation_hosts
from crawler.core.access.reach import Namer, is_limited, may_add_hosts, private_hosts_for
from crawler.core.errors import BadInput, NoCrawl
from crawler.core.pages.placement import MAX_REASONS, MAX_URLS, Added, AskedAgain, Placement, Refused
from crawler.core.protocol.completion import State
from crawler.core.url_lists.wanted import PageRequest
from crawler.core.urls.crawl_scope import Scope, Side
from crawler.core.urls.normalise import host_and_port, host_of, parse_user_url
from crawler.crashpoints import crash_point
from crawler.crawls.control import wake_manager
from crawler.crawls.retry import begin_round_if_over
from crawler.http.errors import AddressRefused, FetchTimeout, NameNotFound, NotConnected
from crawler.http.guard import Guard, guard_of
from crawler.manager.context import context_of, queue_item
from crawler.models import Crawl
from crawler.queueing import queues
from crawler.storage import additions, queries
from crawler.storage.queries import OpenPage

log = logging.getLogger(__name__)

MAX_LOOKUPS = 20  # host names that are resolved; others are judged when to request them, as all are
PAGES_PER_TRANSACTION = 5_000  # that are asked for again

ANYWHERE = Placement()

LOADING = "Its list is still being read; add pages once the crawl runs."


def add(
    crawl_id: UUID, pages: Sequence[str | PageRequest], place: Placement = ANYWHERE, *, by: Namer, again: bool = False
) -> Added:
    """Add pages by their URLs as a user types them, 10,000 at most, in one transaction. Raises NoCrawl.
    `by`: who names them, which decides about private addresses, and about hosts that are not in a list.

    An open page gets its own time and priority, or else those of `place`; a closed one stays closed unless it is wanted
    `again`. Of two with one URL the first counts. BadInput for too many,
    and while the crawl's list is being read; the result names each URL that cannot be added.
    """
    if len(pages) > MAX_URLS:
        raise BadInput("urls", f"Add at most {MAX_URLS:,} URLs at a time, not {len(pages):,}.")
    crawl = Crawl.objects.filter(id=crawl_id).first()
    if crawl is None:
        raise NoCrawl
    placed = [PageRequest(page, place) if isinstance(page, str) else page for page in pages]
    wanted, refused = _sorted_out(crawl, placed, by)
    queues.connection().ping()
    now, context = clock.epoch_seconds(), context_of(crawl)
    ready_queue = context.frontier.ready_queue

    def handed_out(pages: Sequence[OpenPage]) -> set[int]:
        return context.frontier.queue_changes.handed_out_among((page.id, page.priority) for page in pages)

    with transaction.atomic():
        crawl = _locked(crawl_id)
        quotas.check_room(crawl.owner_id, "its owner's")
        was_over = crawl.is_over
        limited = is_limited(by, crawl.chosen.private_hosts)
        done = additions.add(crawl_id, wanted, now, again=again, handed_out=handed_out, public_only=limited)
        counts = {"added": done.added, "moved": len(done.moved), "again": len(done.again)}
        if done.added or done.again:
            begin_round_if_over(crawl, now)
        if any(counts.values()):
            audit.note("crawl.added_to", crawl, after=counts)
        if done.moved or done.again:
            ready_queue.rewind()  # before the commit: a crash behind it must not leave pages out
    crash_point("add: committed")
    if any(counts.values()):
        _take_effect(crawl, done.moved, done.again)
    return Added(
        added=done.added,
        moved=len(done.moved),
        waiting=done.waiting,
        again=len(done.again),
        closed=len(done.closed),
        refused=len(refused),
        reasons=tuple(refused[:MAX_REASONS]),
        has_reopened=was_over and bool(done.added or done.again),
    )


def ask_again(crawl_id: UUID, pages: Iterable[int], place: Placement | None = None) -> AskedAgain:
    """Open closed pages of a crawl again, as if they had never been requested: those with these ids. Raises NoCrawl.

    Of many pages some are opened in each transaction: if the process dies, the rest stays closed.
    """
    queues.connection().ping()
    named = list(dict.fromkeys(pages))  # all of them now: a filter may select those that are opened no longer
    if not named and not Crawl.objects.filter(id=crawl_id).exists():
        raise NoCrawl
    again, has_reopened = 0, False
    for at in range(0, len(named), PAGES_PER_TRANSACTION):
        part = _open_some(crawl_id, named[at : at + PAGES_PER_TRANSACTION], place or Placement())
        again, has_reopened = again + part.again, has_reopened or part.has_reopened
    return AskedAgain(again, len(named) - again, has_reopened)


def _open_some(crawl_id: UUID, ids: Sequence[int], place: Placement) -> AskedAgain:
    now = clock.epoch_seconds()
    with transaction.atomic():
        crawl = _locked(crawl_id)
        was_over = crawl.is_over
        opened = additions.open_again(crawl_id, ids, place, now)
        if not opened:
            return AskedAgain()
        begin_round_if_over(crawl, now)
        audit.note("crawl.asked_again", crawl, after={"pages": len(opened)})
        context_of(crawl).frontier.ready_queue.rewind()  # before the commit, as in `add`
    crash_point("again: committed")
    _take_effect(crawl, (), opened)
    return AskedAgain(len(opened), has_reopened=was_over)


def _locked(crawl_id: UUID) -> Crawl:
    """The crawl with its row locked. NoCrawl also while it is being deleted, BadInput while its list is read."""
    crawl = Crawl.objects.select_for_update().filter(id=crawl_id).first()
    if crawl is None or context_of(crawl).frontier.is_being_deleted():
        raise NoCrawl
    if crawl.state == State.LOADING:
        raise BadInput("urls", LOADING)
    return crawl


def _take_effect(crawl: Crawl, moved: Sequence[OpenPage], again: Sequence[int]) -> None:
    """Move waiting pages in the ready queue, have the others filled in, and wake the manager. If Redis does not
    respond, `reconcile` does the rest."""
    context = context_of(crawl)
    frontier = context.frontier
    try:
        if again:
            frontier.requeue_dead_letters(again)
        if moved:
            before = {page.id: page.priority for page in moved}
            rows = queries.open_pages(crawl.id, before).values()
            frontier.queue_changes.move((queue_item(row, context.options), before[row.id]) for row in rows)
            frontier.ready_queue.rewind()  # again: a tick may have refilled the ready queue before the commit
        frontier.clear_close_at()
        wake_manager(crawl)
    except RedisError as error:
        log.warning("pages of crawl %s wait for Redis: %s", crawl.id, error, extra=logs.of(crawl.id))


def _sorted_out(crawl: Crawl, pages: Sequence[PageRequest], by: Namer) -> tuple[dict[str, PageRequest], list[Refused]]:
    """The pages by their normalised URLs, and those that are refused, each once."""
    judged = dict(_judged(crawl, [page.url for page in pages if not page.why], by))
    wanted, refused = dict[str, PageRequest](), dict[str, Refused]()
    for page in pages:
        url, why = ("", page.why) if page.why else judged[page.url]
        if why:
            refused.setdefault(page.url, Refused(page.url, why))
        else:
            wanted.setdefault(url, page)
    return wanted, list(refused.values())


def _judged(crawl: Crawl, references: Sequence[str], by: Namer) -> Iterator[tuple[str, tuple[str, str]]]:
    """What was given -> the URL of the page, or why it is refused. A list has the hosts of its pages as its scope, and
    its owner may add others."""
    scope = None if crawl.source else Scope.of(crawl.start_urls, crawl.chosen)
    known = set[str]() if is_limited(by, crawl.chosen.private_hosts) else {host_of(url) for url in crawl.start_urls}
    allowed = private_hosts_for(by, crawl.chosen.private_hosts, installation_hosts())
    doors = _Doors(guard_of(allowed), known, crawl.id if crawl.source and not may_add_hosts(by) else None)
    for given in references:
        try:
            url = parse_user_url(given)
        except BadInput as error:
            yield given, ("", error.message)
            continue
        url = url if scope is None else scope.tidied(url)
        side = Side.INSIDE if scope is None else scope.side(url)
        why = {Side.OUTSIDE: "It is outside the crawl's scope.", Side.NOWHERE: "An exclude pattern matches it."}
        yield given, (url, why[side] if side is not Side.INSIDE else doors.refusal(url))


class _Doors:
    """Which hosts are refused: by the guard, or because they are not in the list of this crawl. Those of start URLs
    were checked at the start, and all are when to request them: a name that cannot be resolved now is not refused.
    """

    def __init__(self, guard: Guard, known: set[str], listed_in: UUID | None) -> None:
        self._guard, self._lookups, self._listed_in = guard, 0, listed_in
        self._refusals = dict.fromkeys(known, "")

    def refusal(self, url: str) -> str:
        """Why it is refused; "" = it is not."""
        host = host_of(url)
        if host not in self._refusals:
            self._refusals[host] = self._check(url)
        return self._refusals[host]

    def _check(self, url: str) -> str:
        self._lookups += 1
        if self._listed_in is not None:
            if self._lookups > MAX_LOOKUPS:
                return f"It is on another host than the first {MAX_LOOKUPS}: add pages of fewer hosts at a time."
            if not queries.has_host(self._listed_in, host_of(url)):
                return "Its host is not in the crawl's list; the crawl's owner can add it."
        if self._lookups > MAX_LOOKUPS:
            return ""
        try:
            self._guard.resolve(*host_and_port(url))
        except AddressRefused as error:
            return f"{error}."
        except (FetchTimeout, NotConnected, NameNotFound):
            return ""
        return ""
