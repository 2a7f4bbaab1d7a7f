"""Records the exchanges of a page's further requests with their bodies, for a WARC.

A body is asked of Chromium, decoded, as soon as it is complete: by the proxy it comes encrypted, and later Chromium may
have forgotten it, which keeps some 10 MB of one and 100 MB of all.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from playwright.async_api import Error, Request, Response

from crawler.capabilities.browser.proxy_relay import own_reply
from crawler.capabilities.browser.rules import STREAMS
from crawler.http.warc_record import NOT_KEPT, ExchangeHeads, RecordedExchange, status_line

MAX_EXCHANGES = 500  # of one page
MAX_BYTES = 32 * 1024 * 1024  # of all bodies of one page, which are in memory until it is stored
READ_S = 10.0  # for the bodies that are not read when the page is
AT_A_TIME = 4  # bodies that are asked of Chromium

_SECRETS = frozenset({"authorization", "cookie"})


class Recorder:
    """Of one page; in the browser's thread. `credentials_for(url)` are the headers that a request got in addition,
    whose values are not recorded. `errors` gets a line for each omission."""

    def __init__(
        self, credentials_for: Callable[[str], Mapping[str, str]], max_body_bytes: int, errors: list[str]
    ) -> None:
        self._credentials_for, self._max_body_bytes, self._errors = credentials_for, max_body_bytes, errors
        self._places = asyncio.Semaphore(AT_A_TIME)
        self._tasks: list[asyncio.Task[RecordedExchange | None]] = []
        self._bytes_left = MAX_BYTES
        self._left_out = Counter[str]()  # reason -> responses

    def record(self, request: Request, *, is_cut: bool = False) -> None:
        """Begin to record a request that is complete, or `is_cut`: its body was not read."""
        if urlsplit(request.url).scheme not in ("http", "https") or request.resource_type in STREAMS:
            return
        if len(self._tasks) < MAX_EXCHANGES:
            self._tasks.append(asyncio.create_task(self._recorded(request, is_cut=is_cut)))
        else:
            self._left_out[f"more than {MAX_EXCHANGES}"] += 1

    async def recorded(self) -> tuple[RecordedExchange, ...]:
        """All of them, in the order in which they were complete."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=READ_S)
            for task in late:
                task.cancel()
            self._left_out["not read in time"] += len(late)
        for reason, number in (+self._left_out).items():
            self._errors.append(f"not in the WARC: {number} of the responses to its requests, {reason}")
        done = (task.result() for task in self._tasks if task.done() and not task.cancelled())
        return tuple(recorded for recorded in done if recorded is not None)

    async def _recorded(self, request: Request, *, is_cut: bool) -> RecordedExchange | None:
        async with self._places:
            try:
                response = await request.response()
                if response is None or own_reply(response.headers):
                    return None
                body = b""
                if not is_cut and not _has_no_body(response):
                    size = (await request.sizes())["responseBodySize"]
                    body = await response.body() if size <= self._max_body_bytes else b""
                    if not self._takes(max(size, len(body)), len(body)):
                        return None
                return RecordedExchange(
                    url=request.url.partition("#")[0],
                    sent_at=request.timing["startTime"] / 1000,
                    heads=await self._heads(request, response),
                    sent=request.post_data_buffer or b"",
                    body=body,
                    is_cut=is_cut,
                )
            except Error:
                self._left_out["which Chromium no longer stored"] += 1
                return None

    def _takes(self, largest: int, decoded: int) -> bool:
        """Whether a body is recorded. `largest`: its bytes on the wire or decoded."""
        if largest > self._max_body_bytes:
            self._left_out[f"larger than {self._max_body_bytes:,} bytes"] += 1
            return False
        if decoded > self._bytes_left:
            self._left_out[f"beyond {MAX_BYTES:,} bytes in total"] += 1
            return False
        self._bytes_left -= decoded
        return True

    async def _heads(self, request: Request, response: Response) -> ExchangeHeads:
        parts = urlsplit(request.url)
        target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        sent = [(header["name"], header["value"]) for header in await request.headers_array()]
        received = [(header["name"], header["value"]) for header in await response.headers_array()]
        secrets = _SECRETS.union(name.lower() for name in self._credentials_for(request.url))
        return ExchangeHeads(
            f"{request.method} {target} HTTP/1.1",
            (
                ("Host", parts.netloc.rpartition("@")[2]),
                *(
                    (name, NOT_KEPT if name.lower() in secrets else value)
                    for name, value in sent
                    if name.lower() != "host" and not name.lower().startswith((":", "proxy-"))
                ),
            ),
            status_line("1.1", response.status, response.status_text),
            tuple((name, value) for name, value in received if not name.startswith(":")),
        )


def _has_no_body(response: Response) -> bool:
    """Chromium has none of a redirect."""
    return 300 <= response.status < 400 or response.status == 204 or response.request.method == "HEAD"
