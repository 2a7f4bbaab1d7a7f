"""A trap of a crawl as the API shows it."""

from __future__ import annotations

from typing import Any

from ninja import Schema
from pydantic import ConfigDict, Field

from crawler.api.shapes.numbers import RowId
from crawler.reports.traps import Caught


class Trap(Schema):
    """An endless series of pages that was set aside."""

    id: int
    reason: str
    pattern: str
    pages: int = Field(description="Pages of this shape that were let in.")
    quarantined: int = Field(description="Pages that were set aside.")
    left_out: int = Field(description="Links beyond those, which have no row.")
    released: bool
    examples: list[str]


class Traps(Schema):
    items: list[Trap]


class Release(Schema):
    """Which traps to release."""

    model_config = ConfigDict(extra="forbid")

    traps: list[RowId] | None = Field(None, max_length=1000, description="Their ids; without it all of them.")


class Released(Schema):
    traps: int
    pages: int = Field(description="That are open now.")
    left_out: int = Field(description="Links without a row, which do not come back by this.")
    message: str


def trap_of(caught: Caught) -> dict[str, Any]:
    trap = caught.trap
    return {
        "id": trap.pk,
        "reason": trap.reason,
        "pattern": trap.pattern,
        "pages": trap.pages,
        "quarantined": trap.quarantined,
        "left_out": trap.left_out,
        "released": trap.released,
        "examples": [page.url for page in caught.examples],
    }


EXAMPLE: dict[str, Any] = {
    "id": 3,
    "reason": "dates",
    "pattern": "/calendar/*/*",
    "pages": 24,
    "quarantined": 200,
    "left_out": 1204,
    "released": False,
    "examples": ["https://example.com/calendar/2031/07"],
}
