"""The option of the fields that are read from each page."""

from __future__ import annotations

from typing import cast

from crawler.core.composed import Part
from crawler.core.extraction.rules import FieldRule, check_rules
from crawler.core.options.kinds import OptionGroup, OptionSet, Rules

EXTRACTION = OptionGroup(
    *("Extraction", "fields by CSS selectors or XPath", "extracted fields and kept content", 140), ("rules", "try_url")
)


class ExtractionOptions(Part):
    """What is read from each page."""

    follows = "near_duplicates"

    fields: tuple[FieldRule, ...] = cast(
        tuple[FieldRule, ...],
        Rules(
            (),
            "Extraction rules, read from each page: objects with `name` and `selector` (CSS) or `xpath`, and if wanted "
            "`what`, `attribute`, `many`, `pattern` and `type`.",
            check_rules,
            EXTRACTION,
            in_fetch=True,
        ),
    )


OPTIONS = (OptionSet(ExtractionOptions),)
