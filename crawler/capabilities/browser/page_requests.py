"""The requests of one page in Chromium: which of them go out, and what became of them.

The document is the one that was fetched before. Every further request is decided here, in two places: Playwright asks
about the first URL of each, in all frames and workers, and not about those it is redirected to; `Fetch` of the DevTools
protocol asks about these as well, but not in frames of other sites, which are processes of their own. Nothing asks
about a SharedWorker's requests, so pages have none. All of them go through the page's proxy in any case.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import msgspec
from playwright.async_api import (
    CDPSession,
    Error,
    Frame,
    Page,
    Request,
    Response,
    Route,
    WebSocketRoute,
)

from crawler.capabilities.browser.page_load import BLOCKED, FAILED, Resource
from crawler.capabilities.browser.proxy_relay import own_reply
from crawler.capabilities.browser.recorder import Recorder
from crawler.capabilities.browser.rules import STREAMS, why_blocked
from crawler.capabilities.browser.types import Job
from crawler.core.urls.normalise import host_in_browser
from crawler.http.errors import one_line
from crawler.http.fetcher import FetchResult
from crawler.http.warc_record import RecordedExchange

MAX_RESOURCES = 1000  # more than a page may request
MAX_BLOCKED = 300  # requests that are remembered one by one
READ_S = 3.0  # until their sizes are known

REFUSED_HERE = "net::ERR_BLOCKED_BY_CLIENT"  # what Chromium says of a request that was refused here
_CANCELLED = "net::ERR_ABORTED"

_KEPT_HEADERS = frozenset(
    {
        "content-language",
        "content-security-policy",  # what the site's visitors may not load is not loaded here either
        "link",
        "permissions-policy",
        "referrer-policy",
        "refresh",  # a redirect
        "set-cookie",  # scripts read them, and their requests need them; they end with the page
    }
)
"""Of the document's, besides its type. The others are about the transfer, which is over, about caches or other pages
(HSTS, Clear-Site-Data), make it a download (Content-Disposition), or want reports (NEL, Report-To)."""


class PageRequests:
    """`left` is done when the page goes elsewhere, to `redirect_to`; `changed` is set whenever a request begins or
    ends. `errors` gets a line for what was cut short."""

    def __init__(self, job: Job, page: Page, session: CDPSession, errors: list[str]) -> None:
        self.job, self.page, self.errors = job, page, errors
        self._session = session
        self.left: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.changed = asyncio.Event()
        self.redirect_to = ""
        self.open: set[Request] = set()  # under way
        self.has_streams = False
        self._known: set[Request] = set()  # news of others are about the page before, in the same tab
        self.total = self.own_total = 0  # that went out; those to the page's own host
        self._own = host_in_browser(job.url)
        self._is_over = False
        self._has_document = False  # it was handed over
        self._hops, self._redirects = Counter[str](), Counter[str]()  # URLs that were asked about, and all of them
        self._resources: dict[Request, Resource] = {}
        self._blocked: dict[Request, Resource] = {}
        self.more_blocked = 0  # besides those that are remembered
        self._refused_hops: dict[str, str] = {}  # URL -> why it was not requested
        self._sockets: list[Resource] = []
        self._recorder = Recorder(job.headers_for, job.max_html_bytes, errors) if job.choices.records else None

    def listeners(self) -> list[tuple[Any, str, Callable[[Any], Any]]]:
        """Who is to tell it of which event."""
        return [
            (self.page, "request", self._note_request),
            (self.page, "response", self._note_response),
            (self.page, "requestfinished", self._note_whole),
            (self.page, "requestfailed", self._note_cut),
            (self._session, "Fetch.requestPaused", self._route_hop),
        ]

    def end(self) -> None:
        """No further request goes out."""
        self._is_over = True
        for url, unasked in (self._redirects - self._hops).items():
            self._count(url, unasked)

    def leave(self) -> None:
        if not self.left.done():
            self.left.set_result(None)

    async def route(self, route: Route) -> None:
        with suppress(Error):  # the page is gone
            request = route.request
            frame = self._frame_of(request)
            if frame is None or self._is_over or self.left.done():
                await route.abort("aborted")
            elif request.is_navigation_request() and frame.parent_frame is None:
                await self._navigate(route, request)
            elif why := await self._take(request.url, request.resource_type):
                self._note_blocked(request, why)
                await route.abort("blockedbyclient")
            else:
                await route.continue_()

    async def _route_hop(self, event: dict[str, Any]) -> None:
        """Decide what a request is redirected to, and give each its credentials: those that Playwright's `continue_`
        takes would go on to whichever host it is redirected to."""
        url, given = str(event["request"]["url"]), {"requestId": event["requestId"]}
        self.changed.set()  # Playwright tells of the request only once it is sent on from here
        with suppress(Error):
            is_hop = "redirectedRequestId" in event
            self._hops[url] += is_hop
            if is_hop and (why := await self._take(url, str(event["resourceType"]).lower())):
                self._refused_hops[url] = why
                await self._session.send("Fetch.failRequest", {**given, "errorReason": "BlockedByClient"})
            elif more := self.job.headers_for(url):
                headers = {**event["request"]["headers"], **more}
                lines = [{"name": name, "value": value} for name, value in headers.items()]
                await self._session.send("Fetch.continueRequest", {**given, "headers": lines})
            else:
                await self._session.send("Fetch.continueRequest", given)

    def _frame_of(self, request: Request) -> Frame | None:
        """The frame of this page; None for a popup's request."""
        try:
            frame = request.frame
        except Error:  # "Frame for this navigation request is not available"
            return None
        return frame if frame.page is self.page else None

    async def _navigate(self, route: Route, request: Request) -> None:
        if not self._has_document:
            self._has_document = True
            fetched = self.job.fetched
            await route.fulfill(status=fetched.http_status or 200, headers=_headers(fetched), body=fetched.body)
            return
        await route.abort("aborted")  # the document stays; any other error would replace it
        target = request.url.partition("#")[0]
        if request.method != "GET":
            self.errors.append(f"the page sends a form to {target}")
        elif target == self.job.url.partition("#")[0]:
            self.errors.append("the page loads itself again")
            return
        else:
            self.redirect_to = target
        self.leave()

    async def _take(self, url: str, kind: str) -> str:
        """Why a request is not sent; "" once it may be. It is counted before it waits, during which others come."""
        self._count(url, 1)
        why = await self._why_refused(url, kind)
        if why:
            self._count(url, -1)
        return why

    async def _why_refused(self, url: str, kind: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https", "ws", "wss"):
            return f"{parts.scheme}: is not requested"
        is_own = self._is_own(url)
        if why := why_blocked(self.job.choices, kind, "" if is_own else parts.hostname or ""):
            return why
        if self.total > self.job.choices.max_requests:
            limit = f"more than {self.job.choices.max_requests} requests"
            if limit not in self.errors:
                self.errors.append(limit)
            return limit
        if is_own and not await asyncio.wrap_future(self.job.ask(url)):
            return "not allowed"
        return "too late" if self._is_over else ""

    async def route_socket(self, socket: WebSocketRoute) -> None:
        with suppress(Error):
            self.has_streams = True
            why = await self._take(socket.url, "websocket")
            if len(self._sockets) < MAX_RESOURCES:
                self._sockets.append(Resource(socket.url, "websocket", error=why, problem=BLOCKED if why else ""))
            if why:
                await socket.close()
            else:
                socket.connect_to_server()

    def _is_own(self, url: str) -> bool:
        """Whether it goes to the page's own host, as the host limiter tells hosts apart: http and https are one host,
        another port is another one."""
        with suppress(ValueError):
            return host_in_browser(url) == self._own
        return False

    def _count(self, url: str, more: int) -> None:
        self.total += more
        self.own_total += more if self._is_own(url) else 0

    def _note_request(self, request: Request) -> None:
        self._known.add(request)
        if request.redirected_from is not None:
            self._redirects[request.url] += 1
        if request.resource_type in STREAMS:
            self.has_streams = True
        elif not self._is_document(request):
            self.open.add(request)
        self.changed.set()

    def _note_response(self, response: Response) -> None:
        request, status = response.request, response.status
        if request not in self._known or self._is_document(request):
            return
        if why := own_reply(response.headers):  # the proxy's, where the server has sent none
            self._note_resource(request, None, why, FAILED)
        else:
            self._note_resource(request, status, "", FAILED if status >= 400 else "")

    def _note_end(self, request: Request) -> None:
        self.open.discard(request)
        self.changed.set()
        if request not in self._known or not request.failure or request in self._blocked or self._is_document(request):
            return
        if why := self._refused_hops.get(request.url):
            self._note_blocked(request, why)
        elif request.failure != REFUSED_HERE:
            self._note_failure(request, request.failure)

    def _is_document(self, request: Request) -> bool:
        """The page's own, or one that would take its place."""
        frame = self._frame_of(request)
        return frame is None or (request.is_navigation_request() and frame.parent_frame is None)

    def _note_whole(self, request: Request) -> None:
        self._note_end(request)
        if self._recorder is not None and request in self._known and not self._is_document(request):
            self._recorder.record(request)

    def _note_cut(self, request: Request) -> None:
        """Chromium does not read the body of an error that it cannot use, such as that of a script."""
        self._note_end(request)
        noted = self._resources.get(request)
        if self._recorder is not None and noted is not None and noted.status is not None and noted.status >= 400:
            self._recorder.record(request, is_cut=True)

    def _note_failure(self, request: Request, failure: str) -> None:
        """Behind its response, if it had one: Chromium cancels what it cannot use of one with an error."""
        noted = self._resources.get(request)
        if noted is not None and noted.problem == FAILED:
            return
        status = noted.status if noted is not None else None
        if failure == _CANCELLED:
            self._note_resource(request, status, "cancelled", "")
        else:
            self._note_resource(request, status, one_line(failure), FAILED)

    def _note_resource(self, request: Request, status: int | None, error: str, problem: str) -> None:
        if request in self._resources or len(self._resources) < MAX_RESOURCES:
            self._resources[request] = Resource(
                request.url, request.resource_type, status, error=error, problem=problem
            )

    def _note_blocked(self, request: Request, why: str) -> None:
        if len(self._blocked) < MAX_BLOCKED:
            self._blocked[request] = Resource(request.url, request.resource_type, error=why, problem=BLOCKED)
        else:
            self.more_blocked += 1

    async def recorded(self) -> tuple[RecordedExchange, ...]:
        """The exchanges that were recorded, if they are to be."""
        return await self._recorder.recorded() if self._recorder is not None else ()

    async def described(self) -> tuple[Resource, ...]:
        """The requests that went out, those that are under way among them, and those that were blocked."""

        async def whole(request: Request, noted: Resource) -> Resource:
            ms = request.timing["responseEnd"]
            size = None
            if noted.status is not None and request not in self.open:
                with suppress(Error):
                    size = max(0, (await request.sizes())["responseBodySize"])
            return msgspec.structs.replace(noted, bytes=size, ms=round(ms) if ms >= 0 else None)

        for request in self.open - self._resources.keys():
            self._note_resource(request, None, "not finished", "")
        described = {asyncio.create_task(whole(*each)): each[1] for each in self._resources.items()}
        if described:
            await asyncio.wait(described, timeout=READ_S)
        known = [task.result() if task.done() else noted for task, noted in described.items()]
        return (*known, *self._sockets, *self._blocked.values())


def _headers(fetched: FetchResult) -> dict[str, str]:
    """Of the document's, those that a page in a browser needs."""
    headers: dict[str, str] = {"content-type": fetched.content_type_header or "text/html"}
    for line in fetched.headers.splitlines():
        name, _, value = line.partition(":")
        name, value = name.strip().lower(), value.strip()
        if name in _KEPT_HEADERS and value.isascii() and value.isprintable():
            separator = "\n" if name == "set-cookie" else ", "  # as Playwright has several of them
            headers[name] = f"{headers[name]}{separator}{value}" if name in headers else value
    return headers
