"""A seed decides everything about a run."""

from pathlib import Path
from typing import Any, cast

from tests.hostile.server import Canary
from tools.chaos.one_machine.crew import Role
from tools.chaos.one_machine.disturbances import KINDS, LEAST, LOGIN, MOST, QUEUE, SESSIONS_ENDED, USED, draw
from tools.chaos.one_machine.scene import Grounds
from tools.chaos.site import Site


def grounds(**more: Any) -> Grounds:
    return Grounds(Path(), Path(), cast(Site, None), mount=True, **more)


PLAIN, RENDERED = grounds(), grounds(canary=cast(Canary, object()))
OF_USERS = {"add-pages", "request-again", "change-options"}
OF_SCRAPY = {"kill-scrapy", "kill-scrapy-worker"}
OF_BROWSERS = {"kill-chromium", "kill-renderer", "kill-playwright", "kill-browser-worker", "stop-browser-worker"}
OF_BROWSERS |= {"terminate-browser-worker", "kill-everything"}
WITHOUT_BROWSERS = {"kill-everything-stock", "kill-everything-own", "kill-web"}
USUAL = {*KINDS} - OF_USERS - OF_SCRAPY - OF_BROWSERS - {"end-sessions"}


def drawn(grounds: Grounds, times: int, left_out: tuple[str, ...] = ()) -> list[str]:
    return [planned.kind for seed in range(times) for planned in draw(seed, grounds, left_out).planned]


def test_a_seed_gives_the_same_schedule_again() -> None:
    assert draw(42, PLAIN) == draw(42, PLAIN)
    assert draw(42, PLAIN) != draw(43, PLAIN)


def test_every_kind_comes_up_and_finds_its_workers() -> None:
    schedules = [draw(seed, PLAIN) for seed in range(300)]
    for schedule in schedules:
        assert LEAST <= len(schedule.planned) <= MOST
        needed = set().union(*(KINDS[planned.kind].needs for planned in schedule.planned))
        assert needed & {*Role} <= set(schedule.crew)
        assert [planned.at for planned in schedule.planned] == sorted(planned.at for planned in schedule.planned)
    assert {planned.kind for schedule in schedules for planned in schedule.planned} == USUAL


def test_a_kind_that_is_not_possible_is_left_out() -> None:
    assert {*drawn(PLAIN, 100, ("fill-disk",))} == USUAL - {"fill-disk"}


def test_where_pages_are_rendered_browsers_are_struck_too() -> None:
    assert {*drawn(RENDERED, 300)} == USUAL - WITHOUT_BROWSERS | OF_BROWSERS
    assert all(draw(seed, RENDERED).crew.count(Role.BROWSER) == 2 for seed in range(300))


def test_a_queue_has_users_besides() -> None:
    schedules = [draw(seed, grounds(is_queue=True)) for seed in range(100)]
    kinds = [planned.kind for schedule in schedules for planned in schedule.planned]
    assert {kind for kind in kinds if QUEUE in KINDS[kind].needs} == OF_USERS
    assert sum(kind in OF_USERS for kind in kinds) == USED * len(schedules)
    assert all([planned.at for planned in each.planned] == sorted(at.at for at in each.planned) for each in schedules)


def test_a_site_for_members_ends_sessions_besides() -> None:
    kinds = drawn(grounds(logs_in=True), 100)
    assert kinds.count("end-sessions") == SESSIONS_ENDED * 100
    assert {kind for kind in kinds if LOGIN in KINDS[kind].needs} == {"end-sessions"}


def test_workers_for_scrapy_are_struck_besides_the_others() -> None:
    assert {*drawn(grounds(runs_scrapy=True), 200)} == USUAL | OF_SCRAPY
