"""The schema of the number of useful workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ninja import Schema
from pydantic import Field, create_model

from crawler.api.openapi import CRAWL_ID
from crawler.core.protocol.lanes import slot_lanes


class _Workers(Schema):
    wanted: int = Field(
        description="The number of useful workers. It rises at once, and usually falls after two minutes."
    )
    running: int = Field(description="Running workers. A killed worker is counted for some minutes.")


def _of_lanes() -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for lane in slot_lanes():
        wanted = f"{lane.name.capitalize()} workers that would be useful now, for crawls that {lane.verb} pages."
        fields[f"{lane.name}s_wanted"] = (int, Field(description=f"{wanted} It falls as `wanted` does."))
        fields[f"{lane.name}s_running"] = (int, Field(description=f"{lane.name.capitalize()} workers that run."))
    return fields


_REASONS = (list[str], Field(description="What each running crawl can do within a minute, and the sum, in words."))

if TYPE_CHECKING:
    Scale = _Workers
else:
    Scale = create_model("Scale", __base__=_Workers, **_of_lanes(), reasons=_REASONS)

EXAMPLE: dict[str, Any] = {
    "wanted": 2,
    "running": 1,
    **dict.fromkeys(_of_lanes(), 0),
    "reasons": [
        f"Crawl {CRAWL_ID} (example.com): 16 connections to 1 host, 9,000 pages due, 5,000 of them within 10 seconds.",
        "In all 16 connections to 1 host, 9,000 pages due, 5,000 of them within 10 seconds: with 256 requests at a "
        "time and 2.5 ms of CPU a page in each, 2 workers can do it.",
    ],
}
