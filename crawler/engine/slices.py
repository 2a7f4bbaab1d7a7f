"""Works on one slice of a batch: page after page, as far as its host lets it, and on again later."""

from __future__ import annotations

import logging
from collections.abc import Callable

from redis.exceptions import RedisError
from rq.timeouts import BaseTimeoutException

from crawler.clock import Clock
from crawler.core.errors import SealBroken
from crawler.core.outcomes import Outcome
from crawler.core.politeness import PATIENCE, is_hopeless
from crawler.core.work import FetchPolicy, PageResult, PageTask, Slice
from crawler.engine.ask import Asker
from crawler.engine.keeping import Keep, Standby
from crawler.engine.more import More
from crawler.engine.permission import Permission
from crawler.engine.turns import NotYet, Turns
from crawler.fetching.http import HttpFetcher
from crawler.frontier.robots import RobotsMemory
from crawler.frontier.silence import Silence, Silences

log = logging.getLogger(__name__)

ASK_AGAIN = 0.25  # seconds after which to try again for a connection, when a host's are all in use
NO_ANSWER = frozenset({Outcome.CONNECT, Outcome.TIMEOUT, Outcome.DNS})
LATER = 1.0  # seconds after which a host whose connections are all in use is tried in another batch


class SliceRun:
    """One slice at work. `add` takes each result. Only one thread works on it at a time."""

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
        add: Callable[[PageResult], None],
    ) -> None:
        self.turns = turns
        self._part, self._policy, self._memory = part, policy, memory
        self._open_fetcher, self._keep, self._terms = open_fetcher, keep, (part.host, policy)
        self._silences, self._holder, self._now, self._add = silences, holder, now, add
        self._silence: Silence | None = None  # of the host, when nothing more is asked for because of it
        self._has_begun = self._is_suspicious = self._is_hopeless = False
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
            answer = self._ask(task)
            if isinstance(answer, NotYet):
                return self._later(answer.at, give_up_at=answer.at)
            self._waited_since = None
            self._place += 1
            self._add(answer)
        return None

    def renew(self) -> None:
        """Show those who wait for a robots.txt that it is still being asked for."""
        permission = self._permission  # from the heartbeat's thread: it may be gone the next moment
        if permission is not None:
            permission.renew()

    def end(self) -> int:
        """Let go of everything. How many requests were made for robots.txt and are told in no result."""
        place = self.turns.hand_over() if self._fetcher is not None and self._silence is None else None
        if self._fetcher is not None and place is not None:
            self._keep.give(self._terms, Standby(self._fetcher, place[0], self._part.host, place[1]))
        elif self._fetcher is not None:
            self._fetcher.close()
        self.turns.end()
        requests = self._permission.counted() if self._permission is not None else 0
        self._fetcher = self._permission = self._asker = None  # the batch may go on for long
        return requests

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

    def _ask(self, task: PageTask) -> PageResult | NotYet:
        """Ask for one page. A fault of ours that it brings to light costs this page, and not the others."""
        if self._silence is not None:
            return self._unasked(task, self._silence)
        try:
            answer = self._ready().ask(task)
            if not isinstance(answer, NotYet):
                self._note(answer, task.url)
            return answer
        except (RedisError, BaseTimeoutException):
            raise  # Redis is away, or RQ ends this job: no page's fault
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

    def _ready(self) -> Asker:
        if self._asker is None:
            self._fetcher = self._fetcher or self._open_fetcher()
            self._fetcher.serve(self.turns.sent)
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
