"""A seed decides everything about a mixture."""

from __future__ import annotations

import pytest

from tools.hosts.scenarios import KINDS
from tools.hosts.schedule import LEAST, MOST, SECONDS, SECONDS_OF_AUTOSCALED, draw


def test_a_seed_gives_the_same_schedule_again() -> None:
    assert draw(42) == draw(42)
    assert draw(42) != draw(43)


@pytest.mark.parametrize("autoscaled", [False, True])
def test_every_fault_comes_up_within_its_bounds_and_once(autoscaled: bool) -> None:
    lasting = {**SECONDS, **SECONDS_OF_AUTOSCALED} if autoscaled else SECONDS
    schedules = [draw(seed, autoscaled=autoscaled) for seed in range(200)]
    for schedule in schedules:
        kinds = [planned.kind for planned in schedule.planned]
        assert LEAST <= len(kinds) <= MOST
        assert len(set(kinds)) == len(kinds)
        assert [planned.at for planned in schedule.planned] == sorted(planned.at for planned in schedule.planned)
        for planned in schedule.planned:
            least, most = lasting[planned.kind]
            assert least <= planned.seconds <= most
    assert {planned.kind for schedule in schedules for planned in schedule.planned} == set(lasting) <= set(KINDS)
    assert {bool(schedule.skews) for schedule in schedules} == {True, False}
