"""The options of pages that run through Scrapy."""

from __future__ import annotations

import re

from crawler.core.composed import Part
from crawler.core.errors import BadInput
from crawler.core.options.conflicts import Conflict, chosen
from crawler.core.options.kinds import Choice, OptionGroup, OptionSet, Text, option

SCRAPY_GROUP = OptionGroup("Scrapy", "middlewares and pipelines of your own", "scrapy", 130)

BUILT_IN, SCRAPY = "builtin", "scrapy"
ENGINE = Choice(SCRAPY, BUILT_IN, {BUILT_IN: "Built in", SCRAPY: "Scrapy"})

_DOTTED_NAME = re.compile(r"([A-Za-z_]\w*\.)+[A-Za-z_]\w*", re.ASCII)
MAX_SPIDER_NAME = 200  # characters


def _check_spider(field: str, typed: str) -> None:
    if not _DOTTED_NAME.fullmatch(typed) or len(typed) > MAX_SPIDER_NAME:
        raise BadInput(field, f"{typed!r} is not a spider; enter module.Class, such as shop.spiders.Prices.")


class ScrapyOptions(Part):
    """What pages run through."""

    follows = "near_duplicates"

    engine: str = option(
        ENGINE,
        SCRAPY_GROUP,
        "Engine",
        "Run pages through Scrapy. Your own middlewares and pipelines run, too; it needs a Scrapy worker "
        "(bin/worker --scrapy).",
        in_fetch=True,
    )
    spider: str = option(
        Text("shop.spiders.Prices", _check_spider, "none", "NAME"),
        SCRAPY_GROUP,
        "Spider",
        "Call your own spider with each page. Its items become the page's fields, and its requests become links.",
        in_fetch=True,
    )


CONFLICTS = (
    Conflict(
        "spider",
        chosen("spider"),
        chosen("revisit", "response_ttl"),
        "A spider needs complete responses, so it cannot be combined with the options to fetch only changes or to "
        "reuse responses. Leave out these, or the spider.",
    ),
)

OPTIONS = (OptionSet(ScrapyOptions, CONFLICTS),)
