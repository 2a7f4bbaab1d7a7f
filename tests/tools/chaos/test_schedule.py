"""A seed decides everything about a run."""

from __future__ import annotations

from tools.chaos.disturbances import KINDS, kinds_of
from tools.chaos.processes import Role
from tools.chaos.schedule import LEAST, MOST, SESSIONS_ENDED, USED, draw


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


def test_a_queue_has_users_besides() -> None:
    schedules = [draw(seed, queue=True) for seed in range(100)]
    drawn = [planned for schedule in schedules for planned in schedule.planned]
    assert {planned.kind for planned in drawn if KINDS[planned.kind].queue} == names(
        rendered=False, queue=True
    ) - names(rendered=False)
    assert sum(KINDS[planned.kind].queue for planned in drawn) == USED * len(schedules)
    assert all([planned.at for planned in each.planned] == sorted(at.at for at in each.planned) for each in schedules)


def test_a_site_for_members_ends_sessions_besides() -> None:
    drawn = [planned.kind for seed in range(100) for planned in draw(seed, login=True).planned]
    assert drawn.count("end-sessions") == SESSIONS_ENDED * 100
    assert "end-sessions" not in names(rendered=False)


def test_workers_for_scrapy_are_struck_beside_the_others() -> None:
    crew = (Role.SCRAPY, Role.SCRAPY)
    drawn = {planned.kind for seed in range(200) for planned in draw(seed, more=crew).planned}
    assert drawn == names(rendered=False) | {"kill-scrapy", "kill-scrapy-worker"}


def names(*, rendered: bool, queue: bool = False) -> set[str]:
    return {kind.name for kind in kinds_of(rendered=rendered, queue=queue)}
