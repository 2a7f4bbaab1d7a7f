"""The Chromium of this process: started at its first page, replaced after some pages, and again after a crash.

It is driven by Playwright in a thread with an asyncio loop: a process of Node.js that speaks with Chromium over a pipe,
and with this process over another one. Either ends when its pipe is closed, so nothing is left when this process is
killed. A Chromium that crashed is followed by one of another Playwright, since that may be what failed.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Self, TypeVar

from playwright.async_api import Browser as Chromium
from playwright.async_api import CDPSession, Error, Playwright, async_playwright

from crawler.capabilities.browser import chromium, conf
from crawler.capabilities.browser.kept_tabs import KeptTabs
from crawler.capabilities.browser.memory import megabytes, resident_megabytes
from crawler.capabilities.browser.rules import BrowserLimits, why_replace
from crawler.capabilities.browser.types import BrowserCrashed
from crawler.http.errors import one_line

logger = logging.getLogger(__name__)

T = TypeVar("T")

START_S = 60.0  # for a machine that is busy
END_S = 5.0  # that Chromium has to end by itself, and again Playwright, before it is killed
_NOTICE_S = 2.0  # between the error of a page and the news that its browser has ended
MEASURE_S = 5.0  # between two measurements of memory
CRASHED = "the browser crashed while it rendered this page"
LIVENESS_INTERVAL_S = 1.0  # between two checks of Chromium, whose end Playwright does not always report
ANSWER_S = 20.0  # for the response, on a machine that is busy
_IDLE_S = 60.0  # without a page, after which Chromium is ended


class Browser:
    """Chromium for the pages of one process. Its methods may be called by any thread of it, not after a fork."""

    def __init__(self, limits: BrowserLimits | None = None) -> None:
        self.starts = 0  # of Chromium so far
        self.kept = KeptTabs(conf.browser_places())
        self._limits = limits or BrowserLimits()
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._current: asyncio.Task[_Chromium] | None = None  # the one that new pages get
        self._running: set[_Chromium] = set()
        self._playwright: _Playwright | None = None  # the one that a new Chromium gets
        self._chores: set[asyncio.Task[None]] = set()  # asyncio itself keeps no reference to a task

    def run(self, work: Callable[[Chromium], Coroutine[Any, Any, T]]) -> Future[T]:
        """Begin a page: call `work` with a running Chromium, in the browser's thread. Cancel the future to end it.

        The future may raise BrowserMissing, BrowserCrashed, and what `work` raises."""
        if os.getpid() != self._pid:
            raise RuntimeError("A forked process needs a Browser of its own.")
        return asyncio.run_coroutine_threadsafe(self._run(work), self._started_loop())

    def do(self, chore: Coroutine[Any, Any, None]) -> None:
        """In the browser's thread, without waiting for it."""
        asyncio.run_coroutine_threadsafe(chore, self._started_loop())

    def close(self) -> None:
        """End every process of it. Pages under way fail; `run` would start it again."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        atexit.unregister(self.close)
        if loop is None or thread is None or os.getpid() != self._pid:
            return
        with suppress(Exception):
            asyncio.run_coroutine_threadsafe(self._end_all(), loop).result(3 * END_S)
        for running in tuple(self._running):
            running.kill()
            running.playwright.kill()
        loop.call_soon_threadsafe(loop.stop)
        thread.join(END_S)

    @property
    def pids(self) -> tuple[int, ...]:
        """The main processes of Chromium: one, or more while an earlier one has pages under way."""
        return tuple(running.pid for running in self._running if running.pid)

    def _started_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._loop.set_exception_handler(_log_quietly)
                self._thread = threading.Thread(target=_run_loop, args=(self._loop,), name="browser", daemon=True)
                self._thread.start()
                self._current = None
                atexit.register(self.close)  # the thread is a daemon: it would not be waited for
            return self._loop

    async def _run(self, work: Callable[[Chromium], Coroutine[Any, Any, T]]) -> T:
        running = await self._take()
        try:
            return await running.watch(work(running.chromium))
        finally:
            self._give_back(running)

    async def _take(self) -> _Chromium:
        while True:
            if self._current is None:
                self._current = asyncio.create_task(self._start())
            starting = self._current
            try:
                running = await asyncio.shield(starting)  # others wait for it, too
            except BaseException:
                if starting.done() and self._current is starting:
                    self._current = None
                raise
            if self._current is starting and not running.gone.done():
                break
            if self._current is starting:
                self._current = None
        running.pages += 1
        running.under_way += 1
        self._retire_if_due(running)
        return running

    async def _start(self) -> _Chromium:
        if self._playwright is None:
            self._playwright = await _Playwright.start()
        running = _Chromium(self._playwright)
        self._running.add(running)
        try:
            await running.start()
        except BaseException:
            self._playwright = None
            self._do(self._end(running))
            raise
        self.starts += 1
        self._do(running.keep_asking(self._limits.page_mb))
        return running

    def _give_back(self, running: _Chromium) -> None:
        running.under_way -= 1
        if running.gone.done():
            self._retire(running)
            self._leave(running.playwright)
        if running.is_retired:
            if running.under_way == 0:
                self._do(self._end(running))
            return
        loop = asyncio.get_running_loop()
        if running.measured + MEASURE_S <= loop.time():
            running.measured = loop.time()
            self._do(self._measure(running))
        if running.under_way == 0:
            loop.call_later(_IDLE_S, self._end_if_idle, running, running.pages)

    def _end_if_idle(self, running: _Chromium, pages: int) -> None:
        if running.pages == pages and running in self._running and not running.is_retired:
            self._retire(running)
            self._leave(running.playwright)
            self._do(self._end(running))

    async def _measure(self, running: _Chromium) -> None:
        running.mb = await running.measure()
        self._retire_if_due(running)
        if running.is_retired and running.under_way == 0:
            await self._end(running)

    def _retire_if_due(self, running: _Chromium) -> None:
        why = why_replace(self._limits, running.pages, running.mb)
        if why and not running.is_retired:
            logger.debug("Chromium %d is replaced: %s", running.pid, why)
            self._retire(running)

    def _retire(self, running: _Chromium) -> None:
        running.is_retired = True
        current = self._current
        if current is not None and current.done() and not current.exception() and current.result() is running:
            self._current = None

    def _leave(self, playwright: _Playwright) -> None:
        """It drives no further Chromium, and ends with its last one."""
        if self._playwright is playwright:
            self._playwright = None

    async def _end(self, running: _Chromium) -> None:
        if running in self._running:
            self._running.discard(running)
            try:
                await running.end()
            finally:
                running.kill()
                await self._end_if_left(running.playwright)

    async def _end_if_left(self, playwright: _Playwright) -> None:
        if self._playwright is not playwright and all(other.playwright is not playwright for other in self._running):
            try:
                await playwright.end()
            finally:
                playwright.kill()

    async def _end_all(self) -> None:
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        playwright, self._playwright = self._playwright, None
        await asyncio.gather(*(self._end(running) for running in tuple(self._running)))
        if playwright is not None:
            await self._end_if_left(playwright)
        for task in others:
            task.cancel()
        await asyncio.wait(others, timeout=END_S) if others else None

    def _do(self, chore: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(chore)
        self._chores.add(task)
        task.add_done_callback(self._chores.discard)


class _Playwright:
    """Playwright's process, used in the browser's thread."""

    def __init__(self, itself: Playwright) -> None:
        self.itself = itself

    @classmethod
    async def start(cls) -> Self:
        """Raises BrowserMissing."""
        try:
            return cls(await asyncio.wait_for(async_playwright().start(), START_S))
        except (Error, OSError, TimeoutError) as error:
            raise chromium.BrowserMissing(chromium.explain_failure(str(error))) from None

    async def end(self) -> None:
        """Let it end by itself, if it does so within seconds."""
        await _within(self.itself.stop())

    def kill(self) -> None:
        """Kill its Node.js, if that is still there, and close the pipes to it. Playwright itself cannot."""
        playwright: Any = self.itself
        with suppress(AttributeError):  # in a version that is built differently, what `end` did has to do
            playwright._impl_obj._connection._transport._proc._transport.close()


class _Chromium:
    """One Chromium, used in the browser's thread."""

    chromium: Chromium
    _session: CDPSession

    def __init__(self, playwright: _Playwright) -> None:
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()  # done when Chromium has ended
        self.pid = 0  # of its main process
        self.pages = self.under_way = 0
        self.mb = 0.0
        self.measured = asyncio.get_running_loop().time()
        self.is_retired = False  # gets no further page, and is ended after those under way
        self.playwright = playwright

    async def start(self) -> None:
        """Raises BrowserMissing."""
        playwright = self.playwright.itself.chromium
        program = chromium.require(playwright.executable_path)
        is_sandboxed = await asyncio.to_thread(chromium.is_sandboxed, program)
        try:
            self.chromium = await playwright.launch(
                executable_path=program,
                args=chromium.FLAGS,
                ignore_default_args=chromium.WITHOUT,
                env={**chromium.environment()},
                chromium_sandbox=is_sandboxed,
                proxy={"server": chromium.NOWHERE, "bypass": chromium.BYPASS},
                handle_sigint=False,  # a worker that is asked to end lets its pages finish
                handle_sigterm=False,
                handle_sighup=False,
                timeout=START_S * 1000,
            )
        except Error as error:
            raise chromium.BrowserMissing(chromium.explain_failure(str(error))) from None
        self.chromium.on("disconnected", self._note_end)
        self._session = await self.chromium.new_browser_cdp_session()
        self.pid = next(iter(await self._processes("browser")), 0)

    def _note_end(self, chromium: Chromium) -> None:
        if not self.gone.done():
            self.gone.set_result(None)

    async def watch(self, work: Coroutine[Any, Any, T]) -> T:
        """What the work returns; BrowserCrashed as soon as Chromium has ended."""
        task = asyncio.create_task(work)
        both: set[asyncio.Future[Any]] = {task, self.gone}
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise BrowserCrashed(CRASHED)
            return task.result()
        except Error as error:  # of Playwright; `work` handles errors of the page
            await asyncio.wait({self.gone}, timeout=_NOTICE_S)
            raise BrowserCrashed(CRASHED if self.gone.done() else one_line(error.message)) from None
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=2 * END_S)
            if task.done() and not task.cancelled():
                task.exception()  # it is known

    async def keep_asking(self, page_mb: float) -> None:
        """Until it does not answer: it, or its Playwright, has ended or hangs. Ends the processes of pages that use
        more memory."""
        try:
            while not self.gone.done():
                await asyncio.wait({self.gone}, timeout=LIVENESS_INTERVAL_S)
                for pid in await asyncio.wait_for(self._processes("renderer"), ANSWER_S):
                    if resident_megabytes(pid) > page_mb:
                        logger.warning("A page used more than %g MB in Chromium, and was ended.", page_mb)
                        with suppress(ProcessLookupError):
                            os.kill(pid, signal.SIGKILL)
        except (Error, TimeoutError):
            self.kill()
            self._note_end(self.chromium)

    async def measure(self) -> float:
        """MB of all its processes; 0 where that cannot be told."""
        try:
            pids = await asyncio.wait_for(self._processes(), END_S)
        except (Error, TimeoutError):
            return 0.0
        return await asyncio.to_thread(lambda: sum(map(megabytes, pids)))

    async def end(self) -> None:
        """Let it end by itself, if it does so within seconds."""
        if hasattr(self, "chromium"):
            await _within(self.chromium.close())

    def kill(self) -> None:
        """End whatever is left of it. Playwright gives what it starts, Chromium or a script that starts it, a process
        group."""
        pid, self.pid = self.pid, 0
        with suppress(OSError):
            if pid and (group := os.getpgid(pid)) != os.getpgrp():
                os.killpg(group, signal.SIGKILL)

    async def _processes(self, kind: str = "") -> list[int]:
        told = await self._session.send("SystemInfo.getProcessInfo")
        return [process["id"] for process in told["processInfo"] if kind in ("", process["type"])]


async def _within(ending: Awaitable[object]) -> None:
    with suppress(Error, TimeoutError):
        await asyncio.wait_for(ending, END_S)


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


def _log_quietly(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Playwright's own tasks fail when their page is closed under them, which is no error here."""
    logger.debug("in the browser's thread: %s", one_line(f"{context.get('message')} {context.get('exception', '')}"))


_shared: Browser | None = None
_sharing = threading.Lock()


def shared() -> Browser:
    """The browser of this process."""
    global _shared  # noqa: PLW0603  # one for each process
    with _sharing:
        if _shared is None or _shared._pid != os.getpid():
            _shared = Browser(BrowserLimits(pages=conf.chromium_pages(), mb=conf.chromium_mb()))
        return _shared
