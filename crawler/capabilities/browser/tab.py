"""A tab of Chromium in a browser context of its own: its pages are shown one after the other. It is used in the
browser's thread."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

from playwright.async_api import Browser, BrowserContext, CDPSession, Error, Page, Route, WebSocketRoute

from crawler.capabilities.browser.admission import Admission
from crawler.capabilities.browser.page import Navigation
from crawler.capabilities.browser.page_clock import PageClock
from crawler.capabilities.browser.page_pictures import HEIGHT, WIDTH
from crawler.capabilities.browser.result import Rendering
from crawler.capabilities.browser.types import Job

_CLOSE_S = 5.0
_NO_SHARED_WORKER = "delete globalThis.SharedWorker"
_EMPTY = "about:blank"


class Tab:
    """Every request of its context is decided by the page that is shown: see `page_requests`."""

    page: Page
    session: CDPSession
    clock: PageClock
    frame_id: str  # of the page itself, in the DevTools protocol

    def __init__(self, chromium: Browser, context: BrowserContext) -> None:
        self.chromium = chromium
        self._context = context
        self._visit: Navigation | None = None

    @classmethod
    async def open(cls, chromium: Browser, job: Job) -> Self:
        """With the proxy and the user agent of this job. Raises Error."""
        context = await chromium.new_context(
            proxy=job.proxy,
            user_agent=job.user_agent,
            locale="en",
            viewport={"width": WIDTH, "height": HEIGHT},
            service_workers="block",
            accept_downloads=False,
            java_script_enabled=True,
            ignore_https_errors=job.ignore_tls_errors,
            permissions=[],
        )
        tab = cls(chromium, context)
        try:
            await tab._prepare()
        except BaseException:
            await tab.close()
            raise
        return tab

    async def _prepare(self) -> None:
        context = self._context
        await context.add_init_script(_NO_SHARED_WORKER)
        self.page = await context.new_page()
        context.on("page", self._close_popup)
        self.session = await context.new_cdp_session(self.page)
        self.clock = PageClock(self.session)
        await context.route("**/*", self._route)
        await context.route_web_socket(lambda _: True, self._route_socket)
        await self.session.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})
        await self.session.send("Page.enable")
        tree = await self.session.send("Page.getFrameTree")
        self.frame_id = tree["frameTree"]["frame"]["id"]

    async def render(self, job: Job) -> Rendering:
        """Raises BrowserCrashed."""
        self._visit = visit = Navigation(job, self)
        try:
            with visit.listening():
                return await visit.run()
        finally:
            self._visit = None

    async def leave(self, job: Job) -> bool:
        """Show an empty page, so that nothing of the last one goes on; False if that cannot be done."""
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                if job.choices.pictures:  # its scripts were switched off for them
                    await self.session.send("Emulation.setScriptExecutionDisabled", {"value": False})
                async with self.clock.going():
                    await self.page.goto(_EMPTY, timeout=0)
                return True
        return False

    async def close(self) -> None:
        with suppress(Error, TimeoutError):
            await asyncio.wait_for(self._context.close(), _CLOSE_S)

    async def _route(self, route: Route) -> None:
        if self._visit is not None:
            await self._visit.requests.route(route)
        else:
            with suppress(Error):
                await route.abort("aborted")

    async def _route_socket(self, socket: WebSocketRoute) -> None:
        if self._visit is not None:
            await self._visit.requests.route_socket(socket)
        else:
            with suppress(Error):
                await socket.close()

    async def _close_popup(self, popup: Page) -> None:
        if popup is not self.page:
            with suppress(Error):
                await popup.close()


@dataclass(eq=False)
class TabSlot:
    """Renders one page at a time, in a new tab or in the one of the page before."""

    admission: Admission
    tab: Tab | None = None  # that may show another page
    _left: asyncio.Task[bool] | None = None  # whether it has left the last one

    async def render(self, chromium: Browser, job: Job, *, keeps: bool) -> Rendering:
        """In the browser's thread. The tab is left or closed behind it. Raises BrowserCrashed."""
        tab = await self._tab_in(chromium) or await Tab.open(chromium, job)
        is_fit = False
        try:
            rendering = await tab.render(job)
            is_fit = keeps and not rendering.error
        finally:
            if is_fit:
                self.tab, self._left = tab, asyncio.create_task(tab.leave(job))
            else:
                _do_later(tab.close())
        return rendering

    async def _tab_in(self, chromium: Browser) -> Tab | None:
        """The one that was kept, if it is one of this Chromium and has left its page."""
        tab, self.tab = self.tab, None
        if tab is None or (tab.chromium is chromium and self._left is not None and await self._left):
            return tab
        _do_later(tab.close())
        return None


_chores: set[asyncio.Task[None]] = set()  # asyncio itself keeps no reference to a task


def _do_later(chore: Coroutine[Any, Any, None]) -> None:
    task = asyncio.create_task(chore)
    _chores.add(task)
    task.add_done_callback(_chores.discard)
