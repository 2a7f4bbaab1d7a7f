"""The crawler on a stage where anything can happen at any step, set up for one story and watched from within."""

import re
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from functools import partial
from random import Random
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from django.db.models import QuerySet
from django.utils import timezone

from crawler import clock, conf
from crawler.capabilities.browser import page_steps
from crawler.capabilities.hooks import conf as hook_settings
from crawler.capabilities.login import sessions
from crawler.capabilities.scrapy import driver
from crawler.capabilities.traps import page_filters
from crawler.core.pages.outcomes import Outcome
from crawler.core.politeness import host_rules
from crawler.crawls import delete, reconcile
from crawler.fetcher import connection_slot, host_slot, loop, result_buffer, session, work_stealing
from crawler.fetcher.slice import SliceRun
from crawler.frontier.frontier import Frontier
from crawler.frontier.keys import CrawlKeys
from crawler.manager import collect, dispatch, idle_poller
from crawler.manager import finish as conclude
from crawler.manager import tick as manage
from crawler.manager.context import TickContext
from crawler.models import Crawl, Page, Trap
from crawler.notices import delivery
from crawler.queueing import liveness, queues
from crawler.storage import additions, queries, writer
from tests.manager.machine import memory
from tests.manager.machine.browser import WorldBrowser
from tests.manager.machine.clock import SLOWER, Clock, OneAfterAnother, Pulse
from tests.manager.machine.hooked import Noting
from tests.manager.machine.ledger import Excuses, Ledger
from tests.manager.machine.stage import AtOnce, Stage
from tests.manager.machine.workers import Workers
from tests.manager.machine.world import World, bound_of
from tests.scrapy_twin import Scrapy

MAX_ATTEMPTS = 3


class Machine:
    """All chance comes from one generator, so that a seed is a story that can be told again."""

    def __init__(
        self,
        world: World,
        chance: Random,
        collectors: int = 1,
        shells: frozenset[str] = frozenset(),
        hooks: tuple[str, ...] = (),
        members: frozenset[str] = frozenset(),
    ) -> None:
        self.world, self.chance, self.collectors = world, chance, collectors
        self.story: list[str] = []
        self.hooks = hooks
        self.redis = queues.connection()
        self.redis.flushall()
        world.begin_anew(shells, members)
        self.browser = WorldBrowser(world)
        self.scrapy = Scrapy(lambda: None)
        self.patches, self.stack = pytest.MonkeyPatch(), ExitStack()
        self.stage, self.clock, self.excuses = Stage(), Clock(self.redis), Excuses()
        self.workers = Workers(self.redis, self.stage, self.clock)
        self.ledgers: list[Ledger] = []
        self.withheld = self.workers.withheld
        self.snapshot: memory.Snapshot | None = None
        self.needs_help = False  # a running crawl may need somebody who looks from outside

    def tell(self, what: str) -> None:
        self.story.append(what)

    def set_up(self) -> None:
        Pulse.clock = self.clock
        Noting.begin_anew(self.stage.reach_in_thread)
        self.stack.callback(self.patches.undo)
        self.stack.enter_context(self.stage.set_up(self.patches))
        for owner, name, value in (
            (clock, "shared", SimpleNamespace(epoch_seconds=self.clock.time)),
            (timezone, "now", self.clock.moment),
            (loop, "EventLoop", partial(OneAfterAnother, self.clock)),
            (loop, "Heartbeat", Pulse),
            (loop, "SlotWatch", lambda look: nullcontext()),  # tasks do not wait here
            (
                connection_slot,
                "threading",
                SimpleNamespace(Lock=threading.RLock),
            ),  # its heart beats in the same thread here
            (host_slot, "sleep", self.clock.sleep),
            (work_stealing, "ThreadPoolExecutor", AtOnce),
            (host_rules, "SLICE_PAGES", 3),
            (host_rules, "MAX_SLICE_PAGES", 3),
            (dispatch, "MAX_SLICES_PER_BATCH", 2),
            (delete, "DELETE_ROWS_PER_TRANSACTION", 5),
            (idle_poller, "MAX_POLL_S", 5.0),  # a story is short
            (
                idle_poller,
                "POLL_INTERVAL_S",
                2.0,
            ),  # when nothing is due sooner: half of the looks in a story find nothing
            # Of the scans alone: the lock of a tick lives for seconds.
            (reconcile, "liveness", SimpleNamespace(**{**vars(liveness), "MS_PER_S": liveness.MS_PER_S * SLOWER})),
            (conf, "max_attempts", lambda: MAX_ATTEMPTS),
            (conf, "collectors", lambda: self.collectors),
            (hook_settings, "hooks", lambda: self.hooks),
            (conclude, "mark_finished", self._finished_by(conclude.mark_finished)),
            (additions, "reopen", self._reopened_by(additions.reopen)),
            (additions, "add", self._added_by(additions.add)),
            (additions, "open_again", self._opened_again_by(additions.open_again)),
            (dispatch, "_build_batches", self._built_by(dispatch._build_batches)),
            (writer, "release", self._released_by(writer.release)),
            (page_filters, "may_exceed", lambda url, depth: True),
            (page_filters, "bound_of", lambda url, depth, parent: bound_of(self.world.name(url))),
            (manage, "manage", self._ticked_by(manage.manage)),
            (queues, "steal_batch", self.workers.adopting(queues.steal_batch)),
            (page_steps, "Renderer", self.browser),
            (driver, "visit", self.scrapy.visit),
            (queues, "is_for_last_queues", self.workers.is_for_last_queues),
            (SliceRun, "_begin_page", self.workers.beginning(SliceRun._begin_page)),
        ):
            self.patches.setattr(owner, name, value)
        for module in (delivery, loop, session, result_buffer, reconcile):
            self.patches.setattr(module, "time", self.clock)
        drawn = Random(self.chance.getrandbits(64))  # the code's own chance is of this story, too
        self.patches.setattr(collect, "random", drawn)
        secrets = SimpleNamespace(
            token_hex=lambda size: drawn.randbytes(size).hex(),
            randbelow=lambda most: drawn.randrange(most) if most > 1 else 0,
        )
        for module in (queues, dispatch, manage, sessions):
            self.patches.setattr(module, "secrets", secrets)
        self.workers.come()

    # What the machine watches from within

    def _finished_by(self, finish: Callable[..., bool]) -> Callable[..., bool]:
        """Both completion checks agree whenever finished is said."""

        def watched(crawl: Crawl, slowed: dict[str, Any] | None = None) -> bool:
            with self.stage.nobody():
                queue_side = Frontier(self.redis, str(crawl.id)).queue_side()
            done = finish(crawl, slowed)
            if done:
                with self.stage.nobody():
                    assert queue_side.is_empty, f"finished, although there was {queue_side}"
                    assert not queries.has_open(crawl.id)
                    self.ledger_of(crawl.id).ends[crawl.round] += 1
            return done

        return watched

    def _reopened_by(self, reopen: Callable[..., int]) -> Callable[..., int]:
        """Exactly the dead letters are opened again, of which the caller named some or all."""

        def watched(crawl: UUID, ids: Sequence[int] | None, now: float) -> int:
            with self.stage.nobody():
                ledger = self.ledger_of(crawl)
                before = {row.id for row in ledger.rows() if not row.is_closed}
                expected = {page for page in ledger.dead_letters() if ids is None or page in ids}
            number = reopen(crawl, ids, now)
            with self.stage.nobody():
                after = {row.id for row in ledger.rows() if not row.is_closed}
                assert after - before == expected
                assert number == len(expected)
                ledger.reopened(expected)
            return number

        return watched

    def _added_by(self, add: Callable[..., additions.AdditionResult]) -> Callable[..., additions.AdditionResult]:
        """Each URL is a page once: new, open as it was, or closed as it was unless it is wanted again."""

        def watched(
            crawl: UUID, urls: Sequence[str], *given: Any, again: bool, **more: Any
        ) -> additions.AdditionResult:
            with self.stage.nobody():
                ledger = self.ledger_of(crawl)
                before = {row.url: row for row in ledger.rows()}
            done = add(crawl, urls, *given, again=again, **more)
            with self.stage.nobody():
                after = {row.url: row for row in ledger.rows()}
                assert len(after) == len(ledger.rows()), "a page was added twice"
                assert set(after) == {*before, *urls}
                named = [before[url] for url in urls if url in before]
                closed = {row.id for row in named if row.is_closed}
                opened = {row.id for row in before.values() if row.is_closed and not after[row.url].is_closed}
                assert opened == set(done.again) <= closed
                assert again or not opened
                assert done.added == len(urls) - len(named)
                assert not any(after[url].is_closed for url in urls if url not in before)
                ledger.reopened(done.again)
            return done

        return watched

    def _opened_again_by(self, open_again: Callable[..., Sequence[int]]) -> Callable[..., Sequence[int]]:
        """Those that are named, and no others."""

        def watched(crawl: UUID, ids: Sequence[int], *given: Any) -> Sequence[int]:
            with self.stage.nobody():
                ledger = self.ledger_of(crawl)
                closed = {row.id for row in ledger.rows() if row.is_closed}
                expected = {row.id for row in ledger.rows() if row.id in ids and row.outcome not in ("", Outcome.TRAP)}
            done = open_again(crawl, ids, *given)
            with self.stage.nobody():
                assert closed - {row.id for row in ledger.rows() if row.is_closed} == expected == set(done)
                ledger.reopened(done)
            return done

        return watched

    def _built_by(self, build: Callable[..., Any]) -> Callable[..., Any]:
        """No batch has a page before its time, or one that a pattern of the tick leaves out."""

        def early() -> set[int]:
            with self.stage.nobody():
                return set(Page.objects.filter(not_before__gt=self.clock.now).values_list("id", flat=True))

        def watched(context: TickContext, drafts: Sequence[Any]) -> Any:
            before = early()
            batches, left_out = build(context, drafts)
            handed_out = {task.id for batch in batches for part in batch.slices for task in part.pages}
            assert not handed_out & before & early(), "handed out before its time"
            urls = {task.url for batch in batches for part in batch.slices for task in part.pages}
            wrong = [url for url in urls if any(re.search(each, url) for each in context.options.exclude)]
            assert not wrong, f"handed out, although a pattern leaves them out: {wrong}"
            return batches, left_out

        return watched

    def _released_by(self, release: Callable[..., tuple[int, int]]) -> Callable[..., tuple[int, int]]:
        """All that is in quarantine is opened, and nothing else."""

        def watched(crawl: UUID, chosen: QuerySet[Trap], now: float) -> tuple[int, int]:
            with self.stage.nobody():
                ledger = self.ledger_of(crawl)
                expected = {row.id for row in ledger.rows() if row.outcome == Outcome.TRAP}
            released, opened = release(crawl, chosen, now)
            with self.stage.nobody():
                assert opened == len(expected)
                assert not [row for row in ledger.rows() if row.outcome == Outcome.TRAP]
                if expected:
                    ledger.reopened(expected)
            return released, opened

        return watched

    def _ticked_by(self, tick: Callable[[UUID, int], str]) -> Callable[[UUID, int], str]:
        """A tick that ends leaves no report that nobody will look at."""

        def watched(crawl: UUID, collector: int = 0) -> str:
            said = tick(crawl, collector)
            with self.stage.nobody():
                keys = CrawlKeys(str(crawl), collector)
                is_left = self.redis.exists(keys.results) and not self.redis.exists(keys.mark, keys.lock)
                assert self.excuses.redis_lost_something or not is_left, "a tick left a report behind"
            return said

        return watched

    def ledger_of(self, crawl: UUID) -> Ledger:
        return next(ledger for ledger in self.ledgers if ledger.id == crawl)
