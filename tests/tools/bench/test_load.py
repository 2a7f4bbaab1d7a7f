"""What `bin/bench load` makes of its measurements."""

from __future__ import annotations

import threading

import pytest

from tests.site import Reply, Site
from tools.bench.arguments import parse
from tools.bench.load import EVERY, SELDOM, SHARE, Asked, Held, Notebook, Question, lacking, line, listen


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


@pytest.mark.parametrize(
    ("asked", "held", "missed"),
    [
        (["a", "b"], Held(jobs=500, running=2), []),
        (["a", "b", "more"], Held(jobs=900, running=2), []),
        (["b"], Held(jobs=500, running=2), ["never answered: a"]),
        (["a", "b"], Held(jobs=499, running=2), ["only 499 of 1,000 jobs were in the queues at one time"]),
        (["a", "b"], Held(jobs=500, running=1), ["only 1 of 2 crawls still ran at the end"]),
    ],
)
def test_what_was_not_asked_or_was_no_load_is_no_measurement(asked: list[str], held: Held, missed: list[str]) -> None:
    chosen = parse(["load", "--crawls", "2", "--jobs", "1000"])
    assert lacking(chosen, {"a", "b"}, [Asked(name, [1.0], 0) for name in asked], held) == missed


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        (Reply("retry: 5\ndata: 1\n\ndata: 2\n\n"), 0),
        (Reply("data: 1\n\n", status=403), 1),
        (Reply("retry: 5\n\n"), 1),
    ],
    ids=["events", "refused", "no event"],
)
def test_a_stream_is_well_when_it_is_one_and_tells_something(answer: Reply, wrong: int) -> None:
    notebook, end = Ending(), threading.Event()
    notebook.end = end
    with Site({"/events": answer}).serving() as site:
        port = int(site.url.rsplit(":", 1)[1])
        listen(port, Question("events", "GET", "/events", {}), notebook, end)
    (asked,) = notebook.all()
    assert (len(asked.times_ms), asked.wrong) == (1, wrong)


class Ending(Notebook):
    """One note is enough."""

    end: threading.Event

    def note(self, name: str, seconds: float, *, is_right: bool) -> None:
        super().note(name, seconds, is_right=is_right)
        self.end.set()
