"""What may stand in a cell that a spreadsheet opens: flat, and nothing that it would run."""

from __future__ import annotations

from typing import Any

import msgspec

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001 (wide forms run as well)
"""What makes a spreadsheet take a cell for a formula. Titles and errors are written by strangers."""

_as_json = msgspec.json.Encoder().encode


def flat(value: Any) -> Any:
    """The value as one harmless cell; a list or an object as JSON."""
    return defused(_as_json(value).decode() if isinstance(value, list | dict) else value)


def defused(cell: Any) -> Any:
    """The cell, behind an apostrophe when it is text that a spreadsheet would run as a formula."""
    if isinstance(cell, str) and cell.lstrip(" ").startswith(FORMULA_STARTS):
        return f"'{cell}"
    return cell
