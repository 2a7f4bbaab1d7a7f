"""Whether robots.txt lets a page be asked for; each file is asked for once a day by whichever worker is first."""

from __future__ import annotations

from dataclasses import dataclass

from crawler import conf
from crawler.clock import Clock
from crawler.core.crawl.outcomes import Outcome
from crawler.core.robots.robots_txt import NOT_HAD, RobotsAnswer, Rules, oddity_of, parse, verdict_of_status
from crawler.core.urls.normalise import origin_of
from crawler.fetcher.host_slot import NotYet, Turns
from crawler.frontier.robots import RobotsMemo, RobotsMemory
from crawler.http.fetcher import Fetcher
from crawler.http.robots import RobotsFile, fetch_robots

OTHERS_ANSWER = 0.05  # seconds after which to look again for a robots.txt that another worker is asking for


@dataclass(frozen=True)
class Ruling:
    """What robots.txt says about an origin's pages. `rules` is None when it says nothing against any of them."""

    reachable: bool
    rules: Rules | None = None
    outcome: Outcome = Outcome.ROBOTS  # how a page closes that may not be asked for
    error: str = ""  # why nothing may be asked for

    def refusal(self, url: str) -> str | None:
        """Why the page may not be asked for; None when it may."""
        if not self.reachable:
            return self.error
        rule = self.rules.deciding(url, conf.ROBOTS_TOKEN) if self.rules else None
        return None if rule is None or rule.allow else f"robots.txt does not allow it: {rule.told}"


class Permission:
    """The robots.txt files of one slice's host (its http and its https origin)."""

    def __init__(self, fetcher: Fetcher, memory: RobotsMemory, turns: Turns, holder: str, now: Clock) -> None:
        self._fetcher, self._memory, self._turns, self._holder, self._now = fetcher, memory, turns, holder, now
        self._known: dict[str, Ruling] = {}
        self._asking: str | None = None  # the origin whose file is being asked for at this moment
        self.requests = 0  # made for robots.txt files since they were last counted

    def ruling(self, url: str) -> Ruling | NotYet:
        """What the page's robots.txt says, or when to come again: it is not this slice's turn to ask for it, or another
        worker is asking for it."""
        origin = origin_of(url)
        if origin not in self._known:
            memo = self._memory.get(origin) or self._obtain(origin)
            if isinstance(memo, NotYet):
                return memo
            self._known[origin] = self._judge(memo)
        return self._known[origin]

    def renew(self) -> None:
        """Show those who wait for a file that it is still being asked for."""
        origin = self._asking
        if origin is not None:
            self._memory.still_asking(origin)

    def counted(self) -> int:
        """Requests made for robots.txt since the last call."""
        requests, self.requests = self.requests, 0
        return requests

    def _obtain(self, origin: str) -> RobotsMemo | NotYet:
        """Ask for the file, unless another worker does."""
        if not self._memory.may_ask(origin, self._holder):
            return NotYet(self._now() + OTHERS_ANSWER)
        self._asking = origin
        try:
            return self._memory.get(origin) or self._fetch(origin)
        finally:
            self._asking = None
            self._memory.asked(origin)

    def _fetch(self, origin: str) -> RobotsMemo | NotYet:
        not_yet = self._turns.take()
        if not_yet is not None:
            return not_yet
        began = self._now()
        found = fetch_robots(self._fetcher, origin, self._turns.wait)
        self._turns.settle()
        self._turns.refused(f"{origin}/robots.txt", found.status, found.retry_after)
        self._turns.fared(found.outcome, found.status, (self._now() - began) / max(1, found.requests))
        self.requests += found.requests
        memo = _memo_of(found)
        reachable = verdict_of_status(found.status) is not RobotsAnswer.UNREACHABLE
        if memo.outcome is not Outcome.PRIVATE_ADDRESS:  # another crawl may be allowed what this one is not
            self._memory.keep(origin, memo, reachable=reachable)
        return memo

    def _judge(self, memo: RobotsMemo) -> Ruling:
        match verdict_of_status(memo.status):
            case RobotsAnswer.ALLOW_ALL:
                return Ruling(reachable=True)
            case RobotsAnswer.UNREACHABLE:
                return _unreachable(memo)
            case RobotsAnswer.PARSE:
                rules = parse(memo.body)
                delay = rules.delay(conf.ROBOTS_TOKEN)
                if delay:
                    self._turns.note_crawl_delay(delay)
                return Ruling(reachable=True, rules=rules)


def _memo_of(found: RobotsFile) -> RobotsMemo:
    oddity = oddity_of(found.body, found.content_type)
    return RobotsMemo(status=found.status, outcome=found.outcome, body=found.body, oddity=oddity, error=found.error)


HOST_TROUBLE = frozenset({Outcome.DNS, Outcome.CONNECT, Outcome.TLS, Outcome.TIMEOUT, Outcome.PRIVATE_ADDRESS})
"""Outcomes that say more about the host than about its robots.txt: its pages would fare no better."""


def _unreachable(memo: RobotsMemo) -> Ruling:
    """RFC 9309, 2.3.1.4: then nothing may be asked for. A host that cannot be talked to at all is called just that."""
    if memo.status is None and memo.outcome in HOST_TROUBLE:
        return Ruling(reachable=False, outcome=memo.outcome, error=memo.error)
    said = f"it answered {memo.status}" if memo.status else memo.error
    return Ruling(reachable=False, error=f"{NOT_HAD}, so nothing may be fetched: {said}")
