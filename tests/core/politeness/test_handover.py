"""Results of slow hosts go to the manager as soon as a connection would idle; those of fast hosts are batched."""

import math

import pytest

from crawler.core.politeness.handover import MUCH_IDLE, PROMPT_S, PROMPT_SLICES, is_hungry, report_wait
from crawler.core.politeness.host_rules import SLOW_RESPONSE_S


@pytest.mark.parametrize(
    ("seconds", "working", "waiting", "hungry"),
    [
        (0.1, 8, 0, True),
        (0.1, 8, 3, True),
        (0.1, 8, 4, False),  # enough slices follow
        (0.1, 0, 0, False),  # its batches are over, and reported
        (0.1, PROMPT_SLICES, 0, True),
        (0.1, PROMPT_SLICES + 1, 0, False),  # many hosts
        (SLOW_RESPONSE_S, 1, 0, True),
        (SLOW_RESPONSE_S / 2, 8, 0, False),  # a fast host
        (0.0, 8, 0, False),  # no response yet
    ],
)
def test_a_job_is_hungry_if_few_slices_follow_those_at_a_slow_host(
    seconds: float, working: int, waiting: int, hungry: bool
) -> None:
    assert is_hungry(seconds, 0.8, working, waiting) is hungry
    assert not is_hungry(seconds, MUCH_IDLE / 2, working, waiting)  # the worker is busy


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
