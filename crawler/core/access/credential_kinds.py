"""What describes a kind of credential. The kinds are in `core.access.credentials`; capabilities give further ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import Any

import msgspec

from crawler.core.composed import Part

Pair = tuple[str, str]

MAX_CHARACTERS = 16_000  # of all values together; servers take 8,000 to 16,000 bytes of headers
SHOWN_FROM = 12  # characters a value must have for its first two to be shown
CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class Typed(Enum):
    """How a user types it."""

    LINES = "lines"  # several, one per line
    HIDDEN = "hidden"  # one, hidden meanwhile
    ADDRESSES = "addresses"  # web addresses, with blanks between


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """That the owner of a crawl may give it again while the crawl runs: all its values, in place of all it has."""

    before: str  # the option it stands before on the form
    help: str  # on the form
    description: str  # in the API
    on_resuming: str  # what the command that resumes a crawl does with it


class CredentialKind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of credential, as all surfaces show it."""

    name: str  # of its field on the form and in the API
    flag: str  # of the command
    metavar: str
    command_help: str
    label: str  # on the form
    help: str  # on the form
    description: str  # in the API
    placeholder: str = ""
    typed: Typed = Typed.LINES
    has_value_apart: bool = False  # typed as NAME=VALUE: the value alone may be in a file or a variable
    read: Callable[[Iterable[str]], dict[str, Any]]
    """The fields of `Credentials` that these texts give. BadInput for the field `name`, without repeating a value."""
    masked: Callable[[Any], Iterator[str]]
    """A line for each value in the credentials, from which the user recognises it."""
    part: type[Part] | None = None  # the fields, if a capability gives them
    is_for_own_hosts: bool = True  # sent only to the crawl's own hosts
    change: Change | None = None  # None = a crawl keeps it from its start on


def mask(secret: str) -> str:
    """ "ab…(32 characters)"; of a short secret only its length."""
    size = f"…({len(secret)} character{'' if len(secret) == 1 else 's'})"
    return f"{secret[:2]}{size}" if len(secret) >= SHOWN_FROM else size
