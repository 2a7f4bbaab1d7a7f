"""How often a host may be requested, how many of its pages are handed out at a time, and why a host waits."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from crawler.core.pages.outcomes import Outcome, Retry
from crawler.core.politeness.throttle import Throttle

SLICE_PAGES = 64  # pages of one host handed out at a time, as long as its response time is not known
MAX_SLICE_PAGES = 256  # the same of a fast host
SHORT_SLICE_PAGES = 24
EARLY_SLICE_PAGES = 32  # at most, while results decide which pages are requested, see `longest_slice`
SLOW_RESPONSE_S, SHORT_SLICE_TARGET_S = 0.05, 0.1  # a host that takes longer to respond; duration of its short slices
SLICE_TARGET_S = 5.0  # duration of a slice: ten times as long as it takes to hand out the next one
MISJUDGED_AFTER_S = 1.0  # spent on its pages, after which a slice that would last twice as long as that ends
DELAYED_SLICE_TARGET_S = 15.0  # the same with a delay, in which the worker does other things
PASSING_SLICE_TARGET_S = 2.0  # the same with a delay that may end with any response
REPORT_S, EARLY_REPORT_S = 1.0, 0.25  # between two reports of response times; the same while the limit still rises
MAX_SLICES_PER_BATCH = 32  # fetched concurrently
SLICES_PER_CONNECTION = 2  # handed out for a host without a delay
MAX_SLICE_WAIT_S = 2.5  # for its turn at a host (a slot, or the delay); then the slice is handed back
MAX_CRAWL_DELAY_S = 60.0  # a longer one in robots.txt is shortened to this
GONE_FAILURES, GONE_S = 3, 5.0  # a host that never responded is given up after these
LOST_FAILURES, LOST_S = 10, 60.0  # a host that responded before is given up after these


class Pace(msgspec.Struct, frozen=True):
    """How much of a host is handed out."""

    slices: int  # at a time, at most
    pages: int  # in a slice, at most
    short: int = SHORT_SLICE_PAGES  # in a slice while few pages wait


ONE_BY_ONE = Pace(slices=1, pages=SHORT_SLICE_PAGES)
"""For a host that has not responded yet: if it is down, it blocks only one slice."""


def is_hopeless(times: int, seconds: float, *, has_answered: bool) -> bool:
    """Whether a host is given up after `times` failures in a row over `seconds`. One that never responded is more
    likely to be gone than one that did before."""
    if has_answered:
        return times >= LOST_FAILURES and seconds >= LOST_S
    return times >= GONE_FAILURES and seconds >= GONE_S


def chosen_delay(delay: float, per_minute: float | None) -> float:
    """The delay set by a crawl's options; requests per minute are spaced evenly."""
    return max(delay, 60.0 / per_minute if per_minute else 0.0)


def host_delay(chosen: float, crawl_delay: float | None) -> float:
    """The delay of a host: the user's, or the Crawl-delay of robots.txt if that is longer."""
    return max(chosen, min(crawl_delay or 0.0, MAX_CRAWL_DELAY_S))


def pace_of(
    delay: float, concurrency: int, seconds: float | None = None, *, has_answered: bool = True, is_passing: bool = False
) -> Pace:
    """The pace for a host with this delay, in seconds, that responds after so many `seconds`. `is_passing`: the delay
    may end with any response, and then the host should not be left with few long slices."""
    if not has_answered:
        return ONE_BY_ONE  # if it is down, one request shows that for all pages of a slice
    pages = slice_pages(delay, seconds)
    if is_passing:
        pages = max(1, min(pages, int(PASSING_SLICE_TARGET_S / max(delay, seconds or 0.0))))
    return Pace(slices_at_once(delay, concurrency), pages, short_slice_pages(delay, seconds))


def short_slice_pages(delay: float, seconds: float | None) -> int:
    """Pages in a slice while few pages wait. A slice costs a millisecond, so a host that makes us wait for longer is
    asked over as many connections as it allows at once."""
    if delay > 0 or seconds is None or seconds < SLOW_RESPONSE_S:
        return SHORT_SLICE_PAGES
    return max(1, int(SHORT_SLICE_TARGET_S / seconds))


def slice_pages(delay: float, seconds: float | None = None) -> int:
    """Pages in a slice of a host with this delay, in seconds, that responds after so many `seconds` (None = not known
    yet). One if the slice would not wait for the second."""
    if delay > MAX_SLICE_WAIT_S:
        return 1
    if delay <= 0 and seconds is None:
        return SLICE_PAGES
    aim, most = (DELAYED_SLICE_TARGET_S, SLICE_PAGES) if delay > 0 else (SLICE_TARGET_S, MAX_SLICE_PAGES)
    return max(1, int(min(most, aim / max(delay, seconds or 0.0, 0.001))))


def is_misjudged(spent_s: float, done: int, left: int) -> bool:
    """Whether a slice has far too many pages, because its host is slower than was known: `done` of them took `spent_s`
    seconds, and `left` wait. What is left is then handed out again, over all connections that the host allows."""
    return spent_s >= MISJUDGED_AFTER_S and left * spent_s > 2 * SLICE_TARGET_S * done


def report_interval(throttle: Throttle, connections: int) -> float:
    """Seconds between two reports of a slice's response times to the throttle, where a crawl would use so many
    connections. While the limit of a slow host still doubles, each response is reported: a report costs a fraction of a
    millisecond, and connections wait for it."""
    if throttle.allowed(connections) >= connections:
        return REPORT_S
    return 0.0 if throttle.is_starting and throttle.seconds >= SLOW_RESPONSE_S else EARLY_REPORT_S


def longest_slice(*, needs_early_results: bool) -> int:
    """Pages in a slice, whatever the pace of its host. What is handed out is requested, even if a result meanwhile says
    that it should not be: so few are handed out while results decide that."""
    return EARLY_SLICE_PAGES if needs_early_results else MAX_SLICE_PAGES


def slices_at_once(delay: float, concurrency: int) -> int:
    """Slices of one host that may be handed out at a time.

    Without a delay twice as many as connections: while some are fetched the others wait in RQ's queue, and a worker
    continues without a tick in between. With a delay of half a second or more a second connection would only wait.
    """
    if delay <= 0:
        return SLICES_PER_CONNECTION * concurrency
    return 1 if delay >= 0.5 else concurrency


BUSY_STATUSES = frozenset({429, 503})


def is_failure(outcome: Outcome, http_status: int | None) -> bool:
    """Whether the host should get fewer requests for a while. A 5xx other than 503 is often the fault of one page."""
    return http_status in BUSY_STATUSES or outcome.entry.retry is Retry.ALWAYS


# Stops: how long a host gets no request after a 429 or 503 with Retry-After (RFC 9110, 10.2.3), see `after_refusal`.

STOP_PAGES = 3
STOP_WINDOW_S = 30.0
FIRST_STOP_S = 10.0
TOO_MANY_REQUESTS = 429


class Refusal(msgspec.Struct, frozen=True):
    """A response with Retry-After."""

    page: str  # a short digest of its URL
    status: int  # 429 or 503
    wait: float  # seconds
    is_repeat: bool = False  # the page was refused before in this crawl
    others_answered: bool = False  # other pages got a response since the last refusal, as far as its slice knows


class HostStop(msgspec.Struct, frozen=True):
    """The stop of a host. Moments are epoch seconds."""

    until: float = 0.0  # no request before
    status: int | None = None  # of the last refusal; None = it is not stopped, nor on trial
    stops: int = 0  # in a row; while there are any, pages are requested one at a time
    page: str = ""  # that caused the last stop
    refusals: tuple[tuple[str, float], ...] = ()  # the last refused pages, and when


def after_refusal(known: HostStop, refusal: Refusal, now: float, longest: float) -> HostStop:
    """The stop after a refusal. It needs evidence, so that one page cannot stop a site:

    1. A 503 concerns its page. The host is stopped once STOP_PAGES different pages gave one within STOP_WINDOW_S, with
       no other response in between.
    2. A 429 concerns the client (RFC 6585, 4) and stops the host at once; for at most FIRST_STOP_S while only one page
       gave one. A repeated 429 of the same page alone stops nothing.
    3. After a stop one page is requested alone (`frontier.host_limiter`). Any other response ends the stop. If it is
       refused too, and is not the page that caused the stop, the next stop has the full length.
    4. No stop is longer than `longest` seconds (CRAWLER_MAX_HOST_STOP).

    The refused page waits for its own time, see `core.protocol.retries`.
    """
    recent = {} if refusal.others_answered else {page: at for page, at in known.refusals if at > now - STOP_WINDOW_S}
    others = recent.keys() - {refusal.page}
    recent[refusal.page] = now
    noted = replace(known, refusals=tuple(sorted(recent.items(), key=lambda item: item[1]))[-STOP_PAGES:])
    on_trial = known.stops > 0 and now >= known.until
    is_confirmed = len(recent) >= STOP_PAGES or (on_trial and refusal.page != known.page)
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


# Why a host with waiting pages gets no request now.


class WaitReason(StrEnum):
    """Why a host gets no request now."""

    STOP = "stop"  # Retry-After of the server
    PROBE = "probe"  # after a stop one page is requested first; the others wait for its response
    ROBOTS_ASKED = "robots_asked"  # its robots.txt is being requested
    ROBOTS_AGAIN = "robots_again"  # its robots.txt could not be read, and is requested again later
    ROBOTS = "robots"  # Crawl-delay of its robots.txt
    DELAY = "delay"  # the delay chosen for the crawl
    OTHERS = "others"  # another crawl has a longer delay, which counts for all crawls
    THROTTLE = "throttle"  # it is slow or fails
    RETRY = "retry"  # its next page failed before, and is retried later
    LATER = "later"  # its next page has a later time of its own, from a list
    BUSY = "busy"  # all allowed connections are in use
    AGAIN = "again"  # it was put off for a reason that no longer exists
    NOTHING = "nothing"  # it may be requested now


ENDED_BY_A_USER = frozenset(
    {
        WaitReason.STOP,
        WaitReason.PROBE,
        WaitReason.THROTTLE,
        WaitReason.RETRY,
        WaitReason.ROBOTS_AGAIN,
        WaitReason.AGAIN,
    }
)
"""Waits that a user may end. A Crawl-delay or a chosen delay cannot be ended."""

DELAY_TOLERANCE_S = 1.0  # by which a wait may be longer than the delay that causes it

BLOCKING_REASONS = frozenset({WaitReason.STOP, WaitReason.PROBE, WaitReason.ROBOTS_ASKED, WaitReason.BUSY})
"""For these a worker with a slice waits. A delay is part of its work."""


class HostTiming(msgspec.Struct, frozen=True):
    """The state of a host with pages of one crawl. Every `..._in` is in seconds from now; 0 or less = passed."""

    rest_in: float = 0.0  # until this crawl hands out its pages again
    due_in: float = 0.0  # until its first page is due
    stop_in: float = 0.0  # until its Retry-After has passed
    probe_in: float = 0.0  # until the response of the probe is given up
    asked_ago: float | None = None  # seconds since the last request to it, of any crawl; None = not known
    chosen: float = 0.0  # the delay chosen for this crawl, in seconds, as all of these
    crawl_delay: float = 0.0  # of its robots.txt, if the crawl obeys it
    throttle: float = 0.0  # of the automatic throttle, if the crawl uses it
    others: float = 0.0  # the longest delay of other crawls
    connections: int = 0  # in use, by all crawls
    allowed: int = 1  # connections at a time
    robots_asked: bool = False  # its robots.txt is being requested
    robots_unreachable: bool = False  # its first page waits for its robots.txt
    is_new: bool = False  # its first page was never requested

    @property
    def delay(self) -> float:
        """Seconds between two requests: the longest of the delays counts."""
        return max(self.chosen, self.crawl_delay, self.throttle, self.others)

    @property
    def is_full(self) -> bool:
        return self.connections >= self.allowed


def wait_reason(look: HostTiming) -> tuple[float, WaitReason]:
    """Seconds until a host may be requested, and why not sooner.

    1. A stop of the server comes first.
    2. Then the longest wait: for a page's own time, the retry of a failed page, for the response of a probe.
    3. Then what may end at any moment: a request for robots.txt, connections in use.
    4. Then the delay.
    """
    if look.stop_in > 0:
        return look.stop_in, WaitReason.STOP
    turn_in = look.delay - look.asked_ago if look.asked_ago is not None and look.delay > 0 else 0.0
    longest = max(0.0, look.rest_in, look.due_in, look.probe_in, turn_in)
    if 0 < look.due_in == longest:
        if look.is_new:
            return longest, WaitReason.LATER
        return longest, WaitReason.ROBOTS_AGAIN if look.robots_unreachable else WaitReason.RETRY
    if look.probe_in > 0:
        return longest, WaitReason.PROBE
    if look.robots_asked:
        return longest, WaitReason.ROBOTS_ASKED
    if look.is_full and longest > max(0.0, turn_in):
        return longest, WaitReason.BUSY
    if longest <= 0:
        return 0.0, WaitReason.BUSY if look.is_full else WaitReason.NOTHING
    is_its_delay = look.delay > 0 and longest <= look.delay + DELAY_TOLERANCE_S
    return longest, _reason_of_delay(look) if is_its_delay else WaitReason.AGAIN


def _reason_of_delay(look: HostTiming) -> WaitReason:
    """The longest delay; of equal ones the first of this list."""
    delays = [
        (look.chosen, WaitReason.DELAY),
        (look.crawl_delay, WaitReason.ROBOTS),
        (look.throttle, WaitReason.THROTTLE),
        (look.others, WaitReason.OTHERS),
    ]
    return max(delays, key=lambda delay: delay[0])[1]


class ConnectionUse(msgspec.Struct, frozen=True):
    """The connections to a host that one crawl uses, or several unnamed ones."""

    by: str  # "this crawl", "crawl ID (site)", "another crawl"
    connections: int
    crawl: str | None = None  # id; None = not shown


class HostWait(msgspec.Struct, frozen=True):
    """A host with pages that wait."""

    host: str
    pages: int
    next_in: float  # seconds until it may be requested; 0 = now
    reason: WaitReason
    trouble: str = ""  # with RETRY and ROBOTS_AGAIN: the last error
    delay: float = 0.0  # seconds between two requests
    until: float = 0.0  # with STOP: epoch seconds
    status: int | None = None  # with STOP: the HTTP status of the refusal; None = not known
    used: Sequence[ConnectionUse] = ()
    allowed: int = 0  # connections at a time
    wanted: int = 0  # connections that the crawl would use
    throttle: Throttle | None = None  # None = the crawl does not use it

    @property
    def connections(self) -> int:
        """In use."""
        return sum(used.connections for used in self.used)
