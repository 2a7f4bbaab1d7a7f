"""Slices wait for a moment, or for a slot of their host."""

from typing import Any, cast

import pytest

from crawler.fetcher.schedule import FOLLOW_S, SliceSchedule
from crawler.fetcher.session import FetchSession

SESSION = cast(FetchSession, object())
HOST, OTHER = "a.example", "b.example"


@pytest.fixture
def schedule() -> SliceSchedule:
    return SliceSchedule()


def in_order(schedule: SliceSchedule) -> list[tuple[float, int]]:
    """The moments and numbers of all slices, as they become due."""
    due: list[tuple[float, int]] = []
    while first := schedule.first():
        moment, session, number = first
        schedule.remove(session, number)
        due.append((moment, number))
    return due


def test_the_slice_with_the_earliest_moment_comes_first(schedule: SliceSchedule) -> None:
    for moment, number in ((30.0, 0), (10.0, 1), (20.0, 2), (10.0, 3)):
        schedule.add(moment, SESSION, number)
    assert len(schedule) == 4
    assert in_order(schedule) == [(10.0, 1), (10.0, 3), (20.0, 2), (30.0, 0)]
    assert len(schedule) == 0


def test_a_free_slot_goes_to_the_slice_that_has_waited_longest_for_one(schedule: SliceSchedule) -> None:
    schedule.add(10.0, SESSION, 0)
    schedule.add(20.0, SESSION, 1, host=OTHER)
    schedule.add(30.0, SESSION, 2, host=HOST)
    schedule.add(40.0, SESSION, 3, host=HOST)
    schedule.note_free_slot(HOST)
    assert in_order(schedule) == [(0.0, 2), (10.0, 0), (20.0, 1), (40.0 + FOLLOW_S, 3)]


def test_the_next_free_slot_goes_to_the_next_slice(schedule: SliceSchedule) -> None:
    schedule.add(30.0, SESSION, 2, host=HOST)
    schedule.add(40.0, SESSION, 3, host=HOST)
    schedule.note_free_slot(HOST)
    schedule.note_free_slot(HOST)
    schedule.note_free_slot(HOST)
    assert in_order(schedule) == [(0.0, 2), (0.0, 3)]


def test_a_slice_that_tried_again_by_itself_waits_once(schedule: SliceSchedule) -> None:
    schedule.add(10.0, SESSION, 0, host=HOST)
    _, session, number = cast(Any, schedule.first())
    schedule.remove(session, number)
    schedule.add(20.0, SESSION, 0, host=HOST)
    schedule.note_free_slot(HOST)
    assert in_order(schedule) == [(0.0, 0)]


def test_a_slice_that_is_worked_on_takes_no_free_slot_from_another(schedule: SliceSchedule) -> None:
    schedule.add(10.0, SESSION, 0, host=HOST)
    schedule.add(20.0, SESSION, 1, host=HOST)
    schedule.remove(SESSION, 0)
    schedule.note_free_slot(HOST)
    assert in_order(schedule) == [(0.0, 1)]


def test_all_slices_can_be_taken_at_once(schedule: SliceSchedule) -> None:
    schedule.add(10.0, SESSION, 0, host=HOST)
    schedule.add(20.0, SESSION, 1)
    assert list(schedule.clear()) == [(SESSION, 0), (SESSION, 1)]
    schedule.note_free_slot(HOST)
    assert (len(schedule), schedule.first()) == (0, None)


def test_of_the_slices_that_wait_for_a_slot_of_a_host_only_the_first_tries_soon(schedule: SliceSchedule) -> None:
    schedule.add(10.0, SESSION, 0, host=HOST)
    schedule.add(10.0, SESSION, 1, host=HOST)
    schedule.add(10.0, SESSION, 2, host=OTHER)
    assert in_order(schedule) == [(10.0, 0), (10.0, 2), (10.0 + FOLLOW_S, 1)]


def test_when_the_first_gets_none_the_next_tries_soon(schedule: SliceSchedule) -> None:
    schedule.add(10.0, SESSION, 0, host=HOST)
    schedule.add(10.0, SESSION, 1, host=HOST)
    schedule.remove(SESSION, 0)
    schedule.add(10.1, SESSION, 0, host=HOST)
    assert in_order(schedule) == [(10.1, 1), (10.1 + FOLLOW_S, 0)]
