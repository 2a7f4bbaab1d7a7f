"""Which engine requested the pages of a crawl, if not the built-in one."""

from __future__ import annotations

from crawler.capabilities.scrapy.options import ENGINE, SCRAPY, ScrapyOptions
from crawler.models import Crawl
from crawler.reports.receipt_parts import ReceiptPart


def _engine(crawl: Crawl) -> str | None:
    return SCRAPY if ScrapyOptions.of(crawl.chosen).engine == SCRAPY else None


def _label(name: str) -> str:
    """One of a newer version as it is."""
    return ENGINE.labels.get(name, name)


RECEIPT_PARTS = (
    ReceiptPart(
        "engine", _engine, lambda name: ("Engine", _label(name)), lambda name: ("engine", _label(name)), is_setting=True
    ),
)
