"""The automatic throttle: asks a host less often while it is slow or in trouble.

The delay it adds follows three rules, with T the mean time to an answer, in seconds:

1. Answers pull the delay towards what the host's slowness calls for, max(0, T - COMFORT), half of the way at a time,
   and up to it at once: a host that needs three seconds for an answer is left alone for two before the next request.
2. Trouble (no answer, 429 or 503) number n in a row makes it at least FIRST * 2^(n-1).
3. It never exceeds LONGEST; below NEGLIGIBLE it is nothing.

So it is additive in slowness and multiplicative in trouble. Rule 1 is Scrapy's AutoThrottle without its target of
requests in parallel, which the limit on connections keeps; rule 2 is the back-off of RFC 6298, 5.5.
"""

from __future__ import annotations

from dataclasses import dataclass

from crawler.core.outcomes import Outcome
from crawler.core.work import PageResult

COMFORT = 1.0  # seconds an answer may take before the host counts as slow
FIRST = 0.25  # seconds of delay after the first trouble: one busy page should not slow down a whole site
LONGEST = 60.0  # seconds
NEGLIGIBLE = 0.05  # seconds
BUSY_STATUSES = frozenset({429, 503})


@dataclass(frozen=True)
class Throttle:
    """What is remembered of a host."""

    delay: float = 0.0  # seconds between two requests, at least
    troubles: int = 0  # in a row


def after_answers(throttle: Throttle, mean_seconds: float, answers: int) -> Throttle:
    """After `answers` answers that took `mean_seconds` each."""
    target = max(0.0, mean_seconds - COMFORT)
    delay = max(target, target + (throttle.delay - target) / 2**answers)
    return Throttle(0.0 if delay < NEGLIGIBLE else min(delay, LONGEST))


def after_trouble(throttle: Throttle) -> Throttle:
    troubles = throttle.troubles + 1
    return Throttle(min(LONGEST, max(throttle.delay, FIRST * 2.0 ** min(troubles - 1, 16))), troubles)


def is_trouble(outcome: Outcome, http_status: int | None) -> bool:
    """Whether this answer, or the lack of one, says that the host is better left alone for a while. Another 5xx is one
    page's fault as often as not."""
    return http_status in BUSY_STATUSES or outcome in (Outcome.TIMEOUT, Outcome.CONNECT)


def stop_of(result: PageResult) -> float | None:
    """Seconds for which the server asks for no request at all (RFC 9110, 10.2.3); None when it does not."""
    return result.retry_after if result.http_status in BUSY_STATUSES else None
