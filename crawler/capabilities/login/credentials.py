"""The values that are filled into the form: one of the credentials of a crawl."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from crawler.core.access.credential_kinds import CONTROL, MAX_CHARACTERS, Change, CredentialKind, Pair, mask
from crawler.core.composed import Part
from crawler.core.errors import BadInput

NAME = "login_fields"
MAX_LOGIN_FIELDS = 20


class LoginCredentials(Part):
    """What a crawl that logs in holds."""

    login_fields: tuple[Pair, ...] = ()  # name and value


def _read(lines: Iterable[str]) -> dict[str, Any]:
    typed = list[Pair]()
    for line in filter(str.strip, lines):
        name, equals, value = line.partition("=")
        if not equals or not name.strip():
            raise BadInput(NAME, "Enter each field of the log-in form as name=value, such as user=ann.")
        if CONTROL.search(line):
            raise BadInput(NAME, "Fields of the log-in form cannot contain line breaks or control characters.")
        typed.append((name.strip(), value))
    if len(typed) > MAX_LOGIN_FIELDS or sum(len(name) + len(value) for name, value in typed) > MAX_CHARACTERS:
        raise BadInput(
            NAME, f"A log-in can have {MAX_LOGIN_FIELDS} fields with {MAX_CHARACTERS:,} characters in total."
        )
    return {NAME: tuple(typed)}


def _masked(known: Any) -> Iterator[str]:
    return (f"Log-in: {name}={mask(value)}" for name, value in LoginCredentials.of(known).login_fields)


CREDENTIALS = (
    CredentialKind(
        name=NAME,
        flag="--login-field",
        metavar="NAME=VALUE",
        command_help="field of the log-in form *",
        label="Fields of the log-in form",
        help="One per line: the name of the field, = and the value. Hidden fields of the form are sent along.",
        description="The fields of the form at `login_url` and their values: `user=ann`. Kept encrypted.",
        placeholder="user=ann",
        has_value_apart=True,
        read=_read,
        masked=_masked,
        part=LoginCredentials,
        change=Change(
            before="login_check",
            help="One per line: the name of the field, = and the value. They take the place of all it has; empty, "
            "those stay. They are never shown here.",
            description="The fields of the form at `login_url` and their values, all of them. Kept encrypted.",
            on_resuming="With other values for the log-in form, all of them",
        ),
    ),
)
