"""Which outcomes are worth another try, and when.

Back-off doubles from BASE and is spread by a quarter in both directions, so that pages which failed together are not
asked again together (M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015), and a crawl of a host
that is down takes about as long each time.
"""

from __future__ import annotations

from dataclasses import dataclass

from crawler.core.outcomes import Kind, Outcome
from crawler.core.work import PageResult

BASE = 2.0  # seconds before the second attempt, on average
LONGEST_BACKOFF_S = 300.0
LONGEST_PUT_OFF_S = 24 * 3600.0  # whatever Retry-After says; a crawl that has nothing else to do ends sooner

TRANSIENT_STATUSES = frozenset({408, 425, 429, *range(500, 600)})
TRANSIENT_OUTCOMES = frozenset({Outcome.TIMEOUT, Outcome.CONNECT})


@dataclass(frozen=True)
class RetryDecision:
    """Ask again, but not before `wait` seconds have passed."""

    wait: float
    put_off: int | None = None  # status of the response that asked for this wait; None = the wait is our own back-off


def decide(result: PageResult, max_attempts: int, jitter: float) -> RetryDecision | None:
    """None when this result is final. `jitter` is a random number in [0, 1)."""
    if result.attempt >= max_attempts or result.is_hopeless or not _is_transient(result):
        return None
    backoff = min(BASE * 2 ** (result.attempt - 1) * (0.75 + jitter / 2), LONGEST_BACKOFF_S)
    asked = min(result.retry_after or 0.0, LONGEST_PUT_OFF_S)
    return RetryDecision(asked, put_off=result.http_status) if asked > backoff else RetryDecision(backoff)


def is_dead_letter(result: PageResult) -> bool:
    """Whether a page that closes with this result may be sent again: it failed, or its trouble did not pass in time."""
    return result.outcome.kind is Kind.FAILED or _is_transient(result)


def _is_transient(result: PageResult) -> bool:
    return (
        result.robots_unreachable
        or result.outcome in TRANSIENT_OUTCOMES
        or (result.http_status in TRANSIENT_STATUSES and result.outcome in (Outcome.CLIENT_ERROR, Outcome.SERVER_ERROR))
    )
