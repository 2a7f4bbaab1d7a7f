"""How requests reach the worker, which sends them: a download handler of Scrapy, and a scheduler that takes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count

from scrapy import Request as ScrapyRequest
from scrapy import responsetypes
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.core.scheduler import BaseScheduler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Headers, Response

from crawler.capabilities.scrapy import messages

PAGE = "crawler_page"
"""The key of a request's meta with the number of the page it is for. A request without one is not sent."""

_PROJECT_HEADERS = frozenset({b"User-Agent", b"Host", b"Connection", b"Content-Length", b"Accept-Encoding"})
"""What the worker's client writes itself."""


class NoResponse(IgnoreRequest):
    """The worker has no response to this request; the text says why. Scrapy does not log it: the page has the error."""


class Bridge:
    """Sends messages to the worker, and waits for its responses. Used in the thread of the event loop."""

    def __init__(self, send: Callable[[messages.ToWorker], None]) -> None:
        self.send = send
        self._numbers = count(1)  # of requests
        self._waiting: dict[tuple[int, int], asyncio.Future[messages.Response]] = {}
        self.sent: dict[int, dict[int, Response]] = {}  # page -> request -> response, of pages under way
        self._own: dict[int, tuple[str, str]] = {}  # page -> its URL as Scrapy writes it, and as the crawl does

    def begin(self, page: int, scrapy_url: str, url: str) -> None:
        self.sent[page], self._own[page] = {}, (scrapy_url, url)

    async def ask(self, page: int, request: ScrapyRequest) -> Response:
        """Have the worker send a request. Raises NoResponse."""
        known = self.sent.get(page)
        if known is None:
            raise NoResponse("its page is over")
        number = next(self._numbers)
        scrapy_url, url = self._own[page]
        future = self._waiting[page, number] = asyncio.get_running_loop().create_future()
        self.send(
            messages.Request(
                page=page,
                request=number,
                method=request.method,
                url=url if request.url == scrapy_url else request.url,
                headers=_plain(request.headers),
                body=request.body,
            )
        )
        try:
            answer = await future
        finally:
            self._waiting.pop((page, number), None)
        if not answer.status:
            raise NoResponse(answer.error)
        response = known[number] = _response(request.url, answer)
        return response

    def answer(self, message: messages.Response) -> None:
        """The worker's response."""
        future = self._waiting.get((message.page, message.request))
        if future is not None and not future.done():
            future.set_result(message)

    def number_of(self, page: int, response: Response) -> int:
        """Which of the page's requests this is the response to, unchanged or with another body; 0 = none."""
        for number, sent in reversed(self.sent.get(page, {}).items()):
            if (sent.url, sent.status, sent.headers) == (response.url, response.status, response.headers):
                return number
        return 0

    def forget(self, page: int) -> None:
        self.sent.pop(page, None)
        self._own.pop(page, None)
        for key in [key for key in self._waiting if key[0] == page]:
            self._waiting.pop(key).cancel()


bridge: Bridge | None = None
"""The one of this process, which `__main__` sets before Scrapy begins."""


class WorkerDownloadHandler(BaseDownloadHandler):
    """Has the worker send the requests of pages."""

    lazy = True

    async def download_request(self, request: ScrapyRequest) -> Response:
        page = request.meta.get(PAGE)
        if page is None or bridge is None:
            raise IgnoreRequest(f"only requests that belong to a page of the crawl are sent, not {request}")
        return await bridge.ask(page, request)


class NoScheduler(BaseScheduler):
    """Takes no request: the crawl's manager schedules."""

    def has_pending_requests(self) -> bool:
        return False

    def enqueue_request(self, request: ScrapyRequest) -> bool:
        return False

    def next_request(self) -> None:
        return None


def _plain(headers: Headers) -> messages.Headers:
    return tuple(
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in headers.items()
        if name not in _PROJECT_HEADERS
        for value in values
    )


def _response(url: str, answer: messages.Response) -> Response:
    headers = Headers()
    for name, value in answer.headers:
        headers.appendlist(name.encode("latin-1"), value.encode("latin-1"))
    kind = responsetypes.responsetypes.from_args(headers=headers, url=url, body=answer.body)
    return kind(url, status=answer.status, headers=headers, body=answer.body)


def plain_headers(response: Response) -> messages.Headers:
    return tuple(
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in response.headers.items()
        for value in values
    )
