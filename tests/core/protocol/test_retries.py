"""Only trouble that may pass is worth another try, later each time, and not for ever."""

from typing import Any

import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import PageResult
from crawler.core.protocol.retries import MAX_BACKOFF_S, MAX_RETRY_AFTER_S, decide


def result(outcome: Outcome, attempt: int = 1, **facts: Any) -> PageResult:
    return PageResult(id=1, attempt=attempt, outcome=outcome, **facts)


TRANSIENT = [
    result(Outcome.TIMEOUT),
    result(Outcome.CONNECT),
    result(Outcome.SERVER_ERROR, http_status=500),
    result(Outcome.SERVER_ERROR, http_status=503),
    result(Outcome.SERVER_ERROR, http_status=507),
    result(Outcome.CLIENT_ERROR, http_status=429),
    result(Outcome.ROBOTS, robots_unreachable=True),
]
FINAL = [
    result(Outcome.SUCCESS, http_status=200),
    result(Outcome.CLIENT_ERROR, http_status=404),
    result(Outcome.DNS),
    result(Outcome.TLS),
    result(Outcome.TOO_LARGE, http_status=500),
    result(Outcome.ROBOTS),
    result(Outcome.PRIVATE_ADDRESS),
]


@pytest.mark.parametrize("given", TRANSIENT, ids=lambda given: f"{given.outcome} {given.http_status}")
def test_passing_trouble_is_tried_again(given: PageResult) -> None:
    assert decide(given, max_attempts=3, jitter=0.5) is not None


@pytest.mark.parametrize("given", FINAL, ids=lambda given: f"{given.outcome} {given.http_status}")
def test_lasting_trouble_is_not(given: PageResult) -> None:
    assert decide(given, max_attempts=3, jitter=0.5) is None


def test_the_last_attempt_is_final() -> None:
    assert decide(result(Outcome.TIMEOUT, attempt=3), max_attempts=3, jitter=0.5) is None


def wait(attempt: int, jitter: float, retry_after: float | None = None) -> float:
    decision = decide(result(Outcome.TIMEOUT, attempt, retry_after=retry_after), max_attempts=99, jitter=jitter)
    assert decision is not None
    return decision.wait


def test_the_wait_doubles_and_is_spread_by_jitter() -> None:
    assert [wait(attempt, 0.5) for attempt in (1, 2, 3)] == [2, 4, 8]
    assert (wait(1, 0.0), wait(1, 1.0)) == (1.5, 2.5)


def test_the_server_may_ask_for_a_longer_wait_but_not_for_any() -> None:
    assert wait(1, 0.5, retry_after=60) == 60
    assert wait(1, 0.5, retry_after=1) == 2
    assert wait(1, 0.5, retry_after=3600) == 3600
    assert wait(1, 0.5, retry_after=1e6) == MAX_RETRY_AFTER_S
    assert wait(40, 0.5) == MAX_BACKOFF_S


def test_who_asked_for_the_wait_is_told() -> None:
    put_off = decide(result(Outcome.CLIENT_ERROR, http_status=429, retry_after=60), max_attempts=3, jitter=0.5)
    backed_off = decide(result(Outcome.CLIENT_ERROR, http_status=429, retry_after=1), max_attempts=3, jitter=0.5)
    assert put_off is not None
    assert backed_off is not None
    assert (put_off.put_off, backed_off.put_off) == (429, None)
