"""The mark that says where the next page of a long list begins: opaque to whoever is given it, checked when it comes
back."""

from __future__ import annotations

import base64
import binascii
import re

from crawler.core.errors import BadInput

LARGEST = 2**63 - 1  # what the keys of the tables can be
MOST = 2**64 - 1  # half of a UUID
_UNUSABLE = "This cursor cannot be used. Take it from `next` of the page before, or leave it out to begin anew."
_DIGITS = re.compile(r"[0-9]{1,20}")


def cursor_of(*numbers: int) -> str:
    """The cursor that stands for these numbers, none of them negative."""
    plain = ".".join(map(str, numbers)).encode()
    return base64.urlsafe_b64encode(plain).decode().rstrip("=")


def numbers_of(cursor: str, count: int) -> tuple[int, ...]:
    """The numbers a cursor stands for; BadInput ("cursor") when it does not stand for so many."""
    try:
        plain = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode("ascii")
    except (binascii.Error, UnicodeError, ValueError):
        raise BadInput("cursor", _UNUSABLE) from None
    parts = plain.split(".")
    if len(parts) != count or not all(_DIGITS.fullmatch(part) and int(part) <= MOST for part in parts):
        raise BadInput("cursor", _UNUSABLE)
    return tuple(map(int, parts))
