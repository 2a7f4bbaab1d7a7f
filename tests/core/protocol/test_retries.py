"""Only trouble that may pass is worth another try, later each time, and not for ever or beyond a deadline."""

from typing import Any

import pytest

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import PageResult
from crawler.core.protocol.retries import (
    MAX_BACKOFF_S,
    MAX_RETRY_AFTER_S,
    SUSPECTS_PER_BATCH,
    batch_size,
    decide,
    expiry,
    host_of,
    lane_of,
    lanes_of,
    suffix_of,
)


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


@pytest.mark.parametrize(
    ("deadline", "page_ttl", "expected"),
    [
        (None, None, None),
        (100.0, None, 1100.0),
        (None, 30.0, 1080.0),
        (100.0, 30.0, 1080.0),
        (100.0, 60.0, 1100.0),
    ],
)
def test_the_earlier_of_both_counts(deadline: float | None, page_ttl: float | None, expected: float | None) -> None:
    options = CrawlOptions(deadline=deadline, page_ttl=page_ttl)
    assert expiry(options, round_began_at=1000.0, now=1050.0) == expected


@pytest.mark.parametrize(
    ("is_suspect", "deaths", "expected"), [(False, 0, None), (True, 0, SUSPECTS_PER_BATCH), (True, 1, 1), (True, 7, 1)]
)
def test_a_suspect_goes_in_small_company_and_alone_once_a_worker_died_over_it(
    is_suspect: bool, deaths: int, expected: int | None
) -> None:
    lane = lane_of("example.com:8080", is_suspect=is_suspect, deaths=deaths)
    assert batch_size(lane) == expected
    assert host_of(lane) == "example.com:8080"
    assert lane in lanes_of("example.com:8080")


@pytest.mark.parametrize(
    ("is_suspect", "deaths", "expected"), [(False, 0, None), (True, 0, SUSPECTS_PER_BATCH), (True, 1, 1)]
)
def test_pages_of_a_slot_lane_have_lanes_of_their_own(is_suspect: bool, deaths: int, expected: int | None) -> None:
    lane = lane_of("example.com:8080", is_suspect=is_suspect, deaths=deaths, suffix="b")
    assert suffix_of(lane) == "b"
    assert not suffix_of(lane_of("example.com:8080", is_suspect=is_suspect, deaths=deaths))
    assert (batch_size(lane), host_of(lane)) == (expected, "example.com:8080")
    assert lane in lanes_of("example.com:8080")
