"""How often a host may be requested, how many of its pages are handed out at a time, and why a host waits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import assert_never

from crawler.core.crawl.outcomes import Outcome, Retry
from crawler.core.robots.robots_txt import NOT_HAD
from crawler.core.text.quantities import count, counted, duration

SLICE_PAGES = 64  # pages of one host handed out at a time, as long as it is not known how fast it answers
MOST_PAGES = 256  # the same of a fast one
SLICE_SECONDS = 5.0  # a slice should last so long: ten times as long as it takes to hand out the next one
DELAYED_SECONDS = 15.0  # the same where most of the time is a delay, in which the worker does other things
AHEAD = 2  # slices handed out for each connection to a host that asks for no delay
PATIENCE = 2.5  # seconds a slice waits for its turn at a host before it is handed back
LONGEST_DELAY = 60.0  # seconds; a robots.txt that asks for more gets this
SILENT_TIMES, SILENT_SECONDS = 3, 5.0  # of silence after which a host that never answered is given up
LOST_TIMES, LOST_SECONDS = 10, 60.0  # of silence after which a host that answered before is given up


@dataclass(frozen=True)
class Pace:
    """How much of a host is handed out."""

    slices: int  # at a time, at most
    pages: int  # in a slice, at most


ONE_BY_ONE = Pace(slices=1, pages=SLICE_PAGES)
"""For a host that has not answered yet: should it be dead, it holds up one slice and no more."""


def is_hopeless(times: int, seconds: float, *, has_answered: bool) -> bool:
    """Whether a host that did not answer `times` in a row, over so many seconds, is not asked again in this crawl. One
    that never answered is more likely to be gone for good than one that did a while ago."""
    if has_answered:
        return times >= LOST_TIMES and seconds >= LOST_SECONDS
    return times >= SILENT_TIMES and seconds >= SILENT_SECONDS


def chosen_delay(delay: float, per_minute: float | None) -> float:
    """The delay a crawl's options amount to; so many requests a minute are requests evenly spaced."""
    return max(delay, 60.0 / per_minute if per_minute else 0.0)


def host_delay(chosen: float, crawl_delay: float | None) -> float:
    """The delay to keep at a host: the user's, or robots.txt's Crawl-delay when that is longer."""
    return max(chosen, min(crawl_delay or 0.0, LONGEST_DELAY))


def pace_of(delay: float, concurrency: int, seconds: float | None = None, *, has_answered: bool = True) -> Pace:
    """What to hand out of a host with this delay, in seconds, that takes so many `seconds` for an answer."""
    if not has_answered:
        return ONE_BY_ONE  # should it be dead, one request tells so for all pages of a slice
    return Pace(slices_at_once(delay, concurrency), slice_pages(delay, seconds))


def slice_pages(delay: float, seconds: float | None = None) -> int:
    """Pages to hand out at a time to a host with this delay, in seconds, that takes so many `seconds` for an answer
    (None = not known yet). One by one when a slice would not wait for the second."""
    if delay > PATIENCE:
        return 1
    if delay <= 0 and seconds is None:
        return SLICE_PAGES
    aim, most = (DELAYED_SECONDS, SLICE_PAGES) if delay > 0 else (SLICE_SECONDS, MOST_PAGES)
    return max(1, int(min(most, aim / max(delay, seconds or 0.0, 0.001))))


def slices_at_once(delay: float, concurrency: int) -> int:
    """Slices of one host that may be out at a time.

    Without a delay twice as many as it has connections: while some are worked on the others wait in RQ's queue, and a
    worker that is done goes on without a tick in between. A delay of half a second or more leaves nothing for a second
    connection to do but wait.
    """
    if delay <= 0:
        return AHEAD * concurrency
    return 1 if delay >= 0.5 else concurrency


# The automatic throttle: asks a host less often while it is slow or in trouble.
#
# The delay it adds follows four rules, with T the mean response time in seconds:
#
# 1. Responses pull the delay towards what the host's slowness calls for, max(0, T - COMFORT_S), half of the way at a
# time, and up to it at once: a host that takes three seconds to respond is left alone for two before the next request.
# After the first response at most RECOVERY_S are left beyond that, so a host that is well again is at full speed
# after six responses, two seconds.
# 2. Trouble (no response, 429 or 503) number n in a row makes it at least FIRST_S * 2^(n-1).
# 3. It never exceeds LONGEST_S; below NEGLIGIBLE_S it is nothing.
# 4. With no news it halves every HALF_LIFE_S, and one trouble is forgotten.
#
# So it is additive in slowness and multiplicative in trouble. Rule 1 is Scrapy's AutoThrottle without its target of
# requests in parallel, which the limit on connections keeps; rule 2 is the back-off of RFC 6298, 5.5.
#
# A crawl that comes to a host for the first time makes one request without this delay, see `frontier.host_limiter`:
# what an earlier crawl learned may be over.

COMFORT_S = 1.0  # a response may take so long before the host counts as slow
FIRST_S = 0.25  # delay after the first trouble: one busy page should not slow down a whole site
LONGEST_S = 60.0
NEGLIGIBLE_S = 0.05
RECOVERY_S = 1.0
HALF_LIFE_S = 600.0
BUSY_STATUSES = frozenset({429, 503})


@dataclass(frozen=True)
class Throttle:
    """What is remembered of a host."""

    delay: float = 0.0  # seconds between two requests, at least
    troubles: int = 0  # in a row


def after_responses(throttle: Throttle, mean_seconds: float, responses: int) -> Throttle:
    """After `responses` responses that took `mean_seconds` each."""
    target = max(0.0, mean_seconds - COMFORT_S)
    beyond = (throttle.delay - target) / 2**responses
    return Throttle(_bounded(target + min(max(beyond, 0.0), RECOVERY_S)))


def after_trouble(throttle: Throttle) -> Throttle:
    troubles = throttle.troubles + 1
    return Throttle(min(LONGEST_S, max(throttle.delay, FIRST_S * 2.0 ** min(troubles - 1, 16))), troubles)


def after_silence(throttle: Throttle, seconds: float) -> Throttle:
    """After so many seconds without news of the host."""
    half_lives = max(0.0, seconds) / HALF_LIFE_S
    delay = _bounded(throttle.delay * 0.5**half_lives)
    return Throttle(delay, max(0, throttle.troubles - int(half_lives)) if delay else 0)


def _bounded(delay: float) -> float:
    return 0.0 if delay < NEGLIGIBLE_S else min(delay, LONGEST_S)


def is_trouble(outcome: Outcome, http_status: int | None) -> bool:
    """Whether this answer, or the lack of one, says that the host is better left alone for a while. Another 5xx is one
    page's fault as often as not."""
    return http_status in BUSY_STATUSES or outcome.entry.retry is Retry.ALWAYS


# For how long a whole host is not asked, because its server said so: a 429 or 503 with Retry-After (RFC 9110, 10.2.3).
#
# The stop follows the evidence, so that one page cannot shut a site:
#
# 1. A 503 speaks of its page. The host is stopped once PAGES different pages said so within WINDOW_S, with no other
# response in between.
# 2. A 429 speaks of the client (RFC 6585, 4) and stops the host at once; while one page alone says so, for FIRST_S at
# most. One that was refused before and says so again while no other page does stops nothing.
# 3. After a stop one page is tried, alone (`frontier.host_limiter`). Any other response ends the stop. Should this page
# be another than the one that led to the stop, and ask to wait, too, the next stop lasts as long as it says. 4. No stop
# is longer than the operator allows (CRAWLER_MAX_HOST_STOP).
#
# The page itself waits for its own time, see `core.crawl.retries`.

PAGES = 3
WINDOW_S = 30.0
FIRST_STOP_S = 10.0
TOO_MANY_REQUESTS = 429


@dataclass(frozen=True)
class Refusal:
    """A response that asks to wait."""

    page: str  # a short digest of its URL
    status: int  # 429 or 503
    wait: float  # seconds
    is_repeat: bool = False  # the page was refused before in this crawl
    others_answered: bool = False  # other pages were answered since the last refusal, as far as its slice knows


@dataclass(frozen=True)
class HostStop:
    """What is remembered of a host. Moments are epoch seconds."""

    until: float = 0.0  # it is not asked before
    status: int | None = None  # the last refusal's; None = it is not stopped, nor on trial
    stops: int = 0  # in a row; as long as there are any, pages are tried one at a time
    page: str = ""  # that led to the last stop
    refusals: tuple[tuple[str, float], ...] = ()  # the last pages that were refused, and when


def after_refusal(known: HostStop, refusal: Refusal, now: float, longest: float) -> HostStop:
    """`longest`: seconds a stop may last."""
    recent = {} if refusal.others_answered else {page: at for page, at in known.refusals if at > now - WINDOW_S}
    others = recent.keys() - {refusal.page}
    recent[refusal.page] = now
    noted = replace(known, refusals=tuple(sorted(recent.items(), key=lambda item: item[1]))[-PAGES:])
    on_trial = known.stops > 0 and now >= known.until
    is_confirmed = len(recent) >= PAGES or (on_trial and refusal.page != known.page)
    is_first = refusal.status == TOO_MANY_REQUESTS and not refusal.is_repeat and not on_trial
    if not (is_confirmed or is_first or (refusal.status == TOO_MANY_REQUESTS and others)):
        return noted
    seconds = min(refusal.wait, longest, longest if is_confirmed else FIRST_STOP_S)
    return replace(
        noted,
        until=max(known.until, now + seconds),
        status=refusal.status,
        stops=known.stops + (now >= known.until),
        page=refusal.page,
    )


# Why a host with pages that wait is not asked now: one cause out of all that may hold it up, and a sentence for it.


class Reason(StrEnum):
    """Why a host is not asked now."""

    STOP = "stop"  # the server asked for no request before a moment (Retry-After)
    PROBE = "probe"  # that moment has passed, and one page is tried first; the others wait for its answer
    ROBOTS_ASKED = "robots_asked"  # its robots.txt is being asked for
    ROBOTS_AGAIN = "robots_again"  # its robots.txt could not be had, and is asked for again later
    ROBOTS = "robots"  # its robots.txt asks for a Crawl-delay
    DELAY = "delay"  # the user who started the crawl asked for a delay
    OTHERS = "others"  # another crawl keeps a longer delay, which counts for all of them
    THROTTLE = "throttle"  # it is slow or in trouble
    RETRY = "retry"  # its next page failed before, and is tried again later
    BUSY = "busy"  # as many connections are in use as may be
    AGAIN = "again"  # it was put off, and what it was put off for is gone by now
    NOTHING = "nothing"  # it may be asked now


ENDED_BY_A_USER = frozenset(
    {Reason.STOP, Reason.PROBE, Reason.THROTTLE, Reason.RETRY, Reason.ROBOTS_AGAIN, Reason.AGAIN}
)
"""Waits that a user in a hurry may end. A Crawl-delay or a chosen delay is kept: it is how the host is to be asked."""

SLACK = 1.0  # seconds by which a wait may be longer than the delay it is for

HOLD_UP_A_WORKER = frozenset({Reason.STOP, Reason.PROBE, Reason.ROBOTS_ASKED, Reason.BUSY})
"""For these a slice waits that a worker has in hand. A delay that it waits for is part of its work."""


@dataclass(frozen=True)
class HostLook:
    """What can be seen of a host with pages of one crawl. Every `..._in` is in seconds from now; 0 or less = passed."""

    rest_in: float = 0.0  # until this crawl hands out pages of it again
    due_in: float = 0.0  # until its first page is due
    stop_in: float = 0.0  # until the moment before which the server wants no request
    probe_in: float = 0.0  # until the answer of the page that is tried is not waited for any more
    asked_ago: float | None = None  # seconds since the last request to it, of any crawl; None = not known
    chosen: float = 0.0  # the delay chosen for this crawl, in seconds, as all of these
    crawl_delay: float = 0.0  # by its robots.txt, where the crawl obeys that
    throttle: float = 0.0  # by the automatic throttle, where the crawl uses that
    others: float = 0.0  # the longest delay that other crawls of it keep
    connections: int = 0  # in use, over all crawls
    allowed: int = 1  # connections at a time
    robots_asked: bool = False  # its robots.txt is being asked for
    trouble: str = ""  # what happened to its first page the last time

    @property
    def delay(self) -> float:
        """Seconds between two requests: the longest of the delays counts."""
        return max(self.chosen, self.crawl_delay, self.throttle, self.others)

    @property
    def is_full(self) -> bool:
        return self.connections >= self.allowed


def what_holds(look: HostLook) -> tuple[float, Reason]:
    """Seconds until a host may be asked, and why not sooner.

    1. What the server itself asked for comes before anything else.
    2. Then the wait that takes longest: for a page that failed, for the answer of a page that is tried.
    3. Then what may end at any moment: a robots.txt that is being asked for, connections that are in use.
    4. Then the delay that counts.
    """
    if look.stop_in > 0:
        return look.stop_in, Reason.STOP
    turn_in = look.delay - look.asked_ago if look.asked_ago is not None and look.delay > 0 else 0.0
    longest = max(0.0, look.rest_in, look.due_in, look.probe_in, turn_in)
    if 0 < look.due_in == longest:
        return longest, Reason.ROBOTS_AGAIN if look.trouble.startswith(NOT_HAD) else Reason.RETRY
    if look.probe_in > 0:
        return longest, Reason.PROBE
    if look.robots_asked:
        return longest, Reason.ROBOTS_ASKED
    if look.is_full and longest > max(0.0, turn_in):
        return longest, Reason.BUSY
    if longest <= 0:
        return 0.0, Reason.BUSY if look.is_full else Reason.NOTHING
    is_its_delay = look.delay > 0 and longest <= look.delay + SLACK
    return longest, _reason_of_delay(look) if is_its_delay else Reason.AGAIN


def _reason_of_delay(look: HostLook) -> Reason:
    """Of delays of the same length the one that is nearest to the user."""
    delays = [
        (look.chosen, Reason.DELAY),
        (look.crawl_delay, Reason.ROBOTS),
        (look.throttle, Reason.THROTTLE),
        (look.others, Reason.OTHERS),
    ]
    return max(delays, key=lambda delay: delay[0])[1]


@dataclass(frozen=True)
class Used:
    """The connections to a host that one crawl uses, or several whose names are not told."""

    by: str  # "this crawl", "crawl ID (site)", "another crawl"
    connections: int
    crawl: str | None = None  # id; None = not told


@dataclass(frozen=True)
class HostWait:
    """A host with pages that wait."""

    host: str
    pages: int
    next_in: float  # seconds until it may be asked; 0 = now
    reason: Reason
    trouble: str = ""  # with RETRY and ROBOTS_AGAIN: what happened the last time
    delay: float = 0.0  # seconds between two requests
    until: float = 0.0  # with STOP: epoch seconds
    status: int | None = None  # with STOP: the HTTP status by which it was asked for; None = not known
    used: Sequence[Used] = ()
    allowed: int = 0  # connections at a time

    @property
    def connections(self) -> int:
        """In use."""
        return sum(used.connections for used in self.used)


def why_not_now(wait: HostWait) -> str:
    """One sentence: what a crawl waits for at this host."""
    host, seconds = wait.host, duration(wait.next_in)
    every = f", one request in {duration(wait.delay)}" if wait.delay > 0 else ""
    waiting = f"It is waiting for {host}"
    again = f"{waiting}, which may be asked again in {seconds}{every}"
    trouble = f" ({wait.trouble})" if wait.trouble else ""
    match wait.reason:
        case Reason.STOP:
            return f"{host} {stop_of(wait.status, wait.until)} (in {seconds})."
        case Reason.PROBE:
            rest = f"the others wait for its answer, {seconds} at most"
            return f"{host} asked to wait, so one page of it is tried first: {rest}."
        case Reason.ROBOTS_ASKED:
            return f"{waiting}, whose robots.txt is being asked for."
        case Reason.ROBOTS_AGAIN:
            return f"{waiting}, whose robots.txt is asked for again in {seconds}{trouble}."
        case Reason.ROBOTS:
            return f"{again} (Crawl-delay)."
        case Reason.DELAY:
            return f"{again} (the delay chosen for this crawl)."
        case Reason.OTHERS:
            return f"{again} (another crawl keeps this delay)."
        case Reason.THROTTLE:
            return f"{again} (slowed down, because it is slow or in trouble)."
        case Reason.RETRY:
            return f"{waiting}, where a page that failed is tried again in {seconds}{trouble}."
        case Reason.BUSY:
            in_use = f"{count(wait.connections)} of {counted(wait.allowed, 'connection')} to {host}"
            return f"{in_use} {'is' if wait.connections == 1 else 'are'} in use{_by_whom(wait.used)}."
        case Reason.AGAIN:
            return f"{waiting}, which is tried again in {seconds}."
        case Reason.NOTHING:
            return f"{host} may be asked now."
    assert_never(wait.reason)


def stop_of(status: int | None, until: float) -> str:
    """ "answered 429 and asked to wait until 14:03:20 UTC"."""
    answered = f"answered {status} and " if status is not None else ""
    return f"{answered}asked to wait until {datetime.fromtimestamp(until, UTC):%H:%M:%S} UTC"


def _by_whom(used: Sequence[Used]) -> str:
    return ": " + ", ".join(f"{count(each.connections)} by {each.by}" for each in used) if used else ""
