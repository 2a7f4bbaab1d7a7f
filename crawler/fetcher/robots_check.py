"""Whether robots.txt allows a page; each file is fetched once a day, by the first worker that needs it."""

from __future__ import annotations

import msgspec
from redis import Redis

from crawler import conf
from crawler.clock import Clock
from crawler.core.pages.outcomes import HOST_FAILURES, Outcome
from crawler.core.protocol.fetch_policy import FetchPolicy
from crawler.core.robots.robots_txt import (
    MAX_BYTES,
    ForeignFile,
    Oddity,
    RobotsAnswer,
    RobotsRules,
    oddity_of,
    parse,
    verdict_of_status,
)
from crawler.core.robots.rules import Rule
from crawler.core.robots.user_agent import product_token
from crawler.core.urls.normalise import origin_of
from crawler.fetcher.host_slot import HostSlot, RateLimited
from crawler.frontier.robots import RobotsCache, RobotsEntry
from crawler.http.fetcher import Fetcher
from crawler.http.robots import RobotsFile, fetch_robots

NOT_FETCHED = "robots.txt could not be fetched"  # how the error of a page begins that waits for it
MAX_SHOWN = 200  # characters of a rule
LOCK_POLL_S = 0.05  # between two checks for a robots.txt that another worker is fetching


class RobotsDecision(msgspec.Struct, frozen=True):
    """What robots.txt says about an origin's pages. `rules` is None when it says nothing against any of them."""

    reachable: bool
    rules: RobotsRules | None = None
    token: str = ""  # the crawler's name in them
    outcome: Outcome = Outcome.ROBOTS  # of a page that may not be fetched
    error: str = ""  # why nothing may be fetched

    def refusal(self, url: str) -> str | None:
        """Why the page may not be fetched; None if it may."""
        if not self.reachable:
            return self.error
        rule = self.rules.deciding(url, self.token) if self.rules else None
        return None if rule is None or rule.allow else f"robots.txt does not allow it: {shown(rule)}"


def shown(rule: Rule) -> str:
    """The rule on one line, for users: "Disallow: /private (line 12)"."""
    text = rule.source.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    text = "".join(character if character.isprintable() else "\ufffd" for character in text[: MAX_SHOWN + 1])
    short = text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
    return f"{short} (line {rule.line})"


def cache_for(redis: Redis, crawl: str, policy: FetchPolicy) -> RobotsCache:
    """The crawl's partition of the cache."""
    own = "" if policy.user_agent == conf.user_agent() else policy.user_agent
    return RobotsCache.of(
        redis,
        crawl,
        sealed=policy.sealed,
        private_hosts=policy.private_hosts,
        user_agent=own,
        ignore_tls_errors=policy.ignore_tls_errors,
    )


class RobotsChecker:
    """The robots.txt files of one slice's host (its http and its https origin), as they are for this user agent."""

    def __init__(
        self, fetcher: Fetcher, cache: RobotsCache, slot: HostSlot, holder: str, now: Clock, user_agent: str
    ) -> None:
        self._token = product_token(user_agent)
        self._fetcher, self._cache, self._slot, self._holder, self._now = fetcher, cache, slot, holder, now
        self._known: dict[str, RobotsDecision] = {}
        self._fetching: str | None = None  # the origin whose file is being fetched
        self.requests = 0  # made for robots.txt files since they were last counted

    def decide(self, url: str) -> RobotsDecision | RateLimited:
        """The decision for the page's origin, or when to try again: the host is rate-limited, or another worker is
        fetching the file."""
        origin = origin_of(url)
        if origin not in self._known:
            entry = self._cache.get(origin) or self._fetch_locked(origin)
            if isinstance(entry, RateLimited):
                return entry
            self._known[origin] = self._decision(entry)
        return self._known[origin]

    def renew(self) -> None:
        """Renew the lock of the file being fetched, which other workers wait for."""
        origin = self._fetching
        if origin is not None:
            self._cache.renew_lock(origin)

    def take_request_count(self) -> int:
        """Requests made for robots.txt since the last call."""
        requests, self.requests = self.requests, 0
        return requests

    def _fetch_locked(self, origin: str) -> RobotsEntry | RateLimited:
        """Fetch the file, unless another worker does."""
        if not self._cache.acquire_lock(origin, self._holder):
            return RateLimited(self._now() + LOCK_POLL_S)
        self._fetching = origin
        try:
            return self._cache.get(origin) or self._fetch(origin)
        finally:
            self._fetching = None
            self._cache.release_lock(origin)

    def _fetch(self, origin: str) -> RobotsEntry | RateLimited:
        limited = self._slot.take_grant()
        if limited is not None:
            return limited
        began = self._now()
        found = fetch_robots(self._fetcher, origin, self._slot.wait_for_grant)
        self._slot.end_grant()
        self._slot.record_refusal(f"{origin}/robots.txt", found.status, found.retry_after)
        seconds = (self._now() - began) / max(1, found.requests)
        self._slot.record_outcome(found.outcome, found.status, seconds, is_page=False)
        self.requests += found.requests
        entry = entry_of(found)
        reachable = verdict_of_status(found.status) is not RobotsAnswer.UNREACHABLE
        if entry.outcome is not Outcome.PRIVATE_ADDRESS:  # another crawl may be allowed what this one is not
            self._cache.put(origin, entry, reachable=reachable)
        return entry

    def _decision(self, entry: RobotsEntry) -> RobotsDecision:
        decision = decision_by(entry, self._token)
        if decision.rules is not None and (delay := decision.rules.delay(self._token)):
            self._slot.note_crawl_delay(delay)
        return decision


def decision_by(entry: RobotsEntry, token: str) -> RobotsDecision:
    """What the file says to the crawler of this name."""
    match verdict_of_status(entry.status):
        case RobotsAnswer.ALLOW_ALL:
            return RobotsDecision(reachable=True)
        case RobotsAnswer.UNREACHABLE:
            return _unreachable(entry)
        case RobotsAnswer.PARSE:
            return RobotsDecision(reachable=True, rules=parse(entry.body), token=token)


def entry_of(found: RobotsFile) -> RobotsEntry:
    odd = oddity_of(found.body, found.content_type)
    oddity = "" if odd is None else told(odd)
    return RobotsEntry(status=found.status, outcome=found.outcome, body=found.body, oddity=oddity, error=found.error)


def told(odd: Oddity) -> str:
    """What is wrong with a robots.txt, for users."""
    problems = []
    if odd.is_truncated:
        problems.append(f"robots.txt is larger than {MAX_BYTES // 1024} KiB; the rest was not read")
    if odd.foreign is not None:
        what = "an HTML page" if odd.foreign is ForeignFile.HTML else "a binary file"
        some = "lines that look like rules were used as rules" if odd.has_rules else "it contains no rules"
        problems.append(f"robots.txt is {what}; {some}")
    return ". ".join(problems)


def _unreachable(entry: RobotsEntry) -> RobotsDecision:
    """RFC 9309, 2.3.1.4: then nothing may be fetched. If the host itself fails, its outcome is reported instead."""
    if entry.status is None and entry.outcome in HOST_FAILURES:
        return RobotsDecision(reachable=False, outcome=entry.outcome, error=entry.error)
    reason = f"the server returned {entry.status}" if entry.status else entry.error
    return RobotsDecision(reachable=False, error=f"{NOT_FETCHED}, so no page may be fetched: {reason}")
