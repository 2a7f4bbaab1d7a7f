"""Which spiders a user may choose: to name one is to have a worker import it."""

from __future__ import annotations

from crawler import conf
from crawler.core.errors import BadInput
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.options.of_capabilities import SCRAPY
from crawler.core.text.controls import by_surface

WITH_SCRAPY = by_surface(command="--engine scrapy", page="Scrapy as “Engine”", api='`engine` "scrapy"')


def check_spider(options: CrawlOptions, *, any_spider: bool) -> None:
    """BadInput unless the crawl's spider can be used: with Scrapy, and if the settings name it. The operator, on the
    command line, may name any."""
    if not options.spider:
        return
    if options.engine != SCRAPY:
        raise BadInput(
            "spider",
            f"A spider runs in Scrapy: choose {WITH_SCRAPY} with it, or leave it out.",
        )
    if not any_spider and options.spider not in conf.spiders():
        raise BadInput(
            "spider",
            f"{options.spider} is none of the spiders that users of this installation may choose: its operator adds it "
            "to CRAWLER_SPIDERS.",
        )
