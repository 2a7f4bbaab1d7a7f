"""What was read of a list so far: how many lines came to what, and the first ones that cannot be used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crawler.core.lists import Entry, Invalid

EXAMPLES = 1000  # invalid lines that are kept
SHOWN = 200  # characters that are kept of each


@dataclass(frozen=True)
class ListReport:
    """Blank lines, comments and the names of columns are not counted, so that lines = taken + duplicates + invalid."""

    taken: int = 0  # pages
    duplicates: int = 0  # lines that name a page an earlier line named
    invalid: int = 0
    examples: tuple[Invalid, ...] = ()

    @property
    def lines(self) -> int:
        return self.taken + self.duplicates + self.invalid

    def plus(self, items: Sequence[Entry | Invalid], taken: int) -> ListReport:
        """The report after these items, of which so many were taken."""
        invalid = [item for item in items if isinstance(item, Invalid)]
        return ListReport(
            taken=self.taken + taken,
            duplicates=self.duplicates + len(items) - len(invalid) - taken,
            invalid=self.invalid + len(invalid),
            examples=self.examples + tuple(invalid[: EXAMPLES - len(self.examples)]),
        )

    def to_counts(self) -> dict[str, int]:
        return {"lines": self.lines, "taken": self.taken, "invalid": self.invalid, "duplicates": self.duplicates}

    def to_plain(self) -> dict[str, Any]:
        """As JSON values, as the crawl's row keeps them."""
        examples = [
            {"line": item.line, "text": storable(item.text)[:SHOWN], "why": storable(item.why)}
            for item in self.examples
        ]
        return {**self.to_counts(), "examples": examples}


def storable(text: str) -> str:
    """On one line, and without NUL, for which PostgreSQL has no place."""
    return " ".join(text.replace("\0", "\ufffd").splitlines())
