"""The option of endless series."""

from __future__ import annotations

from crawler.core.composed import Part
from crawler.core.options.kinds import OptionSet, Switch, option
from crawler.core.options.links import TRAPS


class TrapOptions(Part):
    """Whether they are set aside."""

    follows = "externals"

    traps: bool = option(
        Switch(True, has_both=True),
        TRAPS,
        "Detect endless series",
        "Quarantine endless series. Calendars and filters create such pages; you can release them later.",
    )


OPTIONS = (OptionSet(TrapOptions),)
