"""The table of outcomes in docs/exports.md. `python -m tests.outcome_table` writes it into the page."""

import re
from pathlib import Path

from crawler.core.pages.outcomes import Outcome

PAGE = Path(__file__).resolve().parent.parent / "docs" / "exports.md"
HEAD = "| outcome | counted as | label | meaning |\n|---|---|---|---|\n"


def table() -> str:
    return HEAD + "".join(
        f"| `{outcome}` | {outcome.category} | {outcome.label} | {outcome.entry.description} |\n" for outcome in Outcome
    )


if __name__ == "__main__":
    old = re.search(re.escape(HEAD) + r"(?:\|.*\n)*", PAGE.read_text())
    assert old, "docs/exports.md has no such table"
    PAGE.write_text(PAGE.read_text().replace(old[0], table()))
