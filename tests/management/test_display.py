import sys
from io import BytesIO, TextIOWrapper

import pytest

from crawler.management import display as display_module
from crawler.management import progress_bar
from crawler.management.display import PeriodicLines, display_for
from crawler.management.progress_bar import DIM, PLAIN, Bar, LiveLines, bar_line
from tests.factories import make_crawl

pytestmark = pytest.mark.django_db


def test_a_terminal_gets_a_bar_and_anything_else_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(display_for(True, print), Bar)
    assert isinstance(display_for(False, print), PeriodicLines)


def test_lines_come_now_and_then_and_notes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = make_crawl(discovered=3, outcomes={"2xx": 1})
    said: list[str] = []
    with PeriodicLines(said.append) as lines:
        lines.show(crawl)
        lines.note("a note")
        assert said == ["a note"]
        monkeypatch.setattr(display_module, "LINE_INTERVAL_S", 0.0)
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


def test_lines_tell_at_once_why_no_page_closes_and_then_with_each_line(monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = make_crawl(discovered=3, outcomes={"2xx": 1})
    said: list[str] = []
    with PeriodicLines(said.append) as lines:
        for why in ("It waits (4 s).", "It waits (3 s)."):
            lines.show_reason(why)
            lines.show(crawl)
        monkeypatch.setattr(display_module, "LINE_INTERVAL_S", 0.0)
        lines.show(crawl)
        lines.show_reason("")
        lines.show(crawl)
    told = [line.partition(": ")[2] for line in said]
    assert told == ["1 of 3 pages. It waits (4 s).", "1 of 3 pages. It waits (3 s).", "1 of 3 pages"]


def test_a_bar_has_the_reason_on_lines_of_its_own_while_there_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    bar = Bar()
    bar.show_reason("example.com answered 429 [and] asked\x1b[2J to wait.")
    bar.show(make_crawl(discovered=3, outcomes={"2xx": 1}))
    first, second = capsys.readouterr().err.split("\n")
    assert "1 of 3 pages" in first
    assert second.startswith("example.com answered 429 [and] asked\\u001b[2J to wait.")
    assert bar.live.lines(None, "1 of 3 pages", "", 80)[1:] == []


def test_a_bar_fills_the_line_of_the_terminal_and_no_more() -> None:
    line = bar_line("|", "=", 0.5, "5 of 10 pages", 37)
    assert line == f"| {'=' * 10}{DIM}{'=' * 11}{PLAIN} 5 of 10 pages"[: len(line)]
    assert len(line.replace(DIM, "").replace(PLAIN, "")) == 37
    assert bar_line("|", "=", None, "5 of 10 pages", 20) == "| 5 of 10 pages"


def test_a_reason_that_is_longer_than_a_line_is_wrapped_and_erased_as_a_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_bar, "DRAW_INTERVAL_S", 0.0)
    with LiveLines(sys.stderr) as live:
        live.draw(None, "1 of 3 pages", "waits " * 30)
        drawn = capsys.readouterr().err
        live.draw(None, "2 of 3 pages")
        again = capsys.readouterr().err
    rows = drawn.count("\n")
    assert rows == 3
    assert again.startswith(f"\x1b[{rows}A\r\x1b[J")
    assert capsys.readouterr().err == "\r\x1b[J"


def test_a_bar_is_drawn_ten_times_a_second_at_most(capsys: pytest.CaptureFixture[str]) -> None:
    live = LiveLines(sys.stderr)
    for number in range(100):
        live.draw(None, f"{number} of 100 pages")
    assert "0 of 100 pages" in capsys.readouterr().err
    live.print("a note")
    live.draw(None, "100 of 100 pages")
    assert capsys.readouterr().err.startswith("\r\x1b[Ja note\n\r\x1b[J")


def test_a_terminal_that_knows_no_letters_but_ascii_gets_those() -> None:
    out = TextIOWrapper(BytesIO(), encoding="ascii", errors="backslashreplace")
    LiveLines(out).draw(0.5, "5 of 10 pages")
    out.seek(0)
    assert "====" in out.read()
    assert "\\u" not in out.read()


def test_a_terminal_that_cannot_move_its_cursor_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(display_for(True, print), PeriodicLines)
