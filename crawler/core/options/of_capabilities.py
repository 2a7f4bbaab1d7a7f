"""Options of capabilities, and their values, that kernel code still reads by name. None is to be added."""

from __future__ import annotations

from crawler.core.composed import Part
from crawler.core.extraction.rules import FieldRule


class CapabilityOptions(Part):
    """The capabilities give these fields; where one is missing, its options have these values."""

    are_given = True

    traps: bool = False
    revisit: bool = False
    response_ttl: float | None = None
    fields: tuple[FieldRule, ...] = ()
    keep: tuple[str, ...] = ()
    screenshot: str = ""
    screenshot_format: str = ""
