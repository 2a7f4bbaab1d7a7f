"""Pictures of a page in Chromium: a screenshot, and the page as a PDF. They are taken after the page was read."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any

from playwright.async_api import CDPSession, Error

from crawler.capabilities.browser.page_reader import PageReader
from crawler.capabilities.browser.rules import RenderChoices
from crawler.core.pages.content_formats import PDF, PNG, SCREENSHOT, WHOLE_PAGE
from crawler.http.errors import one_line

WIDTH, HEIGHT = 1280, 800  # of the viewport, in CSS pixels
MAX_HEIGHT = 16_000  # of a whole page: a WebP has at most 16,383 rows, and Chromium draws at most 16,384
MAX_PICTURE_BYTES = 20_000_000
PICTURES_S = 20.0  # for all of a page; a fetch job must end within minutes
STILL_S = 2.0  # until the page stands still
QUALITY = 80  # of JPEG and WebP, of 100
MAX_SHEETS = 100  # of a PDF
_A4 = {"paperWidth": 8.27, "paperHeight": 11.69}  # inches

_STAND_STILL = """
(async () => {
  for (const animation of document.getAnimations()) {
    try { animation.finish(); } catch { animation.cancel(); }
  }
  window.scrollTo({left: 0, top: 0, behavior: "instant"});
  await Promise.race([document.fonts.ready, new Promise((done) => setTimeout(done, 500))]);
})()"""
"""Animations that have no end cannot be finished. The page may have been scrolled."""


async def take_pictures(
    session: CDPSession, reader: PageReader, choices: RenderChoices, *, is_readable: bool
) -> dict[str, bytes | str]:
    """Content format -> the picture, or one line that says why there is none. The page's scripts are off afterwards.

    Raises Error of Playwright if the browser has ended."""
    wanted = [form for form in (SCREENSHOT, PDF) if form in choices.pictures]
    if not wanted or not is_readable:
        return dict.fromkeys(wanted, "the page cannot be read")
    end = asyncio.get_running_loop().time() + PICTURES_S
    await _stand_still(session, reader)
    return {
        form: await _taken(_screenshot(session, choices) if form == SCREENSHOT else _pdf(session), end, reader)
        for form in wanted
    }


async def _stand_still(session: CDPSession, reader: PageReader) -> None:
    """End the page's scripts and animations, as far as its process answers."""
    with suppress(Error, TimeoutError):
        off = session.send("Emulation.setScriptExecutionDisabled", {"value": True})
        ended = session.send("Runtime.terminateExecution")  # the one that runs now, behind which the other waits
        await asyncio.wait_for(asyncio.gather(off, ended), STILL_S)
        await asyncio.wait_for(reader.evaluate(_STAND_STILL), STILL_S)


async def _taken(taking: Awaitable[bytes], end: float, reader: PageReader) -> bytes | str:
    """`end`: in the loop's time."""
    try:
        picture = await asyncio.wait_for(taking, end - asyncio.get_running_loop().time())
    except TimeoutError:
        return f"it was not ready after {PICTURES_S:g} s"
    except Error as error:
        if reader.is_gone(error):
            raise
        return one_line(error.message.partition("\n")[0])
    return picture if len(picture) <= MAX_PICTURE_BYTES else f"it has more than {MAX_PICTURE_BYTES:,} bytes"


async def _screenshot(session: CDPSession, choices: RenderChoices) -> bytes:
    asked: dict[str, Any] = {"format": choices.screenshot_format}
    if choices.screenshot_format != PNG:
        asked["quality"] = QUALITY
    if choices.screenshot == WHOLE_PAGE:
        height = (await session.send("Page.getLayoutMetrics"))["cssContentSize"]["height"]
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": max(HEIGHT, min(height, MAX_HEIGHT)), "scale": 1}
        asked |= {"captureBeyondViewport": True, "clip": clip}
    return base64.b64decode((await session.send("Page.captureScreenshot", asked))["data"])


async def _pdf(session: CDPSession) -> bytes:
    asked = {**_A4, "printBackground": True, "pageRanges": f"1-{MAX_SHEETS}"}
    return base64.b64decode((await session.send("Page.printToPDF", asked))["data"])
