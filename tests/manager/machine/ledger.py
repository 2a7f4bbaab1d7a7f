"""What must hold of one crawl, whatever happened to it: each promise is a method, checked after every step."""

import math
import re
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from msgspec import structs
from redis import Redis

from crawler import conf
from crawler.capabilities.browser.options import AUTO
from crawler.capabilities.hooks.loading import TRANSPORT
from crawler.capabilities.scrapy.options import SCRAPY
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.options.events import ENDS, Event
from crawler.core.options.queue import EARLY
from crawler.core.pages.outcomes import Category, Outcome
from crawler.core.protocol.completion import Limit, State
from crawler.core.protocol.counters import adds_up
from crawler.core.urls.normalise import key_of
from crawler.frontier.frontier import Frontier
from crawler.frontier.keys import CrawlKeys
from crawler.frontier.seen_set import SeenSet
from crawler.models import Crawl, Delivery, Disagreement, Notice, Page, PageFacts, Trap
from crawler.reports.receipt import receipt_of
from crawler.storage import queries
from tests.manager.machine.browser import WorldBrowser
from tests.manager.machine.hooked import FOUND, Noting
from tests.manager.machine.memory import left_of
from tests.manager.machine.workers import Workers
from tests.manager.machine.world import World, bound_of, final_status, is_transient


class Row(NamedTuple):
    id: int
    url: str
    status: int
    outcome: str
    http_status: int | None
    attempts: int
    deaths: int
    died_with: str
    given_up: bool
    depth: int
    expires_at: float | None
    put_off: int | None
    lane_reason: str

    @property
    def is_closed(self) -> bool:
        return self.status == Page.CLOSED


@dataclass
class Excuses:
    """What happened that allows what would be a fault otherwise."""

    redis_lost_something: bool = False  # all it knew, or what it learnt since it last wrote to its disk, or single keys
    session_ended_in_a_job: bool = False  # perhaps just after the log-in for a page, which then shows the form again
    redis_evicted_keys: bool = False  # single keys: what it still knows contradicts itself


class Ledger:
    def __init__(
        self, crawl: UUID, world: World, redis: Redis, workers: Workers, browser: WorldBrowser, excuses: Excuses
    ) -> None:
        self.id, self._world, self._redis, self._browser = crawl, world, redis, browser
        self._workers, self._excuses = workers, excuses
        self._closed: dict[int, Row] = {}
        self._options: CrawlOptions = Crawl.objects.get(id=crawl).chosen
        self._may_have_had = [self._options]  # what people chose at any time, even if they died before it was stored
        self._most_pages: float = math.inf  # that may have been asked for; more than the limit after it was lowered
        self.is_being_deleted = False
        self.was_cancelled = False
        self._let_in: set[int] = set()  # pages that a limit had closed, until a person opened them
        self.retries = 0  # times dead letters were opened again
        self.ends: Counter[int] = Counter()  # round -> times somebody was told that it was he who ended it

    def __repr__(self) -> str:
        return f"crawl {self.id}"

    @property
    def crawl(self) -> Crawl | None:
        return Crawl.objects.filter(id=self.id).first()

    @property
    def options(self) -> CrawlOptions:
        """What is chosen now, or was when the crawl was deleted."""
        if (crawl := self.crawl) is not None:
            self._options = crawl.chosen
        return self._options

    @property
    def was_changed(self) -> bool:
        return len(self._may_have_had) > 1

    def may_have(self, values: Mapping[str, Any]) -> None:
        """A person is about to give these options other values."""
        self._may_have_had.append(structs.replace(self.options, **values))
        self._most_pages = math.inf

    def _was_left_out(self, url: str) -> bool:
        return any(re.search(pattern, url) for options in self._may_have_had for pattern in options.exclude)

    @property
    def round(self) -> int:
        crawl = self.crawl
        return crawl.round if crawl is not None else 0

    @property
    def is_gone(self) -> bool:
        return self.is_being_deleted and self.crawl is None

    @property
    def is_over(self) -> bool:
        crawl = self.crawl
        return crawl is None or crawl.is_over

    def rows(self) -> list[Row]:
        return [Row(*values) for values in Page.objects.filter(crawl=self.id).values_list(*Row._fields)]

    def dead_letters(self) -> list[int]:
        return sorted(row.id for row in self.rows() if row.is_closed and row.given_up)

    def reopened(self, ids: Iterable[int]) -> None:
        """A person sent these dead letters again: they may be open now."""
        self.retries += 1
        for page in ids:
            row = self._closed.pop(page, None)
            if row is not None and row.outcome == Outcome.LIMIT:
                self._let_in.add(page)

    def check(self) -> None:
        crawl, rows = self.crawl, self.rows()
        if crawl is None:
            assert self.is_being_deleted, "the crawl's row is gone"
            assert not rows
            return
        if self.is_being_deleted:
            return  # a part of its rows may be gone; deleting it again goes on
        self._closed_pages_stay_as_they_are(rows)
        self._what_a_closed_page_led_to_is_in_the_table(rows)
        self._each_page_closed_for_a_reason(rows)
        self._counters_equal_rows(crawl)
        self._traps_count_their_rows(rows)
        self._each_round_ends_once(crawl)
        self._each_page_asked_for_is_told_of_once_a_round(crawl, rows)
        self._what_is_over_is_complete(crawl, rows)
        self._nobody_is_declared_dead_who_lives(rows)
        self._the_seen_set_knows_no_more_than_the_table(rows)
        self._both_checks_agree()
        self._limits_are_kept(crawl, rows)
        self._shells_are_rendered_and_nothing_else(rows)
        self._nothing_acknowledged_early_is_blamed(rows)
        self._it_is_held_for_a_reason(crawl)

    def _closed_pages_stay_as_they_are(self, rows: Sequence[Row]) -> None:
        closed = {row.id: row for row in rows if row.is_closed}
        changed = [(row, closed.get(page)) for page, row in self._closed.items() if closed.get(page) != row]
        assert not changed, f"closed pages changed: {changed}"
        self._closed = closed

    def _what_a_closed_page_led_to_is_in_the_table(self, rows: Sequence[Row]) -> None:
        """So no page is ever forgotten: as long as one is to be fetched, a row is open."""
        names = {self._world.name(row.url) for row in rows}
        for row in rows:
            if row.is_closed:
                missing = {
                    name for name in set(self._led_to(row)) - names if not self._was_left_out(self._world.url(name))
                }
                assert not missing, f"{row.url} is closed, but {missing} are not in the table"
        assert names <= self._world.plan.keys(), "pages were made up"

    def _led_to(self, row: Row) -> tuple[str, ...]:
        return self._world.leads_to(self._world.name(row.url), row.http_status)

    def _each_page_closed_for_a_reason(self, rows: Sequence[Row]) -> None:
        options = self.options
        for row in rows:
            if row.is_closed:
                assert self._is_justified(row, options), f"closed without reason: {row}"
                assert row.given_up == (
                    Outcome(row.outcome).category is Category.FAILED or is_transient(row.http_status)
                ), row

    def _is_justified(self, row: Row, options: CrawlOptions) -> bool:
        name, asked_enough = self._world.name(row.url), row.attempts >= conf.max_attempts()
        match Outcome(row.outcome):
            case Outcome.ROBOTS:
                return name.endswith("/secret")
            case Outcome.TRAP:
                return bound_of(name) is not None
            case Outcome.CRASHED:
                has_process_of_its_own = options.engine == SCRAPY or self._browser.crashed[name] > 0
                return row.deaths >= conf.max_attempts() or (has_process_of_its_own and asked_enough)
            case Outcome.LOST:
                died = row.id in self._workers.suspects or self._excuses.redis_lost_something
                return options.ack == EARLY and died
            case Outcome.CANCELLED:
                return self.was_cancelled
            case Outcome.EXPIRED:
                return row.expires_at is not None
            case Outcome.LIMIT:
                return any(each.max_pages is not None for each in self._may_have_had) or (
                    options.max_depth is not None and row.depth > options.max_depth
                )
            case Outcome.EXCLUDED:
                return self._was_left_out(row.url)
            case _:
                was_answered = row.http_status in self._world.answered[name]
                is_final = row.http_status == final_status(self._world.plan[name]) and not is_transient(row.http_status)
                was_put_off = "Retry-After" in self._world.plan[name].headers and is_transient(row.http_status)
                return was_answered and (is_final or asked_enough or was_put_off)

    def _counters_equal_rows(self, crawl: Crawl) -> None:
        assert crawl.tallies == queries.count_rows(self.id)
        of_time = crawl.limits.get(Limit.DEADLINE, 0) + crawl.limits.get(Limit.PAGE_TTL, 0)
        assert of_time == crawl.outcomes.get(Outcome.EXPIRED, 0)
        assert sum(crawl.limits.values()) - of_time == crawl.outcomes.get(Outcome.LIMIT, 0)

    def _traps_count_their_rows(self, rows: Sequence[Row]) -> None:
        """Each page of a shape once, let in or not; those that the depth limit cut off are not judged."""
        deepest = self.options.max_depth
        judged = [row for row in rows if deepest is None or (row.depth <= deepest and row.id not in self._let_in)]
        for trap in Trap.objects.filter(crawl=self.id):
            bounds = [(row, bound_of(self._world.name(row.url))) for row in judged]
            ours = [row for row, bound in bounds if bound is not None and bound.reason == trap.reason]
            kept_out = [row for row in ours if row.outcome == Outcome.TRAP]
            assert (trap.quarantined, trap.pages) == (len(kept_out), len(ours) - len(kept_out)), trap
            assert trap.left_out == 0

    def _each_round_ends_once(self, crawl: Crawl) -> None:
        ends = Notice.objects.filter(crawl=self.id).exclude(event=Event.PAGE)
        told = sorted(ends.values_list("round", flat=True))
        assert told == list(range(1, crawl.round + int(crawl.is_over))), "each round is told once, when it is over"
        assert crawl.round <= 1 + self.retries
        assert not self.ends or max(self.ends.values()) == 1, f"ended more than once: {self.ends}"
        assert crawl.state != State.CANCELLED or self.was_cancelled

    def _each_page_asked_for_is_told_of_once_a_round(self, crawl: Crawl, rows: Sequence[Row]) -> None:
        """In the transaction that closes it, so that it is so at every moment."""
        told: dict[int, list[int]] = {}
        for notice in Notice.objects.filter(crawl=self.id, event=Event.PAGE):
            told.setdefault(notice.round, []).extend(notice.pages)
        assert all(len(pages) == len(set(pages)) for pages in told.values()) or self.retries, "told of twice"
        asked = {
            row.id
            for row in rows
            if row.is_closed and Outcome(row.outcome).category in (Category.FETCHED, Category.FAILED)
        }
        assert asked <= {page for pages in told.values() for page in pages}, "a page closed, and nobody was told"

    def _what_is_over_is_complete(self, crawl: Crawl, rows: Sequence[Row]) -> None:
        """And what was told of it stays true."""
        if not crawl.is_over:
            return
        assert all(row.is_closed for row in rows)
        receipt = receipt_of(crawl)
        assert adds_up(receipt)
        assert receipt["discovered"] == len(rows)
        assert Notice.objects.get(crawl=self.id, round=crawl.round, event__in=ENDS).receipt == receipt

    def _nobody_is_declared_dead_who_lives(self, rows: Sequence[Row]) -> None:
        if self._excuses.redis_lost_something:
            return
        deaths, suspects = self._workers.deaths, self._workers.suspects
        blamed = [(row, deaths[row.id]) for row in rows if row.deaths > deaths[row.id]]
        assert not blamed, f"more deaths are counted than there were while the page was in hand: {blamed}"
        wronged = [row for row in rows if row.died_with and row.id not in suspects]
        assert not wronged, f"suspects, although none of their workers died: {wronged}"

    def _the_seen_set_knows_no_more_than_the_table(self, rows: Sequence[Row]) -> None:
        known = SeenSet(self._redis, CrawlKeys(str(self.id)).seen)
        stored = {row.url for row in rows}
        unstored = [url for name in self._world.plan if (url := self._world.url(name)) not in stored]
        assert known.missing([key_of(url) for url in unstored]) == list(range(len(unstored)))

    def _both_checks_agree(self) -> None:
        """Counters never differ from rows; the queue side may only lack what Redis lost, or what a person opened."""
        for disagreement in Disagreement.objects.filter(crawl=self.id):
            assert "counters" not in disagreement.what, disagreement.what
            assert self._excuses.redis_lost_something or self.retries, disagreement.what

    def _limits_are_kept(self, crawl: Crawl, rows: Sequence[Row]) -> None:
        self._the_page_limit_is_kept(crawl)
        deepest = crawl.chosen.max_depth
        assert deepest is None or all(row.depth <= deepest + 1 for row in rows)

    def _the_page_limit_is_kept(self, crawl: Crawl) -> None:
        """When it is lowered, no more pages come to those that were requested or handed out by then. No process is at
        work now; reports of those that seemed dead may yet arrive."""
        limit, asked = crawl.chosen.max_pages, crawl.tallies.asked
        if limit is None or self._excuses.redis_evicted_keys:
            return
        if not self.was_changed:
            assert asked <= limit
        elif not self._excuses.redis_lost_something:
            assert asked <= self._most_pages, f"{asked} pages, not {self._most_pages}"
            out = Frontier(self._redis, str(self.id)).ready_queue.handed_out()
            late = self._workers.withheld_pages(self.id)
            self._most_pages = max(limit, min(self._most_pages, asked + out + late))

    def _shells_are_rendered_and_nothing_else(self, rows: Sequence[Row]) -> None:
        """A shell that closed without a browser would have led nowhere."""
        if self.options.render != AUTO:
            return
        shells = {row.url for row in rows if self._world.name(row.url) in self._world.shells}
        assert {row.url for row in rows if row.lane_reason} <= shells, "rendered without need"
        wrong = [row for row in rows if row.url in shells and row.http_status == 200 and not row.lane_reason]
        assert not wrong, f"closed without a browser: {wrong}"

    def _nothing_acknowledged_early_is_blamed(self, rows: Sequence[Row]) -> None:
        """A death is the end of its pages: none is tried again for it."""
        if self.options.ack == EARLY:
            assert not [row for row in rows if row.died_with or row.deaths], "a page outlived its worker"

    def _it_is_held_for_a_reason(self, crawl: Crawl) -> None:
        """By itself it is paused only where the site refuses the password; that a session has ended is no reason."""
        if crawl.pause_reason and not self._excuses.session_ended_in_a_job:
            assert self._world.door.refused, crawl.pause_reason
            assert "check the values" in crawl.pause_reason

    # At its end

    def check_end(self) -> None:
        """The crawl was left alone until nothing happened any more."""
        crawl = self.crawl
        assert self.is_being_deleted == (crawl is None), "a deleted crawl is not gone"
        if not self._excuses.redis_lost_something:  # else it may not know of a crawl that is over
            left = left_of(self._redis, str(self.id))
            assert left == set(), f"left in Redis: {sorted(left)}"
        if crawl is None:
            return
        assert crawl.is_over, "the crawl never ended"
        assert not Delivery.objects.filter(notice__crawl=self.id, state=Delivery.PENDING).exists()
        sent = Delivery.objects.filter(notice__crawl=self.id).exclude(transport=TRANSPORT)
        delivered = {str(told) for told in sent.values_list("id", flat=True)}
        assert delivered <= self._world.delivered()
        self._hooks_were_called(crawl)
        if crawl.state == State.FINISHED and self.retries == 0 and not self.was_changed:
            self._depths_are_the_least(self.rows())

    def _hooks_were_called(self, crawl: Crawl) -> None:
        """At least once for each page that was requested and each round, unless three workers died during a call; and
        what was found on a page is stored with it."""
        calls = Delivery.objects.filter(notice__crawl=self.id, transport=TRANSPORT)
        if not calls.exists():
            return
        rounds = {-number for number in range(1, crawl.round + 1)}
        asked = {row.id for row in self.rows() if Outcome(row.outcome).category in (Category.FETCHED, Category.FAILED)}
        missing = {(str(self.id), each) for each in rounds | asked} - Noting.told
        assert not missing, f"hooks were not called for {missing}"
        read = {row.id for row in self.rows() if row.outcome == Outcome.SUCCESS}
        found = dict(PageFacts.objects.filter(crawl=self.id).values_list("page_id", "fields"))
        unread = {page for page in read if found.get(page) != FOUND}
        assert not unread, f"nothing is stored of what a hook found on {unread}"

    def _depths_are_the_least(self, rows: Sequence[Row]) -> None:
        """With a depth limit, the same pages are cut off whatever order answers arrive in; but a page with a long
        Retry-After does not hold up deeper levels, so what it links to may be found deeper first."""
        if self.options.max_depth is None:
            return
        by_name = {self._world.name(row.url): row for row in rows}
        least = self._least_depths(by_name)
        most = self._least_depths({name: row for name, row in by_name.items() if row.put_off is None})
        depths = {name: (least.get(name), row.depth, most.get(name, row.depth)) for name, row in by_name.items()}
        wrong = {name: each for name, each in depths.items() if each[0] is None or not each[0] <= each[1] <= each[2]}
        assert not wrong, f"least depth, depth found, most that put off pages excuse: {wrong}"

    def _least_depths(self, by_name: dict[str, Row]) -> dict[str, int]:
        """By breadth-first search; a redirect leads to a page of the same depth."""
        least: dict[str, int] = {}
        due = deque((name, 0) for name in by_name if by_name[name].depth == 0)
        while due:
            name, depth = due.popleft()
            if least.get(name, depth + 1) <= depth:
                continue
            least[name] = depth
            row = by_name.get(name)
            if row is None:
                continue
            if row.http_status == 302:
                due.extendleft((target, depth) for target in self._led_to(row))
            else:
                due.extend((target, depth + 1) for target in self._led_to(row))
        return least
