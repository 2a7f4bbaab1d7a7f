"""The table of columns in docs/exports.md, from the catalogue. `python -m tests.field_table` writes it there."""

from __future__ import annotations

import re
from pathlib import Path

from crawler.core.crawl.page_fields import EXPORTED, PageField

PAGE = Path(__file__).resolve().parent.parent / "docs" / "exports.md"
HEAD = "| column | type | what it is |\n|---|---|---|\n"


def table() -> str:
    """With a row for each column of an export, in their order."""
    return HEAD + "".join(map(_row, EXPORTED))


def _row(field: PageField) -> str:
    return f"| `{field.name}` | {field.type} | {field.description} |\n"


if __name__ == "__main__":
    old = re.search(re.escape(HEAD) + r"(?:\|.*\n)*", PAGE.read_text())
    assert old, "docs/exports.md has no such table"
    PAGE.write_text(PAGE.read_text().replace(old[0], table()))
