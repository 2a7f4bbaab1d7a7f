"""Pages that may have killed their worker go in smaller company, and alone at last."""

from __future__ import annotations

import pytest

from crawler.core.suspects import SMALL_COMPANY, company, host_of, lane_of


def lane(*, deaths: int, attempts: int, max_attempts: int = 3) -> str:
    return lane_of("example.com:8080", deaths=deaths, attempts=attempts, max_attempts=max_attempts)


@pytest.mark.parametrize("attempts", [0, 1, 2])
def test_a_page_no_worker_died_with_waits_with_the_others(attempts: int) -> None:
    assert lane(deaths=0, attempts=attempts) == "example.com:8080"
    assert company(lane(deaths=0, attempts=attempts)) is None


@pytest.mark.parametrize(
    ("attempts", "max_attempts", "expected"),
    [(1, 3, SMALL_COMPANY), (2, 3, 1), (3, 3, 1), (1, 2, 1), (1, 1, 1), (1, 50, SMALL_COMPANY)],
)
def test_a_suspect_goes_in_small_company_and_on_its_last_attempt_alone(
    attempts: int, max_attempts: int, expected: int
) -> None:
    suspect = lane(deaths=1, attempts=attempts, max_attempts=max_attempts)
    assert company(suspect) == expected
    assert host_of(suspect) == "example.com:8080"
