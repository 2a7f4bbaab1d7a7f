from __future__ import annotations

import pytest

from crawler.management import display as display_module
from crawler.management.display import Bar, Lines, display_for
from tests.exports.factories import make_crawl

pytestmark = pytest.mark.django_db


def test_a_terminal_gets_a_bar_and_anything_else_gets_lines() -> None:
    assert isinstance(display_for(True, print), Bar)
    assert isinstance(display_for(False, print), Lines)


def test_lines_come_now_and_then_and_notes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = make_crawl(discovered=3, outcomes={"2xx": 1})
    said: list[str] = []
    with Lines(said.append) as lines:
        lines.show(crawl)
        lines.note("a note")
        assert said == ["a note"]
        monkeypatch.setattr(display_module, "SPACING", 0.0)
        lines.show(crawl)
    assert said[1:] == ["after 0.0 s: 1 of 3 pages"]


def test_a_bar_shows_on_stderr_and_is_gone_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    crawl = make_crawl(discovered=3, outcomes={"2xx": 1})
    with Bar() as bar:
        bar.show(crawl)
        bar.note("a note in [brackets]")
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "a note in [brackets]\n" in printed.err
