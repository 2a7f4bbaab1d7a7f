"""Works on one slice of a batch: page after page, as far as its host lets it, and on again later."""

from __future__ import annotations

import logging
from collections.abc import Callable

from redis.exceptions import RedisError
from rq.timeouts import BaseTimeoutException

from crawler.clock import Clock
from crawler.core.crawl.messages import FetchPolicy, PageResult, PageTask, Slice
from crawler.core.crawl.outcomes import Outcome
from crawler.core.crawl.politeness import PATIENCE, is_hopeless
from crawler.core.errors import SealBroken
from crawler.crashpoints import crash_point
from crawler.fetcher.capture import More
from crawler.fetcher.host_slot import NotYet, Turns
from crawler.fetcher.page import Asker
from crawler.fetcher.pool import Keep, Standby
from crawler.fetcher.robots_check import Permission
from crawler.frontier.robots import RobotsMemory
from crawler.frontier.unresponsive_hosts import Silence, Silences
from crawler.http.client import HttpFetcher
from crawler.http.errors import Aborted

log = logging.getLogger(__name__)

ASK_AGAIN = 0.25  # seconds after which to try again for a connection, when a host's are all in use
NO_ANSWER = frozenset({Outcome.CONNECT, Outcome.TIMEOUT, Outcome.DNS})
LATER = 1.0  # seconds after which a host whose connections are all in use is tried in another batch


class SliceRun:
    """One slice at work. `add` takes each result. `take_in_hand` notes a suspect, or that none is in hand; False when
    the batch is in other hands. Only one thread works on it at a time."""

    def __init__(
        self,
        part: Slice,
        policy: FetchPolicy,
        turns: Turns,
        open_fetcher: Callable[[], HttpFetcher],
        keep: Keep,
        memory: RobotsMemory,
        silences: Silences,
        holder: str,
        now: Clock,
        take_in_hand: Callable[[PageTask | None], bool],
        add: Callable[[PageResult], None],
    ) -> None:
        self.turns = turns
        self._part, self._policy, self._memory = part, policy, memory
        self._open_fetcher, self._keep, self._terms = open_fetcher, keep, (part.host, policy)
        self._silences, self._holder, self._now, self._add = silences, holder, now, add
        self._note_in_hand = take_in_hand
        self._silence: Silence | None = None  # of the host, when nothing more is asked for because of it
        self._has_begun = self._is_suspicious = self._is_hopeless = self._is_aborted = False
        self._untold = 0  # requests made that no result has told of yet
        self._place = 0
        self._waited_since: float | None = None
        self._fetcher: HttpFetcher | None = None
        self._permission: Permission | None = None
        self._asker: Asker | None = None

    def step(self, may_go_on: Callable[[], bool]) -> float | None:
        """Ask for pages while it is their turn. The moment to go on, in epoch seconds; None when this slice is over:
        all is asked for, time is up, or the host wants to be left in peace."""
        if not self._has_begun:
            self._has_begun = self._begin()
            if not self._has_begun:
                return self._later(self._now() + ASK_AGAIN, give_up_at=self._now() + LATER)
            self._waited_since = None
            self._listen(self._silences.of(self._part.host))
        while self._place < len(self._part.pages) and may_go_on():
            task = self._part.pages[self._place]
            if task.expires_at is not None and self._now() >= task.expires_at:
                self._place += 1  # it is closed in the table by now, or will be at the next tick
                continue
            if not self._take_in_hand(task):
                return None
            try:
                answer = self._ask(task)
            except Aborted:
                self._put_down()
                return None
            if isinstance(answer, NotYet):
                self._put_down()
                return self._later(answer.at, give_up_at=answer.at)
            self._waited_since = None
            self._place += 1
            self._untold -= answer.requests
            self._add(answer)
        return None

    def renew(self) -> None:
        """Show those who wait for a robots.txt that it is still being asked for."""
        permission = self._permission  # from the heartbeat's thread: it may be gone the next moment
        if permission is not None:
            permission.renew()

    def abort(self) -> None:
        """From another thread: what is being asked for ends at once, without a result."""
        self._is_aborted = True  # before the fetcher is looked for: it may be opened at this moment
        fetcher = self._fetcher
        if fetcher is not None:
            fetcher.abort()

    def end(self) -> int:
        """Let go of everything. How many requests were made, for robots.txt or a page that was given up, and are told
        in no result."""
        may_keep = self._fetcher is not None and self._silence is None and not self._is_aborted
        place = self.turns.hand_over() if may_keep else None
        if self._fetcher is not None and place is not None:
            self._keep.give(self._terms, Standby(self._fetcher, place[0], self._part.host, place[1]))
        elif self._fetcher is not None:
            self._fetcher.close()
        self.turns.end()
        self._fetcher = self._permission = self._asker = None  # the batch may go on for long
        return self._untold

    def _begin(self) -> bool:
        """Go on with a connection that was kept, or see whether the host may have one more."""
        kept = self._keep.take(self._terms)
        if kept is None:
            return self.turns.begin()
        self._fetcher = kept.fetcher
        if self.turns.begin(kept.holder):
            return True
        self._fetcher = None
        kept.let_go()  # it was kept for so long that its place at the gate is another's
        return False

    def _later(self, at: float, give_up_at: float) -> float | None:
        """Wait until then, unless that is longer than a batch should be held for it."""
        now = self._now()
        self._waited_since = now if self._waited_since is None else self._waited_since
        if at - self._waited_since <= PATIENCE:
            return at
        self.turns.next_at = max(self.turns.next_at, give_up_at)
        return None

    def _take_in_hand(self, task: PageTask) -> bool:
        """Note a suspect that is about to be asked for; False = ask for nothing more. It stays noted until it waits for
        its turn, another one is in hand, or its report is taken in: what kills the worker on the way is its doing."""
        if not self._part.suspects or self._silence is not None:
            return True
        if not self._note_in_hand(task):
            return False
        crash_point("fetch: suspect in hand")
        return True

    def _put_down(self) -> None:
        """The page waits for its turn: who dies meanwhile does not die of it."""
        if self._part.suspects:
            self._note_in_hand(None)

    def _ask(self, task: PageTask) -> PageResult | NotYet:
        """Ask for one page. A fault of ours that it brings to light costs this page, and not the others."""
        if self._silence is not None:
            return self._unasked(task, self._silence)
        try:
            answer = self._ready().ask(task)
            if not isinstance(answer, NotYet):
                self._note(answer, task.url)
            return answer
        except (RedisError, BaseTimeoutException, Aborted):
            raise  # Redis is away, or RQ ends this job, or its worker was asked to end: no page's fault
        except SealBroken as error:  # this worker has another SECRET_KEY than the manager; another try may find another
            return PageResult(id=task.id, attempt=task.attempt, outcome=Outcome.CRASHED, error=str(error))
        except Exception as error:
            log.exception("a page could not be worked on: %s", task.url, extra={"page": task.id})
            what = f"{type(error).__name__} while working on this page; please report it"
            return PageResult(id=task.id, attempt=task.attempt, outcome=Outcome.CRASHED, error=what)
        finally:
            self.turns.settle()

    def _note(self, result: PageResult, url: str) -> None:
        """What the answer says of the host."""
        if result.fetched_at:
            self.turns.answered(result, url)
        if result.http_status is not None:
            if self._is_suspicious:
                self._silences.is_over(self._part.host)
                self._is_suspicious = False
        elif result.requests and (result.outcome in NO_ANSWER or result.robots_unreachable):
            self._listen(self._silences.note(self._part.host, result.outcome, self._now()))

    def _listen(self, silence: Silence | None) -> None:
        """Nothing more is asked of a host that is hopeless, nor, in this slice, of one that never answered. One whose
        robots.txt cannot be had has not answered in the way that counts."""
        self._is_suspicious = silence is not None
        if silence is None:
            return
        has_answered = silence.outcome is not Outcome.ROBOTS and self.turns.has_answered()
        lasted = self._now() - silence.since
        self._is_hopeless = is_hopeless(silence.times, lasted, has_answered=has_answered)
        if self._is_hopeless or (self._asker is not None and not has_answered):
            self._silence = silence

    def _unasked(self, task: PageTask, silence: Silence) -> PageResult:
        times = "once" if silence.times == 1 else f"{silence.times} times in a row"
        is_robots = silence.outcome is Outcome.ROBOTS
        what = f"robots.txt could not be had {times}" if is_robots else f"the host did not answer {times}"
        return PageResult(
            id=task.id,
            attempt=task.attempt,
            outcome=silence.outcome,
            is_hopeless=self._is_hopeless,
            robots_unreachable=is_robots,
            error=f"{what}, so this page was not asked for",
        )

    def _sent(self) -> None:
        """A request was sent."""
        self._untold += 1
        self.turns.sent()

    def _ready(self) -> Asker:
        if self._asker is None:
            self._fetcher = self._fetcher or self._open_fetcher()
            if self._is_aborted:
                raise Aborted
            self._fetcher.serve(self._sent)
            if self._policy.obey_robots:
                self._permission = Permission(self._fetcher, self._memory, self.turns, self._holder, self._now)
            self._asker = Asker(
                self._fetcher,
                self._permission,
                self.turns,
                tells_sitemaps=self._policy.sitemaps,
                sketches=self._policy.sketches,
                more=More(self._policy.fields, self._policy.keep),
            )
        return self._asker
