"""Names of controls within messages: each surface shows its own, so that a user finds what a message speaks of.

The names stand in the message between markers, of which `spoken` leaves one.
"""

from __future__ import annotations

import re
from enum import Enum

_BEGIN, _BETWEEN, _END = "\ue000", "\ue001", "\ue002"  # of the private use area, which no user types
_MARKER = re.compile(f"{_BEGIN}([^{_END}]*){_END}")


class Surface(Enum):
    """Where a message is shown."""

    COMMAND = 0
    PAGE = 1
    API = 2


def by_surface(*, command: str, page: str, api: str) -> str:
    """Text within a message that differs between the surfaces."""
    return f"{_BEGIN}{command}{_BETWEEN}{page}{_BETWEEN}{api}{_END}"


def spoken(message: str, surface: Surface) -> str:
    """The message as this surface shows it."""
    return _MARKER.sub(lambda match: match[1].split(_BETWEEN)[surface.value], message)
