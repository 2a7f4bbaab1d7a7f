"""How a run waits: a moment in which all is at rest is not yet rest."""

from __future__ import annotations

from tools.chaos.scene import for_so_long


def test_what_must_last_begins_anew_after_each_break() -> None:
    seconds, is_so = 0.0, True
    has_lasted = for_so_long(2.0, lambda: is_so, lambda: seconds)
    answers = []
    for seconds, is_so in ((1.0, True), (1.5, False), (2.5, True), (3.4, True), (3.5, True)):  # noqa: B007 (looked at)
        answers.append(has_lasted())
    assert answers == [False, False, False, False, True]
