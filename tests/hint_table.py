"""The table of hints in docs/reports.md. `python -m tests.hint_table` writes it into the page."""

import re
from pathlib import Path

import django

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reports.md"
HEAD = "| hint | given if | what to do |\n|---|---|---|\n"


def table() -> str:
    from crawler.core.text.controls import Surface, spoken
    from crawler.reports.hints import hints

    rows = (f"| `{hint.slug}` | {hint.about} | {spoken(hint.remedy, Surface.COMMAND)} |\n" for hint in hints())
    return HEAD + "".join(rows)


if __name__ == "__main__":
    django.setup()
    old = re.search(re.escape(HEAD) + r"(?:\|.*\n)*", PAGE.read_text())
    assert old, "docs/reports.md has no such table"
    PAGE.write_text(PAGE.read_text().replace(old[0], table()))
