"""The arguments of `crawl`, and its help."""

import re
from argparse import ArgumentParser
from pathlib import Path

import pytest

from crawler.management.commands.crawl import Command
from crawler.management.crawl_options import add_arguments, usual

OPTIONS = (Path(__file__).resolve().parents[2] / "docs" / "options.md").read_text()


def names() -> list[str]:
    """Every option as it is typed, in its first form."""
    parser = ArgumentParser(add_help=False)
    add_arguments(parser)
    return [action.option_strings[0] for action in parser._actions if action.option_strings]


@pytest.fixture
def text(monkeypatch: pytest.MonkeyPatch) -> str:
    """The help on a terminal of the usual width."""
    monkeypatch.setenv("COLUMNS", "80")
    return Command().create_parser("manage.py", "crawl").format_help()


def test_each_option_has_one_line_of_help(text: str) -> None:
    for name in names():
        (line,) = (line for line in text.splitlines() if re.match(rf"  {name}[ ,]", line))
        assert re.search(r"\S {2,}\S", line), f"{name} has no help on its line"
    columns = {len(line) - len(line.lstrip()) for line in text.splitlines() if line.startswith(" " * 20)}
    assert columns == set(), "some help goes on in a second line"


def test_the_help_shows_examples_and_nothing_of_djangos(text: str) -> None:
    assert "\n  bin/crawl https://example.com/\n" in text
    assert "--pythonpath" not in text


def test_every_option_is_in_the_table_of_options() -> None:
    assert [name for name in names() if not re.search(rf"`{name}[` ]", OPTIONS)] == []


def test_what_is_settled_at_the_start_is_known_with_its_default() -> None:
    settled = usual()
    assert (settled["urls"], settled["max_pages"], settled["throttle"], settled["host"]) == ([], None, True, [])
    assert not {"resume", "timeout", "export", "json", "workers", "detach"} & set(settled)
