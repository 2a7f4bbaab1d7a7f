"""The fault table as docs/protocol.md has it: what the tests of this package hold the code to."""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.faults.left import Left
from tests.stack import ROOT

HEADING = "## What a crash leaves behind"
COLUMNS = ["moment", "table", "Redis", "RQ's queues", "who repairs it", "within", "asked again"]
AT_ONCE = 0.5  # seconds; more than any watch needs to see that there is work


@dataclass(frozen=True)
class Row:
    moment: str
    left: Left
    who: str
    within: float  # seconds
    asked_again: int  # pages that are asked for once more than without the fault


def rows() -> list[Row]:
    text = (ROOT / "docs" / "protocol.md").read_text()
    section = text.split(HEADING, 1)[1].split("\n## ", 1)[0]
    return [_row(cells) for cells in _lines(section)]


def _lines(section: str) -> Iterator[list[str]]:
    """The cells of each line of a table that has our columns."""
    is_ours = False
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            is_ours = False
        elif cells == COLUMNS:
            is_ours = True
        elif is_ours and not line.startswith("|--"):
            yield cells


def _row(cells: list[str]) -> Row:
    moment, table, redis, rq, who, within, asked_again = cells
    seconds = {"": 0.0, "at once": AT_ONCE}.get(within)
    return Row(
        moment=moment.split("`")[1],
        left=Left(table, redis, rq),
        who=who,
        within=float(within.removesuffix(" s")) if seconds is None else seconds,
        asked_again=int(asked_again or 0),
    )
