"""One page in Chromium, from its document to the DOM that its scripts make of it. All of it runs in the browser's
thread.

The document is the one that was fetched before. Every further request is decided here, in two places: Playwright asks
about the first URL of each, in all frames and workers, and not about those it is redirected to; `Fetch` of the DevTools
protocol asks about these as well, but not in frames of other sites, which are processes of their own. Nobody is asked
about a SharedWorker's requests, so pages have none. All of them go through the page's proxy in any case.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import msgspec
from playwright.async_api import (
    Browser,
    BrowserContext,
    CDPSession,
    ConsoleMessage,
    Error,
    Frame,
    Page,
    ProxySettings,
    Request,
    Response,
    Route,
    WebSocketRoute,
)

from crawler.browser.driver import BrowserCrashed
from crawler.core.crawl.rendering import STREAMS, RenderChoices, layout_shift, why_blocked
from crawler.core.urls.normalise import host_and_port
from crawler.http.errors import one_line
from crawler.http.fetcher import Fetched

MAX_RESOURCES, MAX_LINKS, MAX_MESSAGES = 1000, 1000, 50
QUIET_S = 0.5  # without a request under way, after which the page is ready
MAX_SCROLLS = 50  # screens
READ_S, CLOSE_S = 3.0, 5.0

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

_READ = """
(async (limit, hasTime) => {
  const entries = (type) => hasTime && new Promise((done) => {
    setTimeout(() => done([]), 20);
    new PerformanceObserver((list) => done(list.getEntries())).observe({type, buffered: true});
  });
  const [paints, shifts] = await Promise.all([entries("largest-contentful-paint"), entries("layout-shift")]);
  const doctype = document.doctype ? new XMLSerializer().serializeToString(document.doctype) + "\\n" : "";
  const html = document.documentElement ? doctype + document.documentElement.outerHTML : "";
  return {
    html: html.slice(0, limit),
    length: html.length,
    lcp: paints && paints.length ? paints[paints.length - 1].startTime : null,
    shifts: shifts && shifts.filter((shift) => !shift.hadRecentInput).map((shift) => [shift.startTime, shift.value]),
  };
})(%d, %s)"""
"""`length` is in UTF-16 code units, as `limit`."""

_SCROLL = """
(() => {
  window.scrollBy({top: window.innerHeight, behavior: "instant"});
  const height = Math.max(document.documentElement.scrollHeight, document.body ? document.body.scrollHeight : 0);
  return [height, window.scrollY + window.innerHeight >= height - 1];
})()"""

_BLOCKED = "net::ERR_BLOCKED_BY_CLIENT"  # what Chromium says of a request that was refused here
_NO_SHARED_WORKER = "delete globalThis.SharedWorker"


class Resource(msgspec.Struct, frozen=True):
    """One further request of a page."""

    url: str
    kind: str  # Playwright's resource type
    status: int | None = None
    bytes: int = 0  # of the body, on the wire
    ms: int = 0
    error: str = ""  # one line; also why it was not sent


class Rendering(msgspec.Struct, frozen=True, kw_only=True):
    """What a browser made of a page."""

    html: bytes = b""  # the DOM in UTF-8 whatever it says itself, doctype included; empty if it could not be read
    redirect_to: str = ""  # where a script or a refresh leads to, absolute; not followed
    links: tuple[str, ...] = ()  # given to history.pushState and replaceState, absolute
    requests: int = 0  # further requests that went out, redirects included; the document is not among them
    own_requests: int = 0  # those to the page's own host and port
    resources: tuple[Resource, ...] = ()
    console: tuple[str, ...] = ()  # errors only
    vitals: dict[str, float] = {}  # "lcp_ms" and "cls", as far as Chromium knows them
    elapsed_ms: int = 0
    error: str = ""  # one line: what was cut short


@dataclass(frozen=True, kw_only=True)
class Job:
    """What one rendering needs. `ask` is called in the browser's thread; its future says whether a further URL of the
    page's own host may be requested now."""

    url: str
    fetched: Fetched
    choices: RenderChoices
    user_agent: str
    proxy: ProxySettings
    max_html_bytes: int
    headers_for: Callable[[str], Mapping[str, str]]
    ask: Callable[[str], Future[bool]]
    limit_reached: Callable[[], str]


async def render_page(browser: Browser, job: Job) -> Rendering:
    """Raises BrowserCrashed."""
    context = await browser.new_context(
        proxy=job.proxy,
        user_agent=job.user_agent,
        locale="en",
        viewport={"width": 1280, "height": 800},
        service_workers="block",
        accept_downloads=False,
        java_script_enabled=True,
        ignore_https_errors=False,
        permissions=[],
    )
    try:
        return await _Visit(job, context).run()
    finally:
        with suppress(Error, TimeoutError):
            await asyncio.wait_for(context.close(), CLOSE_S)


@dataclass(eq=False)
class _Visit:
    job: Job
    context: BrowserContext
    errors: list[str] = field(default_factory=list)
    links: dict[str, None] = field(default_factory=dict)
    console: list[str] = field(default_factory=list)
    resources: dict[Request, Resource] = field(default_factory=dict)
    sockets: list[Resource] = field(default_factory=list)
    requests: int = 0
    own_requests: int = 0
    redirect_to: str = ""

    async def run(self) -> Rendering:
        began = time.monotonic()
        loop = asyncio.get_running_loop()
        self.left: asyncio.Future[None] = loop.create_future()  # done when the page goes elsewhere or crashes
        self.has_crashed = self.is_late = self.is_over = False
        self.own = host_and_port(self.job.url)
        self.open: set[Request] = set()
        self.hops, self.redirects = Counter[str](), Counter[str]()  # URLs that were asked about, and all of them
        self.changed = asyncio.Event()
        self.has_document = False  # it was handed over
        await self._prepare()
        await self._wait(asyncio.create_task(self._get_ready()))
        self.is_over = True
        for url, unasked in (self.redirects - self.hops).items():
            self._count(url, unasked)
        read = await self._read()
        html = str(read.get("html", ""))
        return Rendering(
            html=self._bytes(html, int(read.get("length", 0))),
            redirect_to=self.redirect_to,
            links=tuple(self.links),
            requests=self.requests,
            own_requests=self.own_requests,
            resources=await self._resources(),
            console=tuple(self.console),
            vitals=_vitals(read),
            elapsed_ms=round((time.monotonic() - began) * 1000),
            error=one_line("; ".join(self.errors)),
        )

    async def _prepare(self) -> None:
        await self.context.add_init_script(_NO_SHARED_WORKER)
        await self.context.route("**/*", self._route)
        await self.context.route_web_socket(lambda _: True, self._route_socket)
        self.page = await self.context.new_page()
        self.session: CDPSession = await self.context.new_cdp_session(self.page)
        self.session.on("Page.navigatedWithinDocument", self._note_link)
        self.page.on("request", self._note_request)
        self.page.on("response", self._note_response)
        self.page.on("requestfinished", self._note_end)
        self.page.on("requestfailed", self._note_end)
        self.page.on("console", self._note_message)
        self.page.on("pageerror", lambda error: self._note_error(str(error)))
        self.page.on("crash", self._note_crash)
        self.context.on("page", self._close_popup)
        self.session.on("Fetch.requestPaused", self._route_hop)
        await self.session.send("Page.enable")
        await self.session.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})
        tree = await self.session.send("Page.getFrameTree")
        self.frame_id = tree["frameTree"]["frame"]["id"]

    # Until the page is ready

    async def _wait(self, ready: asyncio.Task[None]) -> None:
        """Until the page is ready, has left, or its time is over."""
        try:
            seconds = self.job.choices.seconds
            await asyncio.wait({ready, self.left}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if self.has_crashed:
                raise BrowserCrashed("the browser's process of this page crashed")
            if ready.done() and not self.left.done() and (error := ready.exception()) is not None:
                if not isinstance(error, Error) or self._is_gone(error):
                    raise error
                self.errors.append(error.message.partition("\n")[0])
            if not ready.done() and not self.left.done():
                self.is_late = True
                self.errors.append(self._why_not_ready())
        finally:
            ready.cancel()
            await asyncio.wait({ready}, timeout=CLOSE_S)
        if limit := self.job.limit_reached():
            self.errors.append(limit)

    def _why_not_ready(self) -> str:
        limit = f"after {self.job.choices.seconds:g} s"
        if self.open:
            return f"{len(self.open)} of its requests were under way {limit}"
        return f"the page was not ready {limit}"

    async def _get_ready(self) -> None:
        await self.page.goto(self.job.url, wait_until="load", timeout=0)  # 0 = no limit: `_wait` has one
        if self.job.choices.wait_for:
            await self.page.wait_for_selector(f"css={self.job.choices.wait_for}", state="attached", timeout=0)
        else:
            await self._quiet()
        if self.job.choices.scroll:
            await self._scroll()

    async def _quiet(self) -> None:
        while True:
            self.changed.clear()
            try:
                await asyncio.wait_for(self.changed.wait(), None if self.open else QUIET_S)
            except TimeoutError:
                return

    async def _scroll(self) -> None:
        """To the end, until it is no longer moved."""
        last = -1
        for _ in range(MAX_SCROLLS):
            height, is_end = await self._evaluate(_SCROLL)
            if is_end and height == last:
                return
            last = height if is_end else -1
            await self._quiet()
        self.errors.append(f"the page goes on after {MAX_SCROLLS} screens")

    # Requests

    async def _route(self, route: Route) -> None:
        with suppress(Error):  # the page is gone
            request = route.request
            frame = self._frame_of(request)
            if frame is None or self.is_over or self.left.done():
                await route.abort("aborted")
            elif request.is_navigation_request() and frame.parent_frame is None:
                await self._navigate(route, request)
            elif why := await self._take(request.url, request.resource_type):
                self.resources[request] = Resource(request.url, request.resource_type, error=why)
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
            self.hops[url] += is_hop
            if is_hop and await self._take(url, str(event["resourceType"]).lower()):
                await self.session.send("Fetch.failRequest", {**given, "errorReason": "BlockedByClient"})
            elif more := self.job.headers_for(url):
                headers = {**event["request"]["headers"], **more}
                lines = [{"name": name, "value": value} for name, value in headers.items()]
                await self.session.send("Fetch.continueRequest", {**given, "headers": lines})
            else:
                await self.session.send("Fetch.continueRequest", given)

    def _frame_of(self, request: Request) -> Frame | None:
        """The frame of this page; None for a popup's request."""
        try:
            frame = request.frame
        except Error:  # "Frame for this navigation request is not available"
            return None
        return frame if frame.page is self.page else None

    async def _navigate(self, route: Route, request: Request) -> None:
        if not self.has_document:
            self.has_document = True
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
        if not self.left.done():
            self.left.set_result(None)

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
        if self.requests > self.job.choices.max_requests:
            limit = f"more than {self.job.choices.max_requests} requests"
            if limit not in self.errors:
                self.errors.append(limit)
            return limit
        if is_own and not await asyncio.wrap_future(self.job.ask(url)):
            return "not allowed"
        return "too late" if self.is_over else ""

    async def _route_socket(self, socket: WebSocketRoute) -> None:
        with suppress(Error):
            why = await self._take(socket.url, "websocket")
            if len(self.sockets) < MAX_RESOURCES:
                self.sockets.append(Resource(socket.url, "websocket", error=why))
            if why:
                await socket.close()
            else:
                socket.connect_to_server()

    def _is_own(self, url: str) -> bool:
        with suppress(ValueError):
            return host_and_port(url) == self.own
        return False

    def _count(self, url: str, more: int) -> None:
        self.requests += more
        self.own_requests += more if self._is_own(url) else 0

    # Events

    def _note_request(self, request: Request) -> None:
        if request.redirected_from is not None:
            self.redirects[request.url] += 1
        if request.resource_type not in STREAMS and not self._is_document(request):
            self.open.add(request)
        self.changed.set()

    def _note_response(self, response: Response) -> None:
        if not self._is_document(response.request):
            self._note_resource(response.request, response.status)

    def _note_end(self, request: Request) -> None:
        self.open.discard(request)
        self.changed.set()
        if request.failure and request not in self.resources and not self._is_document(request):
            self._note_resource(request, None)

    def _is_document(self, request: Request) -> bool:
        """The page's own, or one that would take its place."""
        frame = self._frame_of(request)
        return frame is None or (request.is_navigation_request() and frame.parent_frame is None)

    def _note_resource(self, request: Request, status: int | None) -> None:
        if len(self.resources) < MAX_RESOURCES:
            error = one_line(request.failure or "")
            self.resources[request] = Resource(request.url, request.resource_type, status, error=error)

    def _note_link(self, event: dict[str, Any]) -> None:
        url = str(event["url"]).partition("#")[0]
        is_call = event["frameId"] == self.frame_id and event.get("navigationType") == "historyApi"
        if is_call and url != self.job.url.partition("#")[0] and len(self.links) < MAX_LINKS:
            self.links[url] = None

    def _note_message(self, message: ConsoleMessage) -> None:
        if message.type == "error" and _BLOCKED not in message.text:
            self._note_error(message.text)

    def _note_error(self, text: str) -> None:
        if len(self.console) < MAX_MESSAGES:
            self.console.append(one_line(text))

    def _note_crash(self, page: Page) -> None:
        self.has_crashed = True
        if not self.left.done():
            self.left.set_result(None)

    async def _close_popup(self, popup: Page) -> None:
        if popup is not self.page:
            with suppress(Error):
                await popup.close()

    # What is read at the end

    async def _read(self) -> dict[str, Any]:
        """The DOM and the vitals; {} if they cannot be read. Scripts that do not end are ended."""
        limit = self.job.max_html_bytes
        if self.page.url == "about:blank":
            self.errors.append("the page has emptied itself")
            return {}
        try:
            with suppress(TimeoutError):
                seconds = 1.0 if self.is_late else READ_S
                return _dict(await asyncio.wait_for(self._evaluate(_READ % (limit, "true")), seconds))
            self.errors.append("a script did not end")
            return await self._read_by_force(_READ % (limit, "false"))
        except (Error, TimeoutError) as error:
            if self._is_gone(error):
                raise
            why = error.message.partition("\n")[0] if isinstance(error, Error) else "its process does not answer"
            self.errors.append(f"the page cannot be read: {why}")
            await self._quick("Page.crash")
        return {}

    def _is_gone(self, error: Exception) -> bool:
        """Whether it says that the page was closed, which only the end of its browser does by then."""
        return self.page.is_closed() or type(error).__name__ == "TargetClosedError"  # Playwright does not export it

    async def _read_by_force(self, expression: str) -> dict[str, Any]:
        """Asked first, so that it comes next once the script has been ended; a timer may come before it and begin that
        again, and the end may hit the reading itself. Raises TimeoutError."""
        reading = asyncio.create_task(self._evaluate(expression, is_isolated=False))
        try:
            for seconds in (0.3, 0.6, 1.2, 2.4):
                await self._quick("Runtime.terminateExecution")
                await asyncio.wait({reading}, timeout=seconds)
                if reading.done() and reading.exception() is None:
                    return _dict(reading.result())
                if reading.done():
                    reading = asyncio.create_task(self._evaluate(expression, is_isolated=False))
            raise TimeoutError
        finally:
            reading.cancel()

    async def _quick(self, method: str) -> None:
        with suppress(Error, TimeoutError):
            await asyncio.wait_for(self.session.send(method), 1.0)

    async def _evaluate(self, expression: str, *, is_isolated: bool = True) -> Any:
        """In a world of its own, in which no script of the page has changed what the expression uses."""
        asked = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        if is_isolated:
            world = await self.session.send("Page.createIsolatedWorld", {"frameId": self.frame_id})
            asked["contextId"] = world["executionContextId"]
        told = await self.session.send("Runtime.evaluate", asked)
        if "exceptionDetails" in told:
            raise Error(str(told["exceptionDetails"].get("text")))
        return told["result"].get("value")

    def _bytes(self, html: str, length: int) -> bytes:
        limit = self.job.max_html_bytes
        body = html.encode("utf-8", "replace")
        if length > limit or len(body) > limit:
            self.errors.append(f"the DOM has more than {limit:,} bytes, which are kept")
        return body[:limit]

    async def _resources(self) -> tuple[Resource, ...]:
        async def whole(request: Request, noted: Resource) -> Resource:
            ms = request.timing["responseEnd"]
            size = 0
            if noted.status is not None and request not in self.open:
                with suppress(Error):
                    size = (await request.sizes())["responseBodySize"]
            return msgspec.structs.replace(noted, bytes=max(0, size), ms=max(0, round(ms)))

        described = {asyncio.create_task(whole(*each)): each[1] for each in self.resources.items()}
        if described:
            await asyncio.wait(described, timeout=READ_S)
        known = [task.result() if task.done() else noted for task, noted in described.items()]
        return (*known, *self.sockets)[:MAX_RESOURCES]


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _headers(fetched: Fetched) -> dict[str, str]:
    """Of the document's, those that a page in a browser needs."""
    headers: dict[str, str] = {"content-type": fetched.content_type_header or "text/html"}
    for line in fetched.headers.splitlines():
        name, _, value = line.partition(":")
        name, value = name.strip().lower(), value.strip()
        if name in _KEPT_HEADERS and value.isascii() and value.isprintable():
            separator = "\n" if name == "set-cookie" else ", "  # as Playwright has several of them
            headers[name] = f"{headers[name]}{separator}{value}" if name in headers else value
    return headers


def _vitals(read: dict[str, Any]) -> dict[str, float]:
    vitals: dict[str, float] = {}
    if read.get("lcp") is not None:
        vitals["lcp_ms"] = round(float(read["lcp"]), 1)
    if read.get("shifts") not in (None, False):
        vitals["cls"] = round(layout_shift([(at, value) for at, value in read["shifts"]]), 4)
    return vitals
