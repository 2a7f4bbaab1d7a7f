"""One page in a tab of Chromium, from its document to the DOM that its scripts make of it. All of it runs in the
browser's thread."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from playwright.async_api import ConsoleMessage, Error, Page

from crawler.capabilities.browser.page_pictures import take_pictures
from crawler.capabilities.browser.page_reader import READ_S, PageReader, vitals_of
from crawler.capabilities.browser.page_requests import REFUSED_HERE, PageRequests
from crawler.capabilities.browser.result import Rendering
from crawler.capabilities.browser.types import BrowserCrashed, Job
from crawler.http.errors import one_line

if TYPE_CHECKING:
    from crawler.capabilities.browser.tab import Tab

MAX_LINKS, MAX_MESSAGES = 1000, 50
QUIET_S = 0.5  # without a request under way, after which the page is ready
WALL_S = 0.1  # the least of it that is waited for, where the rest passes in virtual time
CATCH_UP_S = 0.05  # the end of it, in which the page is asked whether it has caught up
MAX_SCROLLS = 50  # screens
_END_S = 5.0

_SCROLL = """
(() => {
  window.scrollBy({top: window.innerHeight, behavior: "instant"});
  const height = Math.max(document.documentElement.scrollHeight, document.body ? document.body.scrollHeight : 0);
  return [height, window.scrollY + window.innerHeight >= height - 1];
})()"""

_TIMER = "new Promise((done) => { setTimeout(done, 20); })"  # ms, for a request to be told of


@dataclass(eq=False)
class Navigation:
    """One page, shown in a tab. `run` raises BrowserCrashed."""

    job: Job
    tab: Tab
    errors: list[str] = field(default_factory=list)
    links: dict[str, None] = field(default_factory=dict)
    console: list[str] = field(default_factory=list)
    console_errors: int = 0
    has_crashed: bool = False
    is_late: bool = False

    def __post_init__(self) -> None:
        self.page, self.session, self.frame_id = self.tab.page, self.tab.session, self.tab.frame_id
        self.requests = PageRequests(self.job, self.page, self.session, self.errors)
        self.reader = PageReader(self.page, self.session, self.frame_id, self.errors)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Be told what happens in the tab."""
        listeners: list[tuple[Any, str, Callable[[Any], Any]]] = [
            (self.page, "console", self._note_message),
            (self.page, "pageerror", self._note_exception),
            (self.page, "crash", self._note_crash),
            (self.session, "Page.navigatedWithinDocument", self._note_link),
            *self.requests.listeners(),
        ]
        for source, event, listener in listeners:
            source.on(event, listener)
        try:
            yield
        finally:
            for source, event, listener in listeners:
                source.remove_listener(event, listener)

    async def run(self) -> Rendering:
        began = time.monotonic()
        await self._wait(asyncio.create_task(self._get_ready()))
        self.requests.end()
        read = await self.reader.read(self.job.max_html_bytes, is_late=self.is_late)
        html = str(read.get("html", ""))
        return Rendering(
            html=self._bytes(html, int(read.get("length", 0))),
            redirect_to=self.requests.redirect_to,
            links=tuple(self.links),
            requests=self.requests.total,
            own_requests=self.requests.own_total,
            resources=await self.requests.described(),
            recorded=await self.requests.recorded(),
            more_blocked=self.requests.more_blocked,
            console=tuple(self.console),
            console_errors=self.console_errors,
            vitals={} if self.job.choices.virtual_time else vitals_of(read),  # their clock is the wall's
            pictures=await self._pictures(is_readable=bool(read)),
            elapsed_ms=round((time.monotonic() - began) * 1000),
            error=one_line("; ".join(self.errors)),
        )

    async def _pictures(self, *, is_readable: bool) -> dict[str, bytes | str]:
        if self.requests.redirect_to:  # the page is another one
            return {}
        return await take_pictures(self.session, self.reader, self.job.choices, is_readable=is_readable)

    # Until the page is ready

    async def _wait(self, ready: asyncio.Task[None]) -> None:
        """Until the page is ready, has left, or its time is over."""
        try:
            seconds = self.job.choices.seconds
            await asyncio.wait({ready, self.requests.left}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if self.has_crashed:
                raise BrowserCrashed("the browser crashed on this page")
            if ready.done() and not self.requests.left.done() and (error := ready.exception()) is not None:
                if not isinstance(error, Error) or self.reader.is_gone(error):
                    raise error
                self.errors.append(error.message.partition("\n")[0])
            if not ready.done() and not self.requests.left.done():
                self.is_late = True
                self.errors.append(self._why_not_ready())
        finally:
            ready.cancel()
            await asyncio.wait({ready}, timeout=_END_S)
        if limit := self.job.limit_reached():
            self.errors.append(limit)

    def _why_not_ready(self) -> str:
        limit = f"after {self.job.choices.seconds:g} s"
        if self.requests.open:
            return f"{len(self.requests.open)} of its requests were still open {limit}"
        return f"the page was not ready {limit}"

    async def _get_ready(self) -> None:
        async with self.tab.clock.going():
            await self._load()

    async def _load(self) -> None:
        await self.page.goto(self.job.url, wait_until="load", timeout=0)  # 0 = no limit: `_wait` has one
        if self.job.choices.wait_for:
            await self.page.wait_for_selector(f"css={self.job.choices.wait_for}", state="attached", timeout=0)
        else:
            await self._quiet()
        if self.job.choices.scroll:
            await self._scroll()

    async def _quiet(self) -> None:
        while True:
            self.requests.changed.clear()
            is_virtual = self.job.choices.virtual_time and not self._has_other_clocks()
            quiet_s = (WALL_S if is_virtual else QUIET_S) - CATCH_UP_S
            try:
                await asyncio.wait_for(self.requests.changed.wait(), None if self.requests.open else quiet_s)
            except TimeoutError:
                await asyncio.gather(self._skip() if is_virtual else self._catch_up(), asyncio.sleep(CATCH_UP_S))
                if not self.requests.changed.is_set() and not (is_virtual and self._has_other_clocks()):
                    return

    def _has_other_clocks(self) -> bool:
        """Whether it waits for what does not go by its virtual time: servers that speak when they like, workers, and
        frames, which may be processes of their own."""
        return self.requests.has_streams or bool(self.page.workers) or len(self.page.frames) > 1

    async def _skip(self) -> None:
        """A script that does not end is left to the reader."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.tab.clock.skip(QUIET_S), READ_S)

    async def _catch_up(self) -> None:
        """On a busy machine half a second may pass in which the page has not run, or in which news of its requests are
        under way: wait for a timer of the page's own, behind which its due ones are, and for the answer, behind which
        the news are. A script that does not end is left to the reader."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.reader.evaluate(_TIMER), READ_S)

    async def _scroll(self) -> None:
        """To the end, until it is no longer moved."""
        last = -1
        for _ in range(MAX_SCROLLS):
            height, is_end = await self.reader.evaluate(_SCROLL)
            if is_end and height == last:
                return
            last = height if is_end else -1
            await self._quiet()
        self.errors.append(f"the page continues after {MAX_SCROLLS} screens")

    # Events

    def _note_link(self, event: dict[str, Any]) -> None:
        url = str(event["url"]).partition("#")[0]
        is_call = event["frameId"] == self.frame_id and event.get("navigationType") == "historyApi"
        if is_call and url != self.job.url.partition("#")[0] and len(self.links) < MAX_LINKS:
            self.links[url] = None

    def _note_message(self, message: ConsoleMessage) -> None:
        if message.type == "error" and REFUSED_HERE not in message.text:
            self._note_error(message.text)

    def _note_exception(self, error: Error) -> None:
        self._note_error(str(error))

    def _note_error(self, text: str) -> None:
        self.console_errors += 1
        if len(self.console) < MAX_MESSAGES:
            self.console.append(one_line(text))

    def _note_crash(self, page: Page) -> None:
        self.has_crashed = True
        self.requests.leave()

    def _bytes(self, html: str, length: int) -> bytes:
        limit = self.job.max_html_bytes
        body = html.encode("utf-8", "replace")
        if length > limit or len(body) > limit:
            self.errors.append(f"the DOM exceeds {limit:,} bytes; the rest was not stored")
        return body[:limit]
