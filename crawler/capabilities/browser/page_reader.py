"""What is read from a page in Chromium: its DOM and its Web Vitals."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from playwright.async_api import CDPSession, Error, Page

from crawler.capabilities.browser.rules import layout_shift

READ_S = 3.0

_READ = """
(async (limit, hasTime) => {
  const entries = (type) => {
    const observer = new PerformanceObserver(() => {});
    observer.observe({type, buffered: true});
    return observer.takeRecords();
  };
  const [paints, shifts] = hasTime ? [entries("largest-contentful-paint"), entries("layout-shift")] : [];
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


class PageReader:
    """Evaluates expressions in a page. `errors` gets a line for what could not be read."""

    def __init__(self, page: Page, session: CDPSession, frame_id: str, errors: list[str]) -> None:
        self._page, self._session, self._frame_id, self._errors = page, session, frame_id, errors

    async def read(self, limit: int, *, is_late: bool) -> dict[str, Any]:
        """The DOM and the vitals; {} if they cannot be read. Scripts that do not end are ended."""
        if self._page.url == "about:blank":
            self._errors.append("the page removed its own content")
            return {}
        try:
            with suppress(TimeoutError):
                seconds = 1.0 if is_late else READ_S
                return _dict(await asyncio.wait_for(self.evaluate(_READ % (limit, "true")), seconds))
            self._errors.append("a script did not end")
            return await self._read_by_force(_READ % (limit, "false"))
        except (Error, TimeoutError) as error:
            if self.is_gone(error):
                raise
            why = error.message.partition("\n")[0] if isinstance(error, Error) else "its process does not respond"
            self._errors.append(f"the page cannot be read: {why}")
            await self._quick("Page.crash")
        return {}

    def is_gone(self, error: Exception) -> bool:
        """Whether it says that the page was closed, which only the end of its browser does by then."""
        return self._page.is_closed() or type(error).__name__ == "TargetClosedError"  # Playwright does not export it

    async def _read_by_force(self, expression: str) -> dict[str, Any]:
        """Asked first, so that it comes next once the script has been ended; a timer may come before it and begin that
        again, and the end may hit the reading itself. Raises TimeoutError."""
        reading = asyncio.create_task(self.evaluate(expression, is_isolated=False))
        try:
            for seconds in (0.3, 0.6, 1.2, 2.4):
                await self._quick("Runtime.terminateExecution")
                await asyncio.wait({reading}, timeout=seconds)
                if reading.done() and reading.exception() is None:
                    return _dict(reading.result())
                if reading.done():
                    reading = asyncio.create_task(self.evaluate(expression, is_isolated=False))
            raise TimeoutError
        finally:
            reading.cancel()

    async def _quick(self, method: str) -> None:
        with suppress(Error, TimeoutError):
            await asyncio.wait_for(self._session.send(method), 1.0)

    async def evaluate(self, expression: str, *, is_isolated: bool = True) -> Any:
        """In a world of its own, in which no script of the page has changed what the expression uses."""
        asked = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        if is_isolated:
            world = await self._session.send("Page.createIsolatedWorld", {"frameId": self._frame_id})
            asked["contextId"] = world["executionContextId"]
        told = await self._session.send("Runtime.evaluate", asked)
        if "exceptionDetails" in told:
            raise Error(str(told["exceptionDetails"].get("text")))
        return told["result"].get("value")


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def vitals_of(read: dict[str, Any]) -> dict[str, float]:
    vitals: dict[str, float] = {}
    if read.get("lcp") is not None:
        vitals["lcp_ms"] = round(float(read["lcp"]), 1)
    if read.get("shifts") not in (None, False):
        vitals["cls"] = round(layout_shift([(at, value) for at, value in read["shifts"]]), 4)
    return vitals
