"""Credentials and extraction rules from the command line.

Credentials can be given in full, or better as @FILE or env:NAME, since all users of the machine can see command
lines."""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser, _ActionsContainer
from pathlib import Path
from typing import Any

from crawler.core.access.credentials import Credentials, parse
from crawler.core.errors import BadInput
from crawler.core.extraction.rules import FieldRule, rules_of
from crawler.exports.file import reason

_VARIABLE = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")


def add_secrets(parser: ArgumentParser) -> None:
    group = parser.add_argument_group(
        "credentials, sent only to the site's own hosts (each may be @FILE or env:NAME, hidden from ps)"
    )
    for name, metavar, text in (
        ("--header", "TEXT", "a header: 'Name: value' *"),
        ("--cookie", "TEXT", "name=value *"),
    ):
        group.add_argument(name, action="append", default=[], metavar=metavar, help=text)
    group.add_argument("--auth", default="", metavar="USER:PW", help="user and password (basic authentication)")
    group.add_argument("--bearer", default="", metavar="TOKEN", help="a bearer token")
    add_login_field(group)
    group.add_argument(
        "--proxy", action="append", default=[], metavar="URL", help="go through http://user:password@host:port *"
    )


def add_login_field(group: _ActionsContainer) -> None:
    group.add_argument(
        "--login-field",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a field of the log-in form *",
    )


def credentials_of(typed: dict[str, Any]) -> Credentials:
    """The credentials from the options. BadInput does not repeat their values."""
    return parse(
        headers=[line for text in typed["header"] for line in _lines("header", text)],
        cookies=[line for text in typed["cookie"] for line in _lines("cookie", text)],
        auth=_resolve("auth", typed["auth"]),
        bearer=_resolve("bearer", typed["bearer"]),
        proxy="\n".join(_resolve("proxy", text) for text in typed["proxy"]),
        login_fields=login_fields_of(typed),
    )


def login_fields_of(typed: dict[str, Any]) -> list[str]:
    """The fields of the log-in form, "name=value" each."""
    return [line for text in typed["login_field"] for line in _login_lines(text)]


def _lines(name: str, typed: str) -> list[str]:
    """A value given in full is one line; a file or variable may hold several."""
    value = _resolve(name, typed)
    return [value] if value is typed else value.splitlines()


def _login_lines(typed: str) -> list[str]:
    """NAME=VALUE, where the value alone may be in a file or a variable; or all lines of a file or variable."""
    name, equals, value = typed.partition("=")
    if typed.startswith("@") or not equals:
        return _lines("login-field", typed)
    return [f"{name}={_resolve('login-field', value)}"]


def _resolve(name: str, typed: str) -> str:
    """The value itself, the contents of the file after "@", or of the variable after "env:"."""
    if typed.startswith("@"):
        return _in_file(name, typed[1:])
    variable = _VARIABLE.fullmatch(typed)
    if variable is None:
        return typed
    value = os.environ.get(variable[1])
    if value is None:
        raise BadInput(name, f"--{name} {typed}: the environment variable {variable[1]} is not set.")
    return value


def _in_file(name: str, file: str) -> str:
    try:
        return Path(file).expanduser().read_text(encoding="utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise BadInput(name, f"--{name} @{file}: the file is not text in UTF-8.") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        what = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise BadInput(name, f"--{name} @{file}: the file cannot be read: {what}.") from None


def rules_in(file: str | None) -> tuple[FieldRule, ...]:
    """The extraction rules in this YAML or JSON file; none without a file. BadInput if it is unreadable or has no
    rules."""
    if not file:
        return ()
    try:
        text = Path(file).expanduser().read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput("fields", f"--fields {file}: the file is not text in UTF-8.") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise BadInput("fields", f"--fields {file}: the file cannot be read: {reason(error)}.") from None
    rules = rules_of("fields", text)
    if not rules:
        raise BadInput("fields", f"--fields {file}: the file has no rules.")
    return rules
