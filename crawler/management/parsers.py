"""The parsers of all commands, made of arguments.json with the standard library alone: for help, which waits for no
import of Django, for what `bin/crawl` does before anything is installed, for completion, the man page and config files.

arguments.json has what the commands themselves say; it is written by `python -m tests.argument_table`.
"""

from __future__ import annotations

import json
import re
import sys
from argparse import SUPPRESS, Action, ArgumentParser, BooleanOptionalAction, RawDescriptionHelpFormatter
from argparse import _ActionsContainer as ActionsContainer
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NoReturn

from crawler import version
from crawler.command_names import as_typed
from crawler.management import numbers

TABLE = Path(__file__).with_name("arguments.json")
BAD_USAGE = 2

Spell = Callable[[str], str]
"""Gives a text the commands that it names as they are typed."""


@cache
def table() -> dict[str, Any]:
    """`commands`: what each has; `hidden`: what Django adds; `settled`: the arguments that a crawl keeps; `secret`: the
    flags of credentials; `endings`: those of exports."""
    content: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return content


def parser_of(command: str, prog: str) -> ArgumentParser:
    """The parser of one command. Its options are checked as the command does, if they are those of `crawl`."""
    entry = table()["commands"][command]
    parser = new_parser(prog, entry["description"], entry["epilog"], entry.get("usage"))
    if command == "crawl":
        parser.add_argument("--version", action=_Version, help="print the version")
        for hidden in table()["hidden"]:
            parser.add_argument(*hidden["flags"], action=hidden["action"], help=SUPPRESS)
    add_arguments(parser, entry, as_typed)
    return parser


def new_parser(prog: str, description: str, epilog: str = "", usage: str | None = None) -> ArgumentParser:
    """One whose help has the form of all our commands, and whose errors are one line."""
    parser = ArgumentParser(
        prog=as_typed(prog),
        usage=usage and as_typed(usage),
        description=as_typed(description),
        epilog=as_typed(epilog),
        formatter_class=partial(RawDescriptionHelpFormatter, max_help_position=29),
        allow_abbrev=False,
    )
    use_one_line_errors(parser)
    return parser


def add_arguments(parser: ArgumentParser, entry: Mapping[str, Any], spell: Spell) -> None:
    """Give a parser the arguments of an entry of the table."""
    for group in entry["groups"]:
        place: ActionsContainer = parser.add_argument_group(group["title"]) if group["title"] else parser
        alternatives: ActionsContainer | None = None
        for argument in group["arguments"]:
            given = dict(argument)
            is_alternative, is_required = given.pop("alternative", False), given.pop("one_required", False)
            if is_alternative and alternatives is None:
                alternatives = place.add_mutually_exclusive_group(required=is_required)
            _add(alternatives if is_alternative and alternatives else place, given, spell)
    if nested := entry.get("commands"):
        places = parser.add_subparsers(metavar="ACTION", required=True)
        for name, below in nested.items():
            one = places.add_parser(name, help=spell(below["help"]), description=spell(below["description"]))
            add_arguments(one, below, spell)


def _add(place: ActionsContainer, given: dict[str, Any], spell: Spell) -> None:
    flags, type_name, default = given.pop("flags"), given.pop("type", None), given.pop("default", None)
    if type_name is not None:
        given["type"] = getattr(numbers, type_name)
    if given.get("action") == "boolean":
        given["action"] = BooleanOptionalAction
    given["help"] = spell(given["help"])
    place.add_argument(*flags, **given).default = default  # BooleanOptionalAction would add it to the help


class _Version(Action):
    """Asks for the version, and Git for the commit, only when it is to be printed."""

    def __init__(self, option_strings: Sequence[str], dest: str, **more: Any) -> None:
        super().__init__(option_strings, SUPPRESS, nargs=0, default=SUPPRESS, **more)

    def __call__(self, parser: ArgumentParser, *_: Any) -> NoReturn:
        sys.stdout.write(f"{version.described()}\n")
        raise SystemExit(0)


def summary(description: str) -> str:
    """The line of a command in a list of commands: its first sentence, up to a colon."""
    return re.split(r"[.:](?:\s|$)", description, maxsplit=1)[0]


def use_one_line_errors(parser: ArgumentParser) -> None:
    """Print argument errors in one line, without the usage before it; it names the option that was probably meant."""

    def one_line(message: str) -> NoReturn:
        line = _suggestion(parser, message) or f"{message[:1].upper()}{message[1:]}"
        sys.stderr.write(f"{line} (see {parser.prog.strip()} --help)\n")
        raise SystemExit(BAD_USAGE)

    parser.error = one_line  # type: ignore[method-assign]  # Django creates some of the parsers


def _suggestion(parser: ArgumentParser, message: str) -> str:
    """For an option that there is not: the one that was probably meant."""
    found = re.match(r"unrecognized arguments: .*?(?<!\S)(--[^\s=]+)", message)
    if found is None:
        return ""
    known = [flag for flag in parser._option_string_actions if flag.startswith("--")]
    return f"There is no option {found[1]}{did_you_mean(found[1], known)}"


def did_you_mean(typed: str, known: Sequence[str]) -> str:
    """ ". Did you mean ...?" if one of the known names is near, else ""."""
    from difflib import get_close_matches  # seldom needed, and slow to import

    near = get_close_matches(typed, known, n=1, cutoff=0.7)
    return f". Did you mean {near[0]}?" if near else ""
