"""E-mail. `crawler.notices.send` hands the message to Django's mail backend."""

from __future__ import annotations

import re

from crawler.core.channels.kind import ChannelKind
from crawler.core.errors import BadInput

_ADDRESS = re.compile(r"[^@\s<>,;]+@[^@\s<>,;]+")


def check(field: str, address: str) -> None:
    if not _ADDRESS.fullmatch(address):
        raise BadInput(field, f"{address!r} is not an e-mail address.")


def mask(address: str) -> str:
    """The first letter and the host: "m…@example.com"."""
    name, _, host = address.rpartition("@")
    return f"{name[:1]}…@{host}"


KIND = ChannelKind(
    name="email",
    noun="e-mail",
    option="notify_emails",
    field_label="E-mail to",
    help="E-mail addresses that get the notices.",
    example="me@example.com",
    check=check,
    mask=mask,
    is_web=False,
)
