"""Options of capabilities, and their values, that kernel code still reads by name. None is to be added."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.core.composed import Part
from crawler.core.extraction.rules import FieldRule

NEVER, AUTO, ALWAYS = "never", "auto", "always"
"""`render`."""

SCRAPY = "scrapy"
"""`engine`."""


class CapabilityOptions(Part):
    """Has no fields but for type checkers: the capabilities give them."""

    if TYPE_CHECKING:
        login_url: str = ""
        login_check: str = ""
        traps: bool = True
        render: str = ""
        wait_for: tuple[str, ...] = ()
        render_timeout: float | None = None
        render_seconds: float = 0.0  # of `FetchPolicy`
        scroll: bool = False
        blocked_hosts: tuple[str, ...] = ()
        engine: str = ""
        spider: str = ""
        revisit: bool = False
        response_ttl: float | None = None
        fields: tuple[FieldRule, ...] = ()
        keep: tuple[str, ...] = ()
        screenshot: str = ""
        screenshot_format: str = ""
