"""The option of the fields that are read from each page."""

from __future__ import annotations

from crawler.core.composed import Part
from crawler.core.extraction.rules import FieldRule, check_rules
from crawler.core.options.kinds import OptionSet, by_hand


class ExtractionOptions(Part):
    """What is read from each page."""

    follows = "near_duplicates"

    fields: tuple[FieldRule, ...] = by_hand(
        (),
        "Extraction rules, read from each page: objects with `name` and `selector` (CSS) or `xpath`, and if wanted "
        "`what`, `attribute`, `many`, `pattern` and `type`.",
        check_rules,
        in_fetch=True,
    )


OPTIONS = (OptionSet(ExtractionOptions),)
