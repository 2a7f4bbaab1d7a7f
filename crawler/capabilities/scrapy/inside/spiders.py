"""The spider of a process of Scrapy: the user's own, or one that finds nothing itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from importlib import import_module
from typing import Any

from scrapy import Spider
from scrapy.http import Response


class PagesSpider(Spider):
    """Finds nothing itself: the worker reads links, titles and fields from each response, as of every other page."""

    name = "pages"

    def parse(self, response: Response, **more: Any) -> Iterator[Any]:
        yield from ()


class NoSpider(Exception):
    """The text says what is wrong with the dotted name."""


def spider_named(name: str) -> type[Spider]:
    """The user's spider. Raises NoSpider."""
    module, _, of_class = name.rpartition(".")
    try:
        found = getattr(import_module(module), of_class)
    except Exception as error:
        reason = (str(error).strip().splitlines() or [""])[0]
        raise NoSpider(
            f"The spider {name} cannot be imported ({type(error).__name__}: {reason}). Write module.Class, and put the "
            "folder of the module on PYTHONPATH."
        ) from error
    if not isinstance(found, type) or not issubclass(found, Spider):
        raise NoSpider(f"{name} is not a spider: a spider is a class derived from scrapy.Spider.")
    return found


def without_start(spider: type[Spider]) -> type[Spider]:
    """The spider without its start requests: the crawl's manager says which pages are requested."""

    async def start(self: Spider) -> AsyncIterator[Any]:
        nothing: tuple[Any, ...] = ()
        for request in nothing:
            yield request

    return type(spider.__name__, (spider,), {"start": start, "__module__": spider.__module__})
