"""How a page loaded in a browser, in its result."""

from __future__ import annotations

from crawler.capabilities.browser.page_load import PageLoad
from crawler.core.protocol.result_fields import ResultField

LOAD: ResultField[PageLoad | None] = ResultField("load", PageLoad | None, None)  # None = no browser rendered it

RESULT_FIELDS = (LOAD,)
