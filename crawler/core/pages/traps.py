"""Why pages are kept out of a crawl as an endless series. `crawler.capabilities.traps` has the rules."""

from __future__ import annotations

from enum import StrEnum
from hashlib import blake2b


class TrapReason(StrEnum):
    """The value is stored in the table."""

    SILENT = "silent"  # a branch that says nothing new, and goes on growing
    PARAMETER = "same_text_parameter"  # the same for a parameter with a new value in every link
    SEGMENT = "same_text_segment"  # the same for a part of the path
    LONGER = "longer"  # URLs grow from page to page
    SERIES = "series"  # a chain of next pages

    # Of crawls by earlier versions.
    REPEATED = "repeated"
    SESSION = "session"
    DATES = "dates"
    FILTERS = "filters"


def key_of_trap(reason: TrapReason, pattern: str) -> bytes:
    """16 bytes that identify a trap within its crawl."""
    return blake2b(f"{reason} {pattern}".encode(), digest_size=16).digest()
