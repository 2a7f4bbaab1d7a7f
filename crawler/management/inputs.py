"""Credentials and extraction rules from the command line.

Credentials can be given in full, or better as @FILE or env:NAME, since all users of the machine can see command
lines."""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser, _ActionsContainer
from pathlib import Path
from typing import Any

from crawler.core.access.credential_kinds import CredentialKind, Typed
from crawler.core.access.credentials import CHANGEABLE, KINDS, Credentials, parse
from crawler.core.errors import BadInput
from crawler.core.extraction.rules import FieldRule, rules_of
from crawler.exports.file import reason

_VARIABLE = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")


def add_secrets(parser: ArgumentParser) -> None:
    group = parser.add_argument_group(
        "credentials, sent only to the site's own hosts (each may be @FILE or env:NAME, hidden from ps)"
    )
    for kind in sorted(KINDS.values(), key=lambda kind: not kind.is_for_own_hosts):
        _add(group, kind)


def add_changeable_secrets(parser: ArgumentParser) -> None:
    for name in CHANGEABLE:
        _add(parser, KINDS[name])


def _add(group: _ActionsContainer, kind: CredentialKind) -> None:
    if kind.typed is Typed.HIDDEN:
        group.add_argument(kind.flag, default="", metavar=kind.metavar, help=kind.command_help)
    else:
        group.add_argument(kind.flag, action="append", default=[], metavar=kind.metavar, help=kind.command_help)


def changeable_arguments() -> set[str]:
    """The arguments of those, as argparse names them."""
    return {_argument(KINDS[name]) for name in CHANGEABLE}


def _argument(kind: CredentialKind) -> str:
    return kind.flag.removeprefix("--").replace("-", "_")


def credentials_of(typed: dict[str, Any]) -> Credentials:
    """The credentials from the options. BadInput does not repeat their values."""
    return parse(**{name: _texts(kind, typed) for name, kind in KINDS.items()})


def changed_secrets(typed: dict[str, Any]) -> dict[str, list[str]]:
    """Those that change a crawl that was started already."""
    return {name: _texts(KINDS[name], typed) for name in CHANGEABLE if typed[_argument(KINDS[name])]}


def _texts(kind: CredentialKind, typed: dict[str, Any]) -> list[str]:
    flag, given = kind.flag.removeprefix("--"), typed[_argument(kind)]
    if kind.typed is Typed.HIDDEN:
        return [_resolve(flag, given)]
    read = _value_apart if kind.has_value_apart else _lines
    return [line for text in given for line in read(flag, text)]


def _lines(name: str, typed: str) -> list[str]:
    """A value given in full is one line; a file or variable may hold several."""
    value = _resolve(name, typed)
    return [value] if value is typed else value.splitlines()


def _value_apart(name: str, typed: str) -> list[str]:
    """NAME=VALUE, where the value alone may be in a file or a variable; or all lines of a file or variable."""
    of, equals, value = typed.partition("=")
    if typed.startswith("@") or not equals:
        return _lines(name, typed)
    return [f"{of}={_resolve(name, value)}"]


def _resolve(name: str, typed: str) -> str:
    """The value itself, the contents of the file after "@", or of the variable after "env:"."""
    if typed.startswith("@"):
        return _read(name, typed, "utf-8").rstrip("\r\n")
    variable = _VARIABLE.fullmatch(typed)
    if variable is None:
        return typed
    value = os.environ.get(variable[1])
    if value is None:
        raise BadInput(name, f"--{name} {typed}: the environment variable {variable[1]} is not set.")
    return value


def _read(name: str, typed: str, encoding: str) -> str:
    """The text of a file, which may be typed with an "@" before it."""
    try:
        return Path(typed.removeprefix("@")).expanduser().read_text(encoding)
    except UnicodeDecodeError:
        raise BadInput(name, f"--{name} {typed}: the file is not text in UTF-8.") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise BadInput(name, f"--{name} {typed}: the file cannot be read: {reason(error)}.") from None


def rules_in(file: str | None) -> tuple[FieldRule, ...]:
    """The extraction rules in this YAML or JSON file; none without a file. BadInput if it is unreadable or has no
    rules."""
    if not file:
        return ()
    rules = rules_of("fields", _read("fields", file, "utf-8-sig"))
    if not rules:
        raise BadInput("fields", f"--fields {file}: the file has no rules.")
    return rules
