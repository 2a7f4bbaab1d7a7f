"""What docs/exports.md and docs/notices.md show of page fields. `python -m tests.field_table` writes it there."""

import json
import re
from pathlib import Path
from typing import Any

from crawler.core.pages.page_field import PageField, ValueType
from crawler.core.pages.page_fields import EXPORTED

DOCS = Path(__file__).resolve().parent.parent / "docs"
HEAD = "| column | type | what it is |\n|---|---|---|\n"


def table() -> str:
    """With a row for each column of an export, in their order."""
    return HEAD + "".join(map(_row, EXPORTED))


def _row(field: PageField) -> str:
    return f"| `{field.name}` | {field.type} | {field.description} |\n"


def example() -> str:
    """The example page of a notice."""
    row = {field.name: _exported(field) for field in EXPORTED}
    return json.dumps({"pages": [row]}, indent=2).removeprefix("{\n")


def _exported(field: PageField) -> Any:
    """An export has "+00:00" where the API has "Z"."""
    return field.example.replace("Z", "+00:00") if field.type is ValueType.DATETIME else field.example


def _write(document: str, pattern: str, text: str) -> None:
    page = DOCS / document
    old = re.search(pattern, page.read_text(), re.DOTALL)
    assert old, f"docs/{document} has no such part"
    page.write_text(page.read_text().replace(old[0], text))


if __name__ == "__main__":
    _write("exports.md", re.escape(HEAD) + r"(?:\|[^\n]*\n)*", table())
    _write("notices.md", r'  "pages": \[\n    \{\n      "url".*?\n\}', example())
