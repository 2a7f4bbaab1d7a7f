"""One page through Scrapy: its downloader with all middlewares, its spider, its item pipelines."""

from __future__ import annotations

from typing import Any

import msgspec
from scrapy import Request as ScrapyRequest
from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.python.failure import Failure

from crawler.capabilities.scrapy import messages
from crawler.capabilities.scrapy.inside.handler import PAGE, Bridge, NoResponse, plain_headers
from crawler.capabilities.scrapy.inside.yielded import MAX_ITEMS, Collector, PageOutput, plain_item, read

MAX_ERRORS, MAX_ERROR = 10, 300  # of a page; characters of each


class Pages:
    """The pages under way in this process."""

    def __init__(self, crawler: Crawler, bridge: Bridge) -> None:
        self._crawler, self._bridge = crawler, bridge
        self._found: dict[int, PageOutput] = {}
        Collector.found = self._found
        crawler.signals.connect(self._note_error, signals.spider_error)
        crawler.signals.connect(self._note_item_error, signals.item_error)
        crawler.signals.connect(self._note_item, signals.item_scraped)

    async def visit(self, visit: messages.RunPage) -> None:
        """Run a page through Scrapy, and tell the worker what came of it. Never raises."""
        page = visit.page
        self._found[page] = PageOutput()
        try:
            request = read(visit.url, visit.request, self._spider)
            request.meta[PAGE] = page
            self._bridge.begin(page, request.url, visit.url)
            seen = await self._visit(page, request)
        except Exception as error:  # noqa: BLE001  # whatever a component of the user raises
            seen = messages.PageDone(page=page, errors=(_line(error),))
        finally:
            self._bridge.forget(page)
            self._found.pop(page)
        self._bridge.send(seen)

    async def _visit(self, page: int, request: ScrapyRequest) -> messages.PageDone:
        found = self._found[page]
        result = await self._run(page, request)
        while found.further:
            further = found.further.pop(0)
            further.meta[PAGE] = page
            of_further = await self._run(page, further)
            if isinstance(of_further, Failure) and not further.errback:
                self._note(page, of_further.value)
        led_to = messages.PageDone(
            page=page,
            errors=tuple(map(_line, found.errors[:MAX_ERRORS])),
            items=tuple(found.items),
            links=found.links,
        )
        if isinstance(result, Failure):
            return led_to
        number = self._bridge.number_of(page, result)
        as_sent = self._bridge.sent.get(page, {}).get(number)
        return msgspec.structs.replace(
            led_to,
            request=number,
            status=result.status,
            headers=() if number else plain_headers(result),
            body=None if as_sent is not None and as_sent.body == result.body else result.body,
        )

    async def _run(self, page: int, request: ScrapyRequest) -> Response | Failure:
        """One request, its response with the spider, and what this yields with the pipelines."""
        engine = self._crawler.engine
        result: Response | Failure
        try:
            result = await engine.download_async(request)
        except Exception as error:  # noqa: BLE001  # of a middleware, or NoResponse
            result = Failure(error)  # type: ignore[no-untyped-call]  # Twisted gives it no types
            if not isinstance(error, NoResponse):
                self._note(page, error)
        await maybe_deferred_to_future(engine.scraper.enqueue_scrape(result, request))
        return result

    @property
    def _spider(self) -> Spider:
        spider = self._crawler.spider
        assert spider is not None  # noqa: S101  # pages come once it is open
        return spider

    def _note_item(self, item: Any, response: Any) -> None:
        request = getattr(response, "request", None)
        found = self._found.get(request.meta.get(PAGE, 0)) if request is not None else None
        if found is None:
            return
        try:
            if len(found.items) < MAX_ITEMS:
                found.items.append(plain_item(item))
        except Exception as error:  # noqa: BLE001  # whatever an item's own methods raise
            found.errors.append(error)

    def _note_error(self, failure: Failure, response: Any) -> None:
        request = getattr(response, "request", None)
        page = request.meta.get(PAGE) if request is not None else None
        if page is not None and not isinstance(failure.value, NoResponse):
            self._note(page, failure.value)

    def _note_item_error(self, response: Any, failure: Failure) -> None:
        self._note_error(failure, response)

    def _note(self, page: int, error: BaseException | None) -> None:
        known = self._found.get(page)
        if known is not None and error is not None:
            known.errors.append(error)


def _line(error: BaseException) -> str:
    """An error in one line; what a middleware refuses on purpose has its own words."""
    said = " ".join(str(error).split())
    return (said if isinstance(error, IgnoreRequest) and said else f"{type(error).__name__}: {said}")[:MAX_ERROR]
