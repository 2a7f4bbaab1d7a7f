"""The clock of a tab's pages: Chromium's virtual time, in which a timer need not be waited for.

See Emulation.setVirtualTimePolicy in the DevTools protocol. Time is granted in pieces, passes as fast as the page's own
work allows, and stands still in between. Once it has begun a tab has no other: even a navigation waits for time then.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from playwright.async_api import CDPSession, Error

_PIECE_S = 0.1  # of the time that passes with the wall's
_AT_ANY_TIME = "advance"
_UNLESS_IT_WAITS = "pauseIfNetworkFetchesPending"


class PageClock:
    """Used in the browser's thread. It is the wall's until the first `skip`."""

    def __init__(self, session: CDPSession) -> None:
        self._session = session
        self._is_virtual = False
        self._grants = asyncio.Lock()  # Chromium ends all that are open when the first one is over
        self._over: asyncio.Future[None] | None = None  # of the last grant
        self._going: asyncio.Task[None] | None = None
        session.on("Emulation.virtualTimeBudgetExpired", self._note_over)

    async def skip(self, seconds: float) -> None:
        """Let so much time pass for the page, without waiting for it. It stands still while a request is under way."""
        self._is_virtual = True
        await self._pass(seconds, _UNLESS_IT_WAITS)

    @asynccontextmanager
    async def going(self) -> AsyncIterator[None]:
        """Let time pass as the wall's does."""
        going = asyncio.create_task(self._go())
        try:
            yield
        finally:
            going.cancel()
            await asyncio.wait({going})

    async def _go(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            if self._is_virtual:
                with suppress(Error):  # the page is gone; the caller that waits for it gets the error
                    await self._pass(_PIECE_S, _AT_ANY_TIME)
            await asyncio.sleep(began + _PIECE_S - loop.time())

    async def _pass(self, seconds: float, policy: str) -> None:
        async with self._grants:
            if self._over is not None:  # the task that granted it was cancelled
                await asyncio.shield(self._over)
            self._over = asyncio.get_running_loop().create_future()
            granted = {"policy": policy, "budget": round(seconds * 1000)}
            await self._session.send("Emulation.setVirtualTimePolicy", granted)
            await asyncio.shield(self._over)

    def _note_over(self, event: dict[str, Any]) -> None:
        if self._over is not None and not self._over.done():
            self._over.set_result(None)
