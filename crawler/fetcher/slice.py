"""Fetches one slice of a batch: page after page as its host allows, resumed later when rate-limited."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from redis.exceptions import RedisError
from rq.timeouts import BaseTimeoutException

from crawler.core.errors import CannotWork, MissingHere, SealBroken
from crawler.core.pages.outcomes import Outcome
from crawler.core.politeness.host_rules import MAX_SLICE_WAIT_S, SLOW_RESPONSE_S, is_hopeless, is_misjudged
from crawler.core.protocol.messages import PageResult, PageTask
from crawler.crashpoints import crash_point
from crawler.fetcher.host_slot import RateLimited
from crawler.fetcher.page import PageFetcher
from crawler.fetcher.page_step import PageStep, SliceContext, steps_of
from crawler.fetcher.pool import PooledConnection
from crawler.fetcher.robots_check import NOT_FETCHED, RobotsChecker
from crawler.frontier.host_state import FailureStreak
from crawler.http.client import HttpFetcher
from crawler.http.errors import RequestAborted
from crawler.http.event_loop import sleep

if TYPE_CHECKING:
    from crawler.fetcher.session import FetchSession

log = logging.getLogger(__name__)

SLOT_POLL_S = 0.05  # between two tries for a slot, when all slots of a host are in use
MISSING_PAUSE_S = 5.0  # before a worker hands back a page that needs what it lacks
SLOT_BUSY_DELAY_S = 1.0  # until a host whose slots are all in use is tried in another batch


class SliceRun:
    """One slice of a session's batch."""

    def __init__(self, session: FetchSession, number: int) -> None:
        self.slot = session.host_slot(number)
        self._session, self._number, self._now = session, number, session.now
        self._part, self._policy = session.batch.slices[number], session.batch.policy
        self._terms = (self._part.host, self._policy)
        self._unresponsive_hosts = session.frontier.unresponsive_hosts
        self._unresponsive: FailureStreak | None = None  # of the host, if it stops this slice
        self._has_begun = self._is_suspicious = self._is_hopeless = self._is_aborted = False
        self._unreported_requests = 0  # requests that no result has counted yet
        self._place = 0
        self._spent_s, self._responses = 0.0, 0  # on pages that got a response, and their number
        self._waiting_since: float | None = None
        self._fetcher: HttpFetcher | None = None
        self._robots: RobotsChecker | None = None
        self._page_fetcher: PageFetcher | None = None
        self._steps: tuple[PageStep, ...] = ()

    @property
    def host(self) -> str:
        return self._part.host

    def is_ending(self, pages: int) -> bool:
        """Whether it is worked on and has at most so many pages left."""
        return self._has_begun and len(self._part.pages) - self._place <= pages

    @property
    def host_of_wanted_slot(self) -> str | None:
        """The host, while all its slots are in use by others; None once there is a slot."""
        return None if self._has_begun else self._part.host

    def step(self, may_go_on: Callable[[], bool]) -> float | None:
        """Fetch pages while the host grants requests. Returns when to resume (epoch seconds); None when the slice is
        over: all pages are fetched, time is up, or the host asks to wait."""
        if not self._has_begun:
            if not may_go_on():
                return None
            self._has_begun = self._begin()
            if not self._has_begun:
                if self._session.job.is_working_on(self.host):  # then this job will have a free slot
                    self._waiting_since = None
                return self._wait_or_end(self._now() + SLOT_POLL_S, give_up_at=self._now() + SLOT_BUSY_DELAY_S)
            if self._waiting_since is not None:  # then there may be another free slot: the throttle allows more
                self._session.job.schedule.note_free_slot(self.host)
            self._waiting_since = None
            self._check_unresponsive(self._unresponsive_hosts.get(self._part.host))
        while self._place < len(self._part.pages) and may_go_on():
            task = self._part.pages[self._place]
            if task.expires_at is not None and self._now() >= task.expires_at:
                self._place += 1  # it is closed in the table by now, or will be at the next tick
                continue
            if not self._begin_page(task):
                return None
            try:
                answer = self._fetch(task)
            except RequestAborted:
                self._is_aborted = True
                if not self.slot.is_valid():
                    log.warning("a request to %s was ended: Redis did not confirm in time that it may go on", self.host)
                self._clear_suspect()
                return None
            if isinstance(answer, RateLimited):
                self._clear_suspect()
                return self._wait_or_end(answer.at, give_up_at=answer.at)
            self._waiting_since = None
            self._place += 1
            self._unreported_requests -= answer.requests
            self._session.result_buffer.add(self._number, answer)
            if self._has_far_too_many(answer):
                return None
        return None

    def _has_far_too_many(self, answer: PageResult) -> bool:
        if answer.http_status is None or self._session.batch.needs_slot:  # that lane has few pages in a slice
            return False
        self._spent_s += answer.elapsed_ms / 1000
        self._responses += 1
        return is_misjudged(self._spent_s, self._responses, len(self._part.pages) - self._place)

    def renew(self) -> None:
        """Renew the lock of a robots.txt being fetched, and the locks of the steps."""
        robots = self._robots  # in the heartbeat's thread: it may be cleared at any moment
        if robots is not None:
            robots.renew()
        for step in self._steps:
            step.renew()

    def abort_if_invalid(self) -> None:
        """Abort the request under way if the slot is about to expire."""
        fetcher, steps = self._fetcher, self._steps  # in the watch's thread, as above
        if fetcher is not None and not self.slot.is_valid():
            fetcher.abort()
            for step in steps:
                step.abort()

    def end(self) -> int:
        """Release everything. Returns how many requests, for robots.txt or an aborted page, are counted in no
        result."""
        may_keep = self._fetcher is not None and self._unresponsive is None and not self._is_aborted
        place = self.slot.detach() if may_keep and not self._is_wanted_elsewhere() else None
        if self._fetcher is not None and place is not None:
            self._session.pool.put(self._terms, PooledConnection(self._fetcher, place[0], self._part.host, place[1]))
        elif self._fetcher is not None:
            self._fetcher.close()
        self.slot.end()
        self._fetcher = self._robots = self._page_fetcher = None  # the batch may go on for long
        self._steps = ()
        return self._unreported_requests

    def _is_wanted_elsewhere(self) -> bool:
        """Whether another worker waits for a connection to this slow host, and this one has no slice for it."""
        is_slow = self.slot.is_held and self._session.job.recent.seconds >= SLOW_RESPONSE_S
        return is_slow and not self._session.job.schedule.has_slice_of(self.host) and self.slot.is_wanted()

    def _begin(self) -> bool:
        """Reuse a pooled connection, or take a new slot of the host; False if there is none."""
        pooled = self._session.pool.take(self._terms)
        if pooled is None:
            return self.slot.begin()
        self._fetcher = pooled.fetcher
        if self.slot.begin(pooled.holder):
            return True
        self._fetcher = None
        pooled.close()  # it was idle for so long that its slot was taken
        return False

    def _wait_or_end(self, at: float, give_up_at: float) -> float | None:
        """Resume at that time, unless a batch should not be held for so long: then None, and the slice ends."""
        now = self._now()
        self._waiting_since = now if self._waiting_since is None else self._waiting_since
        if at - self._waiting_since <= MAX_SLICE_WAIT_S:
            return at
        self.slot.next_at = max(self.slot.next_at, give_up_at)
        return None

    def _begin_page(self, task: PageTask) -> bool:
        """Note a suspect before fetching it; False = fetch nothing more. It stays noted until it is rate-limited,
        another one is noted, or its report is processed: if the worker dies meanwhile, this page is blamed."""
        if not self._part.suspects or self._unresponsive is not None:
            return True
        if not self._session.note_suspect(task):
            return False
        crash_point("fetch: suspect in hand")
        return True

    def _clear_suspect(self) -> None:
        """The page is rate-limited: if the worker dies now, the page is not blamed."""
        if self._part.suspects:
            self._session.note_suspect(None)

    def _fetch(self, task: PageTask) -> PageResult | RateLimited:
        """Fetch one page. A bug that it triggers fails this page only."""
        if self._unresponsive is not None:
            return self._not_fetched(task, self._unresponsive)
        try:
            answer = self._opened().fetch(task)
            if not isinstance(answer, RateLimited):
                self._note(answer, task.url)
            return answer
        except (RedisError, BaseTimeoutException, RequestAborted):
            raise  # Redis is down, or RQ ends this job, or its worker is shutting down: not caused by the page
        except MissingHere as error:  # the page is handed back; a worker that has it will come
            log.warning("a page waits for another worker: %s", error)
            sleep(MISSING_PAUSE_S)
            raise RequestAborted from error
        except (SealBroken, CannotWork) as error:  # such as another SECRET_KEY here than the manager's
            return PageResult(id=task.id, attempt=task.attempt, outcome=Outcome.CRASHED, error=str(error))
        except Exception as error:
            log.exception("a page could not be worked on: %s", task.url, extra={"page": task.id})
            what = f"internal error ({type(error).__name__}) while processing this page; please report it"
            return PageResult(id=task.id, attempt=task.attempt, outcome=Outcome.CRASHED, error=what)
        finally:
            self.slot.end_grant()

    def _note(self, result: PageResult, url: str) -> None:
        """Record what the result says about the host."""
        if result.fetched_at:
            self.slot.record_result(result, url)
        if result.http_status is not None:
            if self._is_suspicious:
                self._unresponsive_hosts.remove(self._part.host)
                self._is_suspicious = False
        elif result.requests and (result.outcome.entry.is_unresponsive or result.robots_unreachable):
            self._check_unresponsive(
                self._unresponsive_hosts.record_failure(self._part.host, result.outcome, self._now())
            )

    def _check_unresponsive(self, streak: FailureStreak | None) -> None:
        """Stop fetching from a host that is given up, and, in this slice, from one that never responded. An unreachable
        robots.txt does not count as a response."""
        self._is_suspicious = streak is not None
        if streak is None:
            return
        has_answered = streak.outcome is not Outcome.ROBOTS and self.slot.has_answered()
        lasted = self._now() - streak.since
        self._is_hopeless = is_hopeless(streak.times, lasted, has_answered=has_answered)
        if self._is_hopeless or (self._page_fetcher is not None and not has_answered):
            self._unresponsive = streak

    def _not_fetched(self, task: PageTask, streak: FailureStreak) -> PageResult:
        times = "once" if streak.times == 1 else f"{streak.times} times in a row"
        is_robots = streak.outcome is Outcome.ROBOTS
        what = f"{NOT_FETCHED} {times}" if is_robots else f"the host did not respond {times}"
        return PageResult(
            id=task.id,
            attempt=task.attempt,
            outcome=streak.outcome,
            is_hopeless=self._is_hopeless,
            robots_unreachable=is_robots,
            error=f"{what}, so this page was not requested",
        )

    def _note_sent(self) -> None:
        """A request was sent."""
        self._unreported_requests += 1
        self.slot.note_sent()

    def _opened(self) -> PageFetcher:
        if self._page_fetcher is None:
            self._fetcher = self._fetcher or self._session.open_fetcher()
            self._fetcher.serve(self._note_sent, self.slot.is_valid)
            session, holder = self._session, self._session.holder(self._number)
            if self._policy.obey_robots:
                cache, agent = session.robots_cache, self._policy.user_agent
                self._robots = RobotsChecker(self._fetcher, cache, self.slot, holder, self._now, agent)
            context = SliceContext(
                batch=session.batch,
                host=self._part.host,
                holder=holder,
                fetcher=self._fetcher,
                slot=self.slot,
                robots=self._robots,
                frontier=session.frontier,
                now=self._now,
                note_sent=self._note_sent,
                shared=session.shared,
            )
            self._steps = steps_of(context)
            self._page_fetcher = PageFetcher(
                self._fetcher, self._robots, self.slot, self._policy, self._now, self._steps
            )
        return self._page_fetcher
