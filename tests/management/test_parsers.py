"""The parsers that are made of arguments.json are those of the commands, and each says what a user needs."""

import json
from argparse import ArgumentParser
from importlib import import_module

import pytest
from django.core.management import load_command_class

from crawler.launch import site_crawler
from crawler.management import parsers
from tests.argument_table import table

COMMANDS = sorted(json.loads(parsers.TABLE.read_text(encoding="utf-8"))["commands"])
LONGEST_SUMMARY = 85  # characters


def command_of(name: str, prog: str) -> ArgumentParser:
    """The parser that the command itself makes."""
    if name in site_crawler.LAUNCHED and name != "crawl":
        made: ArgumentParser = import_module(f"crawler.launch.{name}").parser()
        made.prog = f"{prog} {name}"
        return made
    return load_command_class("crawler", name.replace("-", "_")).create_parser(prog, name)


def test_the_table_is_current() -> None:
    assert parsers.TABLE.read_text(encoding="utf-8") == table(), "python -m tests.argument_table"


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "crawl"])
def test_help_is_that_of_the_command(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert parsers.parser_of(name, f"x {name}").format_help() == command_of(name, "x").format_help()


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_a_line_examples_and_exit_codes(name: str) -> None:
    entry = parsers.table()["commands"][name]
    line = parsers.summary(entry["description"])
    assert line[:1].isupper()
    assert len(line) <= LONGEST_SUMMARY
    assert "examples:\n  " in entry["epilog"]
    assert "exit codes:\n  " in entry["epilog"]


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "worker"])  # which passes them to RQ
def test_an_option_that_there_is_not_is_one_line_that_names_the_near_one(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = {"schedule": ["list"]}.get(name, ["x"] * 2)
    with pytest.raises(SystemExit) as ended:
        command_of(name, "x").parse_args([*arguments, "--hepl"])
    told = capsys.readouterr().err
    assert ended.value.code == parsers.BAD_USAGE
    assert told.count("\n") == 1
    assert f"x {name}" in told or name in site_crawler.LAUNCHED
