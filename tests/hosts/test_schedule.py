"""A seed decides everything about a mixture."""

from __future__ import annotations

from tests.hosts.scenarios import KINDS
from tests.hosts.schedule import LEAST, MOST, SECONDS, draw


def test_a_seed_gives_the_same_schedule_again() -> None:
    assert draw(42) == draw(42)
    assert draw(42) != draw(43)


def test_every_fault_comes_up_within_its_bounds_and_once() -> None:
    schedules = [draw(seed) for seed in range(200)]
    for schedule in schedules:
        kinds = [planned.kind for planned in schedule.planned]
        assert LEAST <= len(kinds) <= MOST
        assert len(set(kinds)) == len(kinds)
        assert [planned.at for planned in schedule.planned] == sorted(planned.at for planned in schedule.planned)
        for planned in schedule.planned:
            least, most = SECONDS[planned.kind]
            assert least <= planned.seconds <= most
    assert {planned.kind for schedule in schedules for planned in schedule.planned} == set(KINDS) == set(SECONDS)
    assert {bool(schedule.skews) for schedule in schedules} == {True, False}
