"""Results of slow hosts go to the manager as soon as a connection would idle; those of fast hosts are batched."""

import math

import pytest

from crawler.core.politeness.handover import (
    MUCH_IDLE,
    PROMPT_S,
    PROMPT_SLICES,
    is_hungry,
    last_pages,
    may_be_hungry,
    report_wait,
)
from crawler.core.politeness.host_rules import SLOW_RESPONSE_S


@pytest.mark.parametrize(
    ("seconds", "working", "may_be"),
    [
        (0.1, 8, True),
        (0.1, 0, False),  # its batches are over, and reported
        (0.1, PROMPT_SLICES, True),
        (0.1, PROMPT_SLICES + 1, False),  # many hosts
        (SLOW_RESPONSE_S, 1, True),
        (SLOW_RESPONSE_S / 2, 8, False),  # a fast host
        (0.0, 8, False),  # no response yet
    ],
)
def test_only_a_job_that_waits_for_slow_hosts_may_be_hungry(seconds: float, working: int, may_be: bool) -> None:
    assert may_be_hungry(seconds, 0.8, working) is may_be
    assert not may_be_hungry(seconds, MUCH_IDLE / 2, working)  # the worker is busy


@pytest.mark.parametrize(
    ("ending", "waiting", "hungry"),
    [
        (0, 0, True),
        (4, 3, True),
        (3, 3, False),  # one follows each
        (0, 1, False),  # those worked on have many pages left
    ],
)
def test_a_job_is_hungry_if_fewer_slices_wait_than_are_about_to_end(ending: int, waiting: int, hungry: bool) -> None:
    assert is_hungry(ending, waiting) is hungry


@pytest.mark.parametrize(("seconds", "pages"), [(0.0, 1), (0.05, 4), (0.1, 2), (5.0, 1)])
def test_the_last_pages_of_a_slice_are_those_of_a_moment(seconds: float, pages: int) -> None:
    assert last_pages(seconds) == pages


@pytest.mark.parametrize(
    ("seconds", "waiting", "has_ended", "wait"),
    [
        (0.1, 0, True, 0.025),
        (0.1, 3, True, 0.025),
        (0.02, 0, True, PROMPT_S),
        (0.1, 0, False, 0.1),
        (0.1, 1, False, math.inf),
    ],
)
def test_links_wait_for_one_response_of_each_connection_and_ended_slices_do_not(
    seconds: float, waiting: int, has_ended: bool, wait: float
) -> None:
    assert report_wait(seconds, waiting, has_ended=has_ended) == wait
