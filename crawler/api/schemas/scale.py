"""The schema of the number of useful workers."""

from __future__ import annotations

from typing import Any

from ninja import Schema
from pydantic import Field

from crawler.api.openapi import CRAWL_ID


class Scale(Schema):
    wanted: int = Field(
        description="Workers that would be useful now. It rises at once, and usually falls after two minutes."
    )
    running: int = Field(description="Workers that run. One that was killed is counted for some minutes.")
    browsers_wanted: int = Field(
        description="Browser workers that would be useful now, for crawls that render pages. It falls as `wanted` does."
    )
    browsers_running: int = Field(description="Browser workers that run.")
    reasons: list[str] = Field(description="What each running crawl can do within a minute, and the sum, in words.")


EXAMPLE: dict[str, Any] = {
    "wanted": 2,
    "running": 1,
    "browsers_wanted": 0,
    "browsers_running": 0,
    "reasons": [
        f"Crawl {CRAWL_ID} (example.com): 16 connections to 1 host, 9,000 pages due, 5,000 of them within 10 seconds.",
        "In all 16 connections to 1 host, 9,000 pages due, 5,000 of them within 10 seconds: with 256 requests at a "
        "time and 2.5 ms of CPU a page in each, 2 workers can do it.",
    ],
}
