"""Whether the arguments of `bin/crawl` can be used, its help and its version: with the standard library alone, because
they are needed before anything is installed, and faster than Django is imported."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from crawler.command_names import as_typed
from crawler.core.errors import BadInput
from crawler.core.urls.typed import with_scheme
from crawler.exports.file import check_writable, format_by_name
from crawler.home import home_of
from crawler.management import parsers
from crawler.management.configuration import Configured, configure

GOES_ON = 75  # the exit code of this program if the arguments can be used: neither 0 (help, version) nor an error's


def parse(arguments: Sequence[str]) -> Namespace:
    """The arguments of `bin/crawl`. Exits with 0 after --help or --version, with 2 if they cannot be used."""
    table = parsers.table()
    parser = parsers.parser_of("crawl", "bin/crawl")
    typed = parser.parse_args(configured(arguments).arguments)
    usual = {action.dest: action.default for action in parser._actions if action.dest in table["settled"]}
    try:
        check(vars(typed), usual, table["endings"])
    except BadInput as error:
        raise _ended(error) from None
    return typed


def configured(arguments: Sequence[str]) -> Configured:
    """The arguments with those of config files and the environment. Exits after --show-config, or with 2 if they cannot
    be used."""
    try:
        found = configure(arguments)
    except BadInput as error:
        raise _ended(error) from None
    if found.table is not None:
        sys.stdout.write(found.table)
        raise SystemExit(0)
    return found


def _ended(error: BadInput) -> SystemExit:
    sys.stderr.write(as_typed(f"{error}\n"))
    return SystemExit(parsers.BAD_USAGE)


# What is wrong with arguments that argparse accepts.


def check(typed: Mapping[str, Any], usual: Mapping[str, Any], endings: Mapping[str, str]) -> None:
    """BadInput for errors that are visible before anything is started. `usual`: the arguments that a crawl keeps, with
    the values they have if they are not typed; `endings`: those of files, with their formats."""
    if typed["resume"]:
        _check_nothing_settled(typed, usual)
    elif not (typed["urls"] or typed["list"]):
        raise BadInput("start_urls", "Enter at least one start URL, such as: bin/crawl https://example.com/")
    _check_list(typed)
    if typed["detach"]:
        _check_nothing_awaited(typed)
    for url in typed["urls"]:
        _check_url(url, is_private_allowed=typed["allow_private"])
    target = typed["export"]
    if target is None:
        return
    if target == "-" and typed["json"]:
        raise BadInput("export", "--json and --export - both write to stdout; give --export a file name.")
    format_by_name(target, endings)
    if target != "-":
        check_writable(target)


def _check_list(typed: Mapping[str, Any]) -> None:
    if typed["list"] and typed["urls"]:
        raise BadInput("list", "Give URLs or a list, not both.")
    for name in ("list_column", "priority_column", "invalid"):
        if typed[name] and not typed["list"]:
            raise BadInput(name, f"--{name.replace('_', '-')} needs a list; add --list FILE.")
    if typed["invalid"]:
        check_writable(typed["invalid"])


def _check_nothing_settled(typed: Mapping[str, Any], usual: Mapping[str, Any]) -> None:
    names = [_typed_as(name, typed[name]) for name in usual if typed[name] != usual[name]]
    if names:
        raise BadInput("resume", f"A resumed crawl keeps its original options; leave out {', '.join(names)}.")


def _check_nothing_awaited(typed: Mapping[str, Any]) -> None:
    names = [f"--{name}" for name in ("export", "timeout", "workers") if typed[name] is not None]
    if names:
        raise BadInput("detach", f"--detach does not wait for the crawl; leave out {', '.join(names)}.")


def _typed_as(name: str, value: object) -> str:
    """How an argument was typed, for a message."""
    if name == "urls":
        return "the URL"
    return f"--{'no-' if value is False else ''}{name.replace('_', '-')}"


def _check_url(typed: str, *, is_private_allowed: bool) -> None:
    """Raises BadInput for text that is clearly no start URL; normalisation and guard check the rest."""
    url = with_scheme(typed)
    if is_private_allowed or "CRAWLER_PRIVATE_HOSTS" in os.environ or Path(home_of(_ROOT), ".env").exists():
        return
    try:
        host = (urlsplit(url).hostname or "").removesuffix(".")
        is_here = host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:
        return
    if is_here:
        raise BadInput("start_urls", f"{typed} is refused: {host} is this machine. {ALLOW_PRIVATE}")


_ROOT = Path(__file__).resolve().parents[2]
ALLOW_PRIVATE = "To crawl it, add --allow-private."


if __name__ == "__main__":
    parse(sys.argv[1:])
    sys.exit(GOES_ON)
