"""The automatic throttle: how many connections a host gets, see `Throttle`."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

LEVELS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64)
"""The numbers of connections that are tried. The best one is never far from one of them."""

START = 4  # connections to a host that has responded once; the default of a crawl's own limit
FAST_START, FAST_S = 8, 0.15  # the same if its first response took no longer: then a mistake is soon corrected
BRIEF_S = 0.05  # from this to FAST_S one response of each connection is enough to double them: more would take as long
LEAST = 1 / 1024  # of a connection's time
COMFORT_S = 0.1  # a host that responds faster is not slowed down, whatever it usually takes
FORGET_S = 600.0  # without news

# Windows

WINDOW_S, LONG_WINDOW_S = 1.0, 5.0
WINDOW_RESPONSES, MANY_RESPONSES, FEW_RESPONSES = 8, 96, 4
PRECISE = 0.15  # standard error of the mean of log seconds up to which a window may be short
ASSUMED_RESPONSES, ASSUMED_SPREAD = 2, 0.5  # what is assumed of a host's log seconds: their standard deviation
ROUNDS = 3  # response times that the first window with a new limit lasts, or it has the fast responses only

# Decisions

SLOWER = math.log(1.3)  # beyond which a host responds slower
MUCH_SLOWER = 2 * SLOWER  # the same if little is known of it
SIGNIFICANT = 3.0  # standard errors
ENOUGH = math.log(0.9)  # of the best throughput
QUEUE_SHARE = 0.25  # of the connections that may wait in the host's queue
USED = 0.75  # of the connections: all are, some of them are just changing from one slice to the next
REMEMBERED = 96  # responses that count for a level
FRESH_S, FRESH_ROUNDS = 30.0, 12  # and response times: a level that was last used longer ago is not relied on
HOLD_S, MAX_HOLD_S = 12.0, 120.0  # until a level is tried again
TRIAL_COST = 0.01  # part of a host's pages that trials of a level which is worth less may cost
TRIAL_S, TRIAL_ROUNDS = 15.0, 12  # and response times, until it is first tried whether fewer connections are enough

# Failures

TOO_MANY_REQUESTS = 429
ONE_IN = 20  # responses of which one may fail
DOWN_FAILURES = 3  # in a row: the host is down
FIRST_DELAY_S, MAX_DELAY_S, MAX_REFUSED_DELAY_S = 0.25, 4.0, 60.0
CEILING_S, MAX_CEILING_S = 8.0, 64.0  # until a limit with which requests failed is tried again
DECAY = 0.98  # by which a response counts less with each later one


class Window(msgspec.Struct, frozen=True):
    """The responses to requests that were sent since a moment, over all workers and crawls."""

    since: float = 0.0  # epoch seconds
    responses: int = 0
    logs: float = 0.0  # sum of the logarithms of the response times, in seconds
    squares: float = 0.0  # sum of the squares of these

    def plus(self, seconds: float) -> Window:
        log = math.log(max(seconds, 0.001))
        return Window(self.since, self.responses + 1, self.logs + log, self.squares + log * log)

    @property
    def mean(self) -> float:
        """Of log seconds: some very slow pages do not make a host slow."""
        return self.logs / self.responses

    def first_mean(self, connections: int, now: float) -> float:
        """The same if so many connections came into use with this window: fast responses come first, so it is at least
        as if the requests under way had a response now. At most SLOWER more: a crawl may have had no pages for a while.
        """
        seconds = connections * (now - self.since) / (self.responses + connections)
        return max(self.mean, min(math.log(max(seconds, 0.001)), self.mean + SLOWER))

    @property
    def error(self) -> float:
        """Squared standard error of the mean."""
        squares = max(0.0, self.squares - self.responses * self.mean**2) + ASSUMED_RESPONSES * ASSUMED_SPREAD**2
        return squares / (self.responses - 1 + ASSUMED_RESPONSES) / self.responses


class Level(msgspec.Struct, frozen=True):
    """How a host responds with so many connections in use."""

    connections: int
    mean: float  # of log seconds
    error: float  # its squared standard error
    responses: int
    at: float  # epoch seconds of the last one

    @property
    def rate(self) -> float:
        """The logarithm of responses a second, by Little's law; but for the same number in all levels."""
        return math.log(self.connections) - self.mean

    def is_fresh(self, now: float) -> bool:
        return self.responses >= FEW_RESPONSES and now - self.at < FRESH_S + FRESH_ROUNDS * math.exp(self.mean)

    def differs(self, other: Level) -> bool:
        """Beyond chance."""
        return abs(self.mean - other.mean) > max(SLOWER, SIGNIFICANT * math.sqrt(self.error + other.error))

    def merged(self, later: Level) -> Level:
        before = min(self.responses, REMEMBERED)
        share = later.responses / (before + later.responses)
        mean = self.mean + (later.mean - self.mean) * share
        error = self.error * (1 - share) ** 2 + later.error * share**2
        return Level(self.connections, mean, error, before + later.responses, later.at)


class Throttle(msgspec.Struct, frozen=True):
    """What is known of a host, and how it is requested. Moments are epoch seconds.

    The limit on connections follows the gradient of the response time, as in TCP Vegas (Brakmo and Peterson, 1995) and
    Netflix' concurrency-limits; what it is worth is tried, as in PCC (Dong et al., 2015):

    1. Responses are counted in windows. A window says how fast the host responds with the connections in use, its
       *level*. The rate of a level is its connections divided by the response time (Little's law).
       In the first windows, which have the fast responses only, requests under way count too: the time spent by all is
       divided by the responses (Epstein and Sobel, Life Testing, 1953).
    2. The limit is the lowest level with ENOUGH of the best rate that is known. A level is known for FRESH_S.
    3. If a level is slower than a lower one, L * (1 - fast / slow) of its L connections wait in the host's queue (TCP
       Vegas). If these are more than QUEUE_SHARE, the level without them is tried. If none is slower, the next higher
       one is tried. If no lower level is known, one is tried after TRIAL_S.
    4. A level that was worth less is tried again when that costs TRIAL_COST of the pages, counting all the time that
       was spent on it: the more is known to be lost, the less often (Lai and Robbins, Asymptotically Efficient Adaptive
       Allocation Rules, 1985).
    5. A window that differs from its level beyond chance is ignored once: it may be a pause of the host. A second one
       changes all levels by as much.
    6. Failures (no response, 429, 503) halve the limit, once for the requests that were under way at the time (RFC
       5681), and the limit that failed is not tried again for CEILING_S, doubling. One failure in ONE_IN is no sign,
       unless it is a 429, which is about the client. A limit below 1 is a part of one connection's time: a delay.
    7. After a failure a request is sent every FIRST_DELAY_S, doubling, until there is a response. After DOWN_FAILURES
       in a row the host was down, and starts again with half of its connections.
    8. It is forgotten after FORGET_S without news.
    """

    limit: float = START  # connections; below 1 the share of time in which one is in use
    delay: float = 0.0  # seconds between two requests
    changed_at: float = 0.0  # requests that were sent before were sent with another limit
    levels: Mapping[int, Level] = msgspec.field(default_factory=dict)
    seconds: float = 0.0  # recent response time
    is_starting: bool = True  # the next limit is the double
    is_trial: bool = False  # fewer connections are being tried
    was_starting: bool = False  # before the trial
    is_doubted: bool = False  # the last window was ignored
    trial_at: float = 0.0
    good: int = 0  # responses since the last failure
    failures: int = 0  # in a row
    failed_at: float = 0.0
    status: int | None = None  # HTTP status of the last failure
    before: float = START  # limit before the failures
    ceiling: float = math.inf  # limit that failed
    ceiling_until: float = 0.0
    ceiling_s: float = CEILING_S
    weight: float = 0.0  # of the responses and failures, see DECAY
    failed: float = 0.0  # weight of the failures
    news_at: float = 0.0

    @property
    def connections(self) -> int:
        """At a time."""
        return max(1, int(self.limit))

    def allowed(self, connections: int) -> int:
        """Of so many connections. Before the first response no limit is known."""
        return min(connections, self.connections) if self.news_at else connections

    @property
    def failed_share(self) -> float:
        """Of the last hundred requests or so."""
        return self.failed / self.weight if self.weight else 0.0

    @property
    def is_slowed(self) -> bool:
        """Whether it gets a delay, or fewer connections than were tried. A trial of fewer does not count."""
        has_tried_more = self.limit < self.ceiling < math.inf or any(level > self.limit for level in self.levels)
        return self.delay > 0 or (has_tried_more and not self.is_trial)


class Slowdown(msgspec.Struct, frozen=True):
    """How a host is slowed down, as users read it."""

    connections: int  # that it gets
    delay: float = 0.0  # seconds between two requests
    status: int | None = None  # HTTP status of its last failure; None = no response
    failed_share: float = 0.0  # of the last hundred requests or so
    failures: int = 0  # in a row, if it is down

    @classmethod
    def of(cls, throttle: Throttle) -> Slowdown | None:
        """None = it is not slowed down. The pause after a failure or two is no delay."""
        if not throttle.is_slowed:
            return None
        failures = throttle.failures if throttle.failures >= DOWN_FAILURES else 0
        delay = throttle.delay if throttle.limit < 1 or failures else 0.0
        return cls(throttle.connections, round(delay, 3), throttle.status, round(throttle.failed_share, 3), failures)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Slowdown:
        """Of its fields as they are stored; a later version may have stored more."""
        known = cls.__struct_fields__
        return cls(**{name: value for name, value in plain.items() if name in known})

    def is_worse_than(self, other: Slowdown) -> bool:
        return (self.connections, -self.delay) < (other.connections, -other.delay)


def level_below(connections: float) -> int:
    """The highest level that is not above this."""
    return LEVELS[max(0, bisect_right(LEVELS, connections) - 1)]


def level_above(connections: float) -> int:
    """The lowest level that is not below this."""
    return LEVELS[min(len(LEVELS) - 1, bisect_left(LEVELS, connections))]


def is_full(throttle: Throttle, window: Window, now: float) -> bool:
    """Whether the window has enough responses for a decision."""
    passed, responses = now - window.since, window.responses
    if responses == 0:
        return False
    if not throttle.levels:
        return True
    if throttle.is_starting:
        return responses >= (1.0 if BRIEF_S <= throttle.seconds <= FAST_S else 1.5) * throttle.limit
    is_first = window.since == throttle.changed_at
    if passed < max(WINDOW_S, ROUNDS * math.exp(window.mean) if is_first else 0.0):
        return False
    if responses >= MANY_RESPONSES or (responses >= FEW_RESPONSES and passed >= LONG_WINDOW_S):
        return True
    return responses >= WINDOW_RESPONSES and window.error <= PRECISE**2


def after_window(throttle: Throttle, window: Window, connections: int, now: float) -> Throttle:
    """After a window in which so many connections were in use."""
    throttle = replace(throttle, seconds=math.exp(window.mean), news_at=now)
    if throttle.limit < 1:
        return throttle if throttle.failures else _raised(throttle, throttle.limit * 1.25, now)
    is_used = connections >= USED * throttle.limit
    level = int(throttle.limit) if is_used else level_below(connections)
    mean = window.first_mean(level, now) if throttle.is_starting and throttle.levels else window.mean
    seen = Level(level, mean, window.error, window.responses, now)
    if not throttle.levels:  # the first page is requested alone
        return replace(
            throttle,
            limit=FAST_START if throttle.seconds <= FAST_S else START,
            levels={1: replace(seen, connections=1)},
            changed_at=now,
            trial_at=now + TRIAL_S + TRIAL_ROUNDS * throttle.seconds,
        )
    known = throttle.levels.get(seen.connections)
    if known is None or known.responses < FEW_RESPONSES or not known.differs(seen):
        seen = known.merged(seen) if known else seen
        throttle = replace(throttle, is_doubted=False, levels={**throttle.levels, seen.connections: seen})
    elif not throttle.is_doubted:
        return replace(throttle, is_doubted=True)
    else:
        throttle = _shifted(throttle, known, seen, now)
    return _decided(throttle, seen, now, is_used=is_used)


def _shifted(throttle: Throttle, known: Level, seen: Level, now: float) -> Throttle:
    """The host became slower or faster: so it did with other numbers of connections, but that is to be seen. Their
    responses do not count, or a wrong guess would make the host seem to change again."""
    by = seen.mean - known.mean
    levels = {
        each: replace(level, mean=level.mean + by, responses=0, at=0.0) for each, level in throttle.levels.items()
    }
    levels[seen.connections] = seen
    return replace(throttle, is_doubted=False, levels=levels, trial_at=max(now, throttle.changed_at + 10.0))


def _decided(throttle: Throttle, seen: Level, now: float, *, is_used: bool) -> Throttle:
    best = _best(throttle, seen, now)
    if best > seen.connections:  # fewer were tried, and are not enough
        throttle = replace(throttle, is_starting=throttle.was_starting)
    throttle = replace(throttle, is_trial=False, was_starting=False)
    if best != seen.connections:
        is_starting = throttle.is_starting and best > seen.connections
        return _with_limit(replace(throttle, is_starting=is_starting), best, now)
    fewer = _worth_a_trial(throttle, seen, now)
    if fewer < seen.connections:
        tried = replace(throttle, is_trial=True, was_starting=throttle.is_starting, is_starting=False)
        return _with_limit(tried, fewer, now)
    if not is_used:
        return throttle
    more = level_above(2 * throttle.limit if throttle.is_starting else throttle.limit + 1)
    if _is_held(throttle.levels.get(more), seen, now):
        return replace(throttle, is_starting=False)
    return _raised(throttle, more, now)


def _best(throttle: Throttle, seen: Level, now: float) -> int:
    """The lowest level with enough of the best rate."""
    if throttle.seconds < COMFORT_S:
        return seen.connections
    highest = throttle.ceiling - 1 if now < throttle.ceiling_until else math.inf
    known = throttle.levels.values()
    levels = [each for each in known if each is seen or (each.is_fresh(now) and each.connections <= highest)]
    best = max(level.rate for level in levels)
    return min(level.connections for level in levels if level.rate >= best + ENOUGH)


def _worth_a_trial(throttle: Throttle, seen: Level, now: float) -> int:
    """A lower level that may be enough, or the present one."""
    at, lower = seen.connections, [each for each in throttle.levels.values() if each.connections < seen.connections]
    if at == 1 or throttle.seconds < COMFORT_S:
        return at
    if lower:
        at_ease = min(lower, key=lambda level: (level.responses < FEW_RESPONSES, level.mean))
        slower, is_known = seen.mean - at_ease.mean, at_ease.responses >= FEW_RESPONSES
        queue, tolerated = at * (1 - math.exp(-slower)), max(1.0, QUEUE_SHARE * at)
        if (seen.differs(at_ease) if is_known else slower > MUCH_SLOWER) and queue > tolerated:
            target = level_below(max(at / 2, at - queue + tolerated / 2))
            known = throttle.levels.get(target)
            if known is None or known.responses < FEW_RESPONSES or not _is_held(known, seen, now):
                return target
    fewer = level_below(0.8 * at)
    is_known = any(_is_held(level, seen, now) for level in lower if level.connections <= fewer)
    return at if is_known or now < throttle.trial_at else fewer


def _is_held(level: Level | None, seen: Level, now: float) -> bool:
    """Whether it is too soon to try a level again. What it costs is measured by the present one."""
    if level is None:
        return False
    lost = 1 - math.exp(level.rate - seen.rate)
    used = level.responses * math.exp(level.mean) / level.connections  # seconds
    return now - level.at < min(max(HOLD_S, used * lost / TRIAL_COST), MAX_HOLD_S)


def _with_limit(throttle: Throttle, limit: float, now: float) -> Throttle:
    if limit == throttle.limit:
        return throttle
    return replace(throttle, limit=limit, changed_at=now, delay=_delay(throttle.seconds, limit))


def _raised(throttle: Throttle, limit: float, now: float) -> Throttle:
    if now < throttle.ceiling_until:
        below = 0.8 * throttle.ceiling if throttle.ceiling <= 1 else level_below(throttle.ceiling - 1)
        limit = min(limit, below)
    limit = level_below(limit) if limit > 1 else limit
    return _with_limit(throttle, limit, now) if limit > throttle.limit else throttle


def after_report(
    throttle: Throttle, window: Window, connections: int, began: float, now: float
) -> tuple[Throttle, bool]:
    """After responses were added to the window, of which the last was requested at `began`, with so many connections in
    use. Returns whether the window is used up, too."""
    if not is_full(throttle, window, now):
        return after_responses(throttle, 0, began, now), False
    throttle = after_responses(throttle, window.responses, began, now)
    return after_window(throttle, window, connections, now), True


def after_responses(throttle: Throttle, responses: int, began: float, now: float) -> Throttle:
    """After so many responses that are no failures, to requests of which the last was sent at `began`. One that was
    sent before the last failure says nothing of how the host is now."""
    if began < throttle.failed_at:
        return replace(throttle, good=throttle.good + responses)
    decay = DECAY**responses
    weight = throttle.weight * decay + (1 - decay) / (1 - DECAY)
    was_down = throttle.failures >= DOWN_FAILURES and throttle.status != TOO_MANY_REQUESTS
    throttle = replace(
        throttle,
        good=throttle.good + responses,
        failures=0,
        delay=_delay(throttle.seconds, throttle.limit),
        weight=weight,
        failed=throttle.failed * decay,
        news_at=now,
    )
    if not was_down:
        return throttle
    limit = level_below(throttle.before / 2)
    trial_at = max(throttle.trial_at, now + TRIAL_S)
    return replace(
        throttle,
        limit=limit,
        changed_at=now,
        is_starting=True,
        trial_at=trial_at,
        ceiling=math.inf,
        ceiling_s=CEILING_S,
    )


def _delay(seconds: float, limit: float) -> float:
    """Seconds between two requests that take so long, with a part of one connection's time; 0.0 = there is none."""
    return min(MAX_REFUSED_DELAY_S, seconds / limit) if limit < 1 else 0.0


def counts(throttle: Throttle, began: float) -> bool:
    """Whether a failure of a request that was sent then counts: those sent before the last change do not, since it was
    made for them."""
    return began >= max(throttle.changed_at, throttle.failed_at)


def after_failure(throttle: Throttle, connections: int, status: int | None, now: float) -> Throttle:
    """After a failure that counts, with so many connections allowed. `status`: None = no response."""
    failures, is_chance = throttle.failures + 1, throttle.good >= ONE_IN and status != TOO_MANY_REQUESTS
    limit = min(throttle.limit, float(connections)) if throttle.limit >= 1 else throttle.limit
    throttle = replace(
        throttle,
        good=0,
        failures=failures,
        failed_at=now,
        status=status,
        before=limit if failures == 1 else throttle.before,
        weight=throttle.weight * DECAY + 1,
        failed=throttle.failed * DECAY + 1,
        news_at=now,
    )
    if is_chance:
        return throttle
    if failures < DOWN_FAILURES or status == TOO_MANY_REQUESTS:
        throttle = _cut(throttle, limit, now)
    longest = MAX_REFUSED_DELAY_S if status == TOO_MANY_REQUESTS else MAX_DELAY_S
    waiting = min(longest, FIRST_DELAY_S * 2.0 ** min(failures - 1, 16))
    own = _delay(throttle.seconds, throttle.limit)
    return replace(throttle, delay=max(own, waiting), changed_at=now, is_starting=False, is_trial=False)


def _cut(throttle: Throttle, limit: float, now: float) -> Throttle:
    is_again = throttle.ceiling_s > CEILING_S
    lower = limit * (0.7 if is_again else 0.5)  # as CUBIC (RFC 9438) does where the limit is about known
    least = LEAST if throttle.seconds and throttle.status is not None else 1.0
    levels = {each: replace(level, at=0.0) if each >= limit else level for each, level in throttle.levels.items()}
    return replace(
        throttle,
        levels=levels,
        limit=max(least, level_below(lower) if lower >= 1 else lower),
        ceiling=limit,
        ceiling_until=now + throttle.ceiling_s,
        ceiling_s=min(2 * throttle.ceiling_s, MAX_CEILING_S),
    )


def after_silence(throttle: Throttle, now: float) -> Throttle:
    """At this moment, if there was no news since."""
    return Throttle() if now - throttle.news_at > FORGET_S else throttle
