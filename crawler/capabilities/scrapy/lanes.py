"""The lane of crawls whose pages run through Scrapy. What it needs is imported late: most workers run none."""

from __future__ import annotations

from crawler.core.options.of_capabilities import SCRAPY as WITH_SCRAPY
from crawler.core.protocol.lanes import Lane


def _require() -> None:
    from crawler.capabilities.scrapy import driver

    driver.require()


def _end_processes() -> None:
    from crawler.capabilities.scrapy import driver

    driver.close_all()


SCRAPY = Lane(
    "scrapy",
    "run Scrapy on",
    "Scrapy",
    lambda options: options.engine == WITH_SCRAPY,
    help="run pages through Scrapy, for crawls with the option --engine scrapy; other workers manage",
    require=_require,
    end_processes=_end_processes,
)

LANES = (SCRAPY,)
