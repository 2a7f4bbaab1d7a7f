from io import StringIO

import pytest
from rich.console import Console

from crawler.management import display as display_module
from crawler.management.display import PeriodicLines, display_for
from crawler.management.progress_bar import Bar
from tests.factories import make_crawl

pytestmark = pytest.mark.django_db


def test_a_terminal_gets_a_bar_and_anything_else_gets_lines() -> None:
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


def rendered(bar: Bar) -> str:
    """As a terminal shows it."""
    console = Console(file=StringIO(), width=80)
    with console.capture() as captured:
        for part in bar.progress.get_renderables():
            console.print(part)
    return captured.get()


def test_a_bar_has_the_reason_on_a_line_of_its_own_while_there_is_one() -> None:
    bar = Bar()
    bar.show(make_crawl(discovered=3, outcomes={"2xx": 1}))
    bar.show_reason("example.com answered 429 [and] asked\x1b[2J to wait.")
    first, second = rendered(bar).splitlines()
    assert "1 of 3 pages" in first
    assert second == "example.com answered 429 [and] asked\\u001b[2J to wait."
    bar.show_reason("")
    assert rendered(bar).count("\n") == 1
