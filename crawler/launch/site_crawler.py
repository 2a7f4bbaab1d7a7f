"""`site-crawler`: the commands of this project where pip has installed it. Help needs no import of Django."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from crawler import version
from crawler.command_names import OF_DJANGO, OF_OPERATORS, PROGRAM
from crawler.launch.manage import COMMANDS, commands

LAUNCHED = {
    "crawl": "crawls a site from its start URL to the receipt, with whatever that needs",
    "up": "starts Redis, the web pages, workers, the clock and RQ's dashboard, until Ctrl-C",
    "worker": "fetches pages and manages crawls, until it is stopped",
}
OTHER_NAMES = {"list": "status", "show": "status", "diff": "compare"}
HIDDEN = {"rqworker"}  # of django-rq
BAD_USAGE = 2


def main() -> int:
    name, *arguments = sys.argv[1:] or ["--help"]
    if name in LAUNCHED:
        code: int = import_module(f"crawler.launch.{name}").main(arguments)
        return code
    if name == "admin":
        return _administer(arguments)
    if name in {"-h", "--help", "help"}:
        print(_help(f"{PROGRAM} COMMAND ...", {**LAUNCHED, **_described(of_operators=False), "admin": ADMIN}))
        return 0
    if name == "--version":
        print(version.described())
        return 0
    command = OTHER_NAMES.get(name, name)
    if command.replace("-", "_") in commands() and command not in OF_OPERATORS:
        _manage([command, *arguments])
    return _unknown(name, [*LAUNCHED, *OTHER_NAMES, *_described(of_operators=False), "admin"])


ADMIN = f"commands for operators: {PROGRAM} admin --help"


def _administer(arguments: Sequence[str]) -> int:
    """Any command of Django's too: `migrate`, `createsuperuser`."""
    if not arguments or arguments[0] in {"-h", "--help"}:
        print(_help(f"{PROGRAM} admin COMMAND ...", {**_described(of_operators=True), **OF_DJANGO}))
        return 0
    _manage(arguments)
    return 0


def _manage(arguments: Sequence[str]) -> None:
    """Raises SystemExit."""
    from crawler.launch import manage

    manage.main([PROGRAM, *arguments])
    raise SystemExit(0)


def _described(*, of_operators: bool) -> dict[str, str]:
    """What the first line of each command's file says after its name."""
    found = dict[str, str]()
    for name in commands():
        typed = name.replace("_", "-")
        if name not in HIDDEN and name not in LAUNCHED and (typed in OF_OPERATORS) == of_operators:
            with (COMMANDS / f"{name}.py").open(encoding="utf-8") as file:
                names = ", ".join([typed, *(other for other, command in OTHER_NAMES.items() if command == typed)])
                found[names] = file.readline().partition(": ")[2].strip().rstrip('".')
    return found


def _help(usage: str, described: dict[str, str]) -> str:
    width = max(map(len, described))
    lines = [f"  {name:<{width}}  {what}" for name, what in described.items()]
    return "\n".join([f"usage: {usage}", "", *lines, "", "Each of them has a --help of its own."])


def _unknown(name: str, known: Sequence[str]) -> int:
    from difflib import get_close_matches

    nearest = get_close_matches(name, known, n=1)
    meant = f" Did you mean {nearest[0]}?" if nearest else ""
    print(f"{PROGRAM} has no command {name!r}.{meant} (see {PROGRAM} --help)", file=sys.stderr)
    return BAD_USAGE


if __name__ == "__main__":
    sys.exit(main())
