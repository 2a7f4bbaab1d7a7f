"""`site-crawler`: the commands of this project where pip has installed it. Help needs no import of Django."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from crawler import version
from crawler.command_names import OF_DJANGO, OF_OPERATORS, PROGRAM, as_installed
from crawler.management.parsers import (
    BAD_USAGE,
    add_arguments,
    did_you_mean,
    new_parser,
    parser_of,
    summary,
    table,
)

LAUNCHED = ("crawl", "up", "worker", "completion", "man")
"""Those that are modules of this package. The others are Django's, in crawler/management/commands."""
OTHER_NAMES = {"list": "status", "show": "status", "diff": "compare"}
HIDDEN = {"rqworker"}  # of django-rq
ABOUT = "Crawl sites recursively, and account for every page"
ADMIN = "Commands for operators"


def main() -> int:
    name, *arguments = sys.argv[1:] or ["--help"]
    if name == "admin":
        return _administer(arguments)
    if name in {"-h", "--help", "help"}:
        print(_help(f"{PROGRAM} COMMAND ...", {**_described(_of_users()), "admin": ADMIN}))
        return 0
    if name == "--version":
        print(version.described())
        return 0
    command = OTHER_NAMES.get(name, name)
    if command not in _of_users():
        return _unknown(name)
    _print_help_if_asked(f"{PROGRAM} {name}", command, arguments)
    if command in LAUNCHED:
        code: int = import_module(f"crawler.launch.{command}").main(arguments)
        return code
    return _manage(PROGRAM, [command, *arguments])


def _administer(arguments: Sequence[str]) -> int:
    """The commands for operators, and any of Django's: `migrate`, `createsuperuser`."""
    program = f"{PROGRAM} admin"
    if not arguments or arguments[0] in {"-h", "--help"}:
        print(_help(f"{program} COMMAND ...", {**_described(_of_operators()), **OF_DJANGO}))
        return 0
    name, *further = arguments
    if name in _of_operators():
        _print_help_if_asked(f"{program} {name}", name, further)
    try:
        return _manage(program, arguments)
    except SystemExit as ended:
        from django.core.management import get_commands  # loaded by now

        if ended.code == 1 and name.replace("-", "_") not in get_commands():
            raise SystemExit(BAD_USAGE) from None  # Django has said so
        raise


def _manage(program: str, arguments: Sequence[str]) -> int:
    from crawler.launch import manage

    manage.main([program, *arguments])
    return 0


def _print_help_if_asked(prog: str, command: str, arguments: Sequence[str]) -> None:
    """Raises SystemExit if help is printed."""
    if not {"-h", "--help"}.isdisjoint(arguments):
        parser_of(command, prog).parse_known_args(arguments)


def parser() -> ArgumentParser:
    """All commands in one parser, for completion and the man page."""
    whole = new_parser(PROGRAM, ABOUT)
    whole.add_argument("--version", action="version", version="", help="print the version and the commit")
    places = whole.add_subparsers(metavar="COMMAND")
    for name in _of_users():
        _add(places, name, _other_names_of(name))
    below = places.add_parser("admin", help=ADMIN, description=ADMIN).add_subparsers(metavar="COMMAND")
    for name in _of_operators():
        _add(below, name)
    for name, about in OF_DJANGO.items():
        below.add_parser(name, help=about, description=about)
    return whole


def _add(places: _SubParsersAction[Any], name: str, other_names: Sequence[str] = ()) -> None:
    entry = table()["commands"][name]
    description, epilog = as_installed(entry["description"]), as_installed(entry["epilog"])
    one = places.add_parser(
        name, aliases=other_names, help=summary(description), description=description, epilog=epilog
    )
    add_arguments(one, entry, as_installed)


def _other_names_of(name: str) -> list[str]:
    return [other for other, command in OTHER_NAMES.items() if command == name]


def _of_users() -> list[str]:
    """The commands at the top, those that start something first."""
    return sorted(table()["commands"].keys() - OF_OPERATORS, key=lambda name: (name not in LAUNCHED[:3], name))


def _of_operators() -> list[str]:
    return sorted(table()["commands"].keys() & OF_OPERATORS)


def _described(names: Sequence[str]) -> dict[str, str]:
    """The lines of a list of commands."""
    return {
        ", ".join([name, *_other_names_of(name)]): as_installed(summary(table()["commands"][name]["description"]))
        for name in names
    }


def _help(usage: str, described: Mapping[str, str]) -> str:
    width = max(map(len, described))
    lines = [f"  {name:<{width}}  {what}" for name, what in described.items()]
    return "\n".join([f"usage: {usage}", "", *lines, "", "Each command has its own --help."])


def _unknown(name: str) -> int:
    if name in _of_operators():
        meant = f". Did you mean admin {name}?"
    else:
        meant = did_you_mean(name, [*_of_users(), *OTHER_NAMES, "admin"]) or "."
    print(f"{PROGRAM} has no command {name!r}{meant} (see {PROGRAM} --help)", file=sys.stderr)
    return BAD_USAGE


if __name__ == "__main__":
    sys.exit(main())
