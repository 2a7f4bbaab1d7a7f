"""How a page loaded in a browser, or that it should, in its result."""

from __future__ import annotations

from crawler.capabilities.browser.page_load import PageLoad
from crawler.core.protocol.result_fields import ResultField

LOAD: ResultField[PageLoad | None] = ResultField("load", PageLoad | None, None)  # None = no browser rendered it

NEEDS_SCRIPTS = ResultField("needs_scripts", str, "")  # a `Shell`, of a crawl that renders no pages

RESULT_FIELDS = (LOAD, NEEDS_SCRIPTS)
