"""What a spider yields: items, requests that become pages of the crawl, and requests that belong to this page."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Self

import msgspec
from itemadapter import ItemAdapter
from scrapy import Request as ScrapyRequest
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.request import request_from_dict

from crawler.capabilities.scrapy.inside.handler import PAGE

MAX_LINKS = 10_000  # of one page
MAX_ITEMS = 1_000  # the same
MAX_REQUEST = 16_000  # characters of a spider's request for one page
OWN_META = frozenset({PAGE, "depth", "download_slot", "download_timeout", "download_latency"})
"""Keys of a request's meta that are of this attempt, and not the spider's."""

_CARRIED = ("callback", "errback", "cb_kwargs", "meta", "headers", "flags")


@dataclass
class PageOutput:
    """What one page led to."""

    items: list[dict[str, Any]] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)  # URL -> what the spider said about it
    further: list[ScrapyRequest] = field(default_factory=list)  # to be sent for this page
    errors: list[BaseException] = field(default_factory=list)


class Collector:
    """A spider middleware, the nearest to Scrapy's engine, which takes the requests: the crawl's manager schedules.
    Those that repeat no other and change nothing are pages of the crawl; the others are sent for this page."""

    found: dict[int, PageOutput]  # page -> what it led to; of the pages under way

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_spider_output(self, response: Response, result: AsyncIterable[Any]) -> AsyncIterator[Any]:
        async for each in result:
            if not isinstance(each, ScrapyRequest):
                yield each
            elif (found := self.found.get(response.meta.get(PAGE, 0))) is not None and self._crawler.spider:
                note(found, each, self._crawler.spider)


def note(found: PageOutput, request: ScrapyRequest, spider: Spider) -> None:
    """Note a request that the spider has yielded for a page."""
    if request.method != "GET" or request.body or request.dont_filter or request.cookies:
        found.further.append(request)
        return
    try:
        said = written(request, spider)
    except (TypeError, ValueError) as error:
        found.errors.append(ValueError(f"the request for {request.url} cannot be stored: {error}"))
        return
    if len(found.links) < MAX_LINKS:
        found.links.setdefault(request.url, said)


def written(request: ScrapyRequest, spider: Spider) -> str:
    """The callback of a request, and what belongs to it, as JSON; "" if there is nothing to say. Raises TypeError or
    ValueError for what JSON cannot hold, and for a callback that is no method of the spider."""
    plain = request.to_dict(spider=spider)
    plain["meta"] = {name: value for name, value in request.meta.items() if name not in OWN_META}
    plain["headers"] = {
        name.decode("latin-1"): [value.decode("latin-1") for value in values]
        for name, values in request.headers.items()
    }
    said = {name: plain[name] for name in _CARRIED if plain.get(name)}
    text = json.dumps(said, allow_nan=False) if said else ""
    if len(text) > MAX_REQUEST:
        raise ValueError(f"its callback arguments and meta have {len(text):,} characters; {MAX_REQUEST:,} are allowed")
    return text


def read(url: str, said: str, spider: Spider) -> ScrapyRequest:
    """The request for a page again. Raises ValueError if the spider has no such callback any more."""
    request = request_from_dict({"url": url, **(json.loads(said) if said else {})}, spider=spider)
    request.dont_filter = True
    return request


def plain_item(item: Any) -> dict[str, Any]:
    """An item as JSON holds it: a date is text."""
    adapted = ItemAdapter(item).asdict()
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(adapted, enc_hook=str))
    return plain
