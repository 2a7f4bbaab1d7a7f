"""The table of channels in docs/notices.md. `python -m tests.channel_table` writes it into the page."""

import re
from pathlib import Path

from crawler.core.channels.catalogue import KINDS
from crawler.core.channels.kind import ChannelKind

PAGE = Path(__file__).resolve().parent.parent / "docs" / "notices.md"
COLUMNS = ("channel", "`transport`", "option of a crawl", "address", "stored", "shown in full to its owner")
HEAD = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n"


def table() -> str:
    return HEAD + "".join(map(_row, KINDS))


def _row(kind: ChannelKind) -> str:
    stored = "encrypted" if kind.is_web else "in plain text"
    is_shown = "no" if kind.is_secret else "yes"
    cells = (kind.label, f"`{kind.name}`", f"`{kind.option}`", f"`{kind.example}`", stored, is_shown)
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    old = re.search(re.escape(HEAD) + r"(?:\|.*\n)*", PAGE.read_text())
    assert old, "docs/notices.md has no such table"
    PAGE.write_text(PAGE.read_text().replace(old[0], table()))
