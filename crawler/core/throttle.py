"""The automatic throttle: asks a host less often while it is slow or in trouble.

The delay it adds follows four rules, with T the mean response time in seconds:

1. Responses pull the delay towards what the host's slowness calls for, max(0, T - COMFORT_S), half of the way at a
   time, and up to it at once: a host that takes three seconds to respond is left alone for two before the next request.
   After the first response at most RECOVERY_S are left beyond that, so a host that is well again is at full speed
   after six responses, two seconds.
2. Trouble (no response, 429 or 503) number n in a row makes it at least FIRST_S * 2^(n-1).
3. It never exceeds LONGEST_S; below NEGLIGIBLE_S it is nothing.
4. With no news it halves every HALF_LIFE_S, and one trouble is forgotten.

So it is additive in slowness and multiplicative in trouble. Rule 1 is Scrapy's AutoThrottle without its target of
requests in parallel, which the limit on connections keeps; rule 2 is the back-off of RFC 6298, 5.5.

A crawl that comes to a host for the first time makes one request without this delay, see `frontier.gate`: what an
earlier crawl learned may be over.
"""

from __future__ import annotations

from dataclasses import dataclass

from crawler.core.outcomes import Outcome

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
    return http_status in BUSY_STATUSES or outcome in (Outcome.TIMEOUT, Outcome.CONNECT)
