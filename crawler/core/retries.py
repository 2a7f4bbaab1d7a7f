"""Which outcomes are worth another try, and when.

Back-off doubles from BASE and is spread by jitter, so that pages which failed together are not asked again together
(M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015: "equal jitter").
"""

from __future__ import annotations

from dataclasses import dataclass

from crawler.core.outcomes import Kind, Outcome
from crawler.core.work import PageResult

BASE = 2.0  # seconds before the second attempt, on average
LONGEST = 300.0  # seconds we are ready to wait for one page, whatever Retry-After says

TRANSIENT_STATUSES = frozenset({408, 425, 429, *range(500, 600)})
TRANSIENT_OUTCOMES = frozenset({Outcome.TIMEOUT, Outcome.CONNECT})


@dataclass(frozen=True)
class RetryDecision:
    """Ask again, but not before `wait` seconds have passed."""

    wait: float


def decide(result: PageResult, max_attempts: int, jitter: float) -> RetryDecision | None:
    """None when this result is final. `jitter` is a random number in [0, 1)."""
    if result.attempt >= max_attempts or result.is_hopeless or not _is_transient(result):
        return None
    backoff = BASE * 2 ** (result.attempt - 1) * (0.5 + jitter)
    return RetryDecision(wait=min(max(backoff, result.retry_after or 0.0), LONGEST))


def is_dead_letter(result: PageResult) -> bool:
    """Whether a page that closes with this result may be sent again: it failed, or its trouble did not pass in time."""
    return result.outcome.kind is Kind.FAILED or _is_transient(result)


def _is_transient(result: PageResult) -> bool:
    return (
        result.robots_unreachable
        or result.outcome in TRANSIENT_OUTCOMES
        or (result.http_status in TRANSIENT_STATUSES and result.outcome in (Outcome.CLIENT_ERROR, Outcome.SERVER_ERROR))
    )
