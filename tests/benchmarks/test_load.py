"""What `bin/bench load` makes of its measurements."""

from __future__ import annotations

import pytest

from benchmarks.arguments import parse
from benchmarks.load import EVERY, SELDOM, SHARE, Asked, Notebook, line


@pytest.mark.parametrize(
    ("times", "wrong", "trouble"),
    [
        ([200.0] * 99 + [5000.0], 0, ""),
        ([200.0] * 90 + [1100.0] * 10, 0, "TOO SLOW"),
        ([1100.0] * 60 + [900.0] * 40, 0, "TOO SLOW"),
        ([200.0] * 100, 1, "1 WRONG ANSWERS"),
    ],
    ids=["one was slow", "one in ten was slow", "most were slow", "one was wrong"],
)
def test_a_kind_of_page_is_judged_by_its_median_and_its_95th_of_a_hundred(
    times: list[float], wrong: int, trouble: str
) -> None:
    assert Asked("a page", times, wrong).trouble == trouble


def test_what_came_before_everybody_was_there_does_not_count() -> None:
    notebook = Notebook()
    notebook.note("a page", 9.0, is_right=False)
    notebook.forget()
    notebook.note("a page", 0.1, is_right=True)
    (asked,) = notebook.all()
    assert (asked.times_ms, asked.wrong) == ([100.0], 0)
    assert line(asked).split()[:6] == ["a", "page", "1", "100", "100", "100"]


def test_it_looks_as_often_as_the_script_of_the_page() -> None:
    assert (EVERY, SHARE, SELDOM) == (1.0, 10.0, 4.0)


def test_it_is_a_hundred_people_and_two_hundred_crawls_unless_told_otherwise() -> None:
    chosen = parse(["load"])
    assert (chosen.watchers, chosen.crawls, chosen.jobs) == (100, 200, 20_000)
