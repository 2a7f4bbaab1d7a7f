"""The lane of crawls whose pages run through Scrapy. What it needs is imported late: most workers run none."""

from __future__ import annotations

from crawler import extras
from crawler.capabilities.scrapy import conf
from crawler.capabilities.scrapy.options import SCRAPY as WITH_SCRAPY
from crawler.capabilities.scrapy.options import ScrapyOptions
from crawler.core.errors import BadInput
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.protocol.lanes import Lane
from crawler.core.text.controls import by_surface


def _require() -> None:
    from crawler.capabilities.scrapy import driver

    driver.require()


def _check(options: CrawlOptions, by_operator: bool) -> None:
    """A user may choose a spider that the settings name: to name one is to have a worker import it. The operator may
    name any that can be imported."""
    chosen = ScrapyOptions.of(options)
    if not chosen.spider:
        return
    if chosen.engine != WITH_SCRAPY:
        raise BadInput("spider", f"Spiders run in Scrapy: choose {BY_SURFACE}, too, or leave out the spider.")
    if not by_operator and chosen.spider not in conf.spiders():
        raise BadInput(
            "spider",
            f"{chosen.spider} is not one of the spiders allowed here: the operator can add it to CRAWLER_SPIDERS.",
        )
    if by_operator:
        from crawler.capabilities.scrapy import driver

        if extras.SCRAPY.is_installed:
            driver.check_spider(chosen.spider)


def _end_processes() -> None:
    from crawler.capabilities.scrapy import driver

    driver.close_all()


BY_SURFACE = by_surface(command="--engine scrapy", page="Scrapy as “Engine”", api='`engine` "scrapy"')

SCRAPY = Lane(
    "scrapy",
    "run Scrapy on",
    "Scrapy",
    lambda options: ScrapyOptions.of(options).engine == WITH_SCRAPY,
    help="run pages through Scrapy, for crawls with the option --engine scrapy; other workers manage",
    require=_require,
    end_processes=_end_processes,
    check=_check,
    option="engine",
    extra=extras.SCRAPY,
)

LANES = (SCRAPY,)
