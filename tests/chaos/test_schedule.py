"""A seed decides everything about a run."""

from __future__ import annotations

from tests.chaos.disturbances import KINDS, kinds_of
from tests.chaos.processes import Role
from tests.chaos.schedule import LEAST, MOST, draw


def test_a_seed_gives_the_same_schedule_again() -> None:
    assert draw(42) == draw(42)
    assert draw(42) != draw(43)


def test_every_kind_comes_up_and_finds_its_workers() -> None:
    schedules = [draw(seed) for seed in range(300)]
    for schedule in schedules:
        assert LEAST <= len(schedule.planned) <= MOST
        assert all(KINDS[planned.kind].needs <= set(schedule.crew) for planned in schedule.planned)
        assert [planned.at for planned in schedule.planned] == sorted(planned.at for planned in schedule.planned)
    assert {planned.kind for schedule in schedules for planned in schedule.planned} == names(rendered=False)


def test_what_cannot_be_had_is_left_out() -> None:
    drawn = {planned.kind for seed in range(100) for planned in draw(seed, ["fill-disk"]).planned}
    assert drawn == names(rendered=False) - {"fill-disk"}


def test_where_pages_are_rendered_browsers_are_struck_too() -> None:
    schedules = [draw(seed, rendered=True) for seed in range(300)]
    assert {planned.kind for schedule in schedules for planned in schedule.planned} == names(rendered=True)
    assert all(schedule.crew.count(Role.BROWSER) == 2 for schedule in schedules)


def names(*, rendered: bool) -> set[str]:
    return {kind.name for kind in kinds_of(rendered=rendered)}
