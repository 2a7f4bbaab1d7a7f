"""The table of how pages loaded in a browser."""

from __future__ import annotations

from typing import Any

import msgspec

from crawler.capabilities.browser.options import NEVER, RenderOptions
from crawler.capabilities.browser.page_fields import LOAD
from crawler.capabilities.browser.page_load import Resource
from crawler.models import PageLoad
from crawler.storage.page_tables import PageTable


def _lists(row: PageLoad) -> dict[str, Any]:
    """`console` (the first errors) and `requests` (the first, those that failed before the others)."""
    requests = msgspec.convert(row.requests, list[Resource])
    return {"console": row.console, "requests": [msgspec.structs.asdict(request) for request in requests]}


LOADS = PageTable(LOAD, PageLoad, lambda options: RenderOptions.of(options).render != NEVER, _lists)

PAGE_TABLES = (LOADS,)
