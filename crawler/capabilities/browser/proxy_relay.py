"""One connection of the browser to the proxy, and its bytes to and from a server: no more is read than is taken."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress

from crawler.capabilities.browser.proxy_request import BadResponse, Request, returned
from crawler.core.urls.addresses import Proxy
from crawler.http.connector import refusal

MAX_HEAD_BYTES = 64 * 1024  # of a request or response; as many bytes behind it are buffered
HEAD_SECONDS = 30.0  # for the head of a request; browsers open connections ahead of their requests
LINGER_SECONDS = 1.0  # for a client that is still sending when it is refused
PIECE = 64 * 1024  # bytes of one read

_UNQUOTABLE = re.compile(r"[^ !#-\[\]-~]")  # within a string of a header (RFC 9651, 3.3.3)

Count = Callable[[int], None]
"""Takes note of so many bytes, and raises OSError where they are too many."""


OWN_REPLY = "crawler; details="
"""How the header Proxy-Status (RFC 9209) of a response begins that this proxy has written itself."""


def own_reply(headers: Mapping[str, str]) -> str:
    """Why the proxy has answered in place of the server, by a response's headers in lower case; "" if it has not."""
    said = headers.get("proxy-status", "")
    return said.removeprefix(OWN_REPLY).strip('"') if said.startswith(OWN_REPLY) else ""


class Reply(Exception):
    """The proxy's own response to a request, in place of the server's."""

    def __init__(self, status: str, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why  # such as "403 Forbidden", and one line


class Peer:
    """One end: the browser, or the server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self._writer = reader, writer
        writer.transport.set_write_buffer_limits(high=0)  # `send` ends when the system has taken everything

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    def abort(self) -> None:
        self._writer.transport.abort()

    async def head(self) -> bytes:
        """The next head, without its blank line. Raises ValueError if it is too large, IncompleteReadError, OSError."""
        head = b""
        while True:
            line = await self.reader.readline()
            if not line.endswith(b"\n"):
                raise asyncio.IncompleteReadError(head + line, None)
            if line not in (b"\r\n", b"\n"):
                head += line
            elif head:
                return head
            if len(head) > MAX_HEAD_BYTES:
                raise ValueError("the head is too large")

    async def request(self) -> Request:
        """Raises Reply, OSError and IncompleteReadError."""
        try:
            async with asyncio.timeout(HEAD_SECONDS):
                return Request.parse(await self.head())
        except ValueError:
            too_large = f"the head of a request may have {MAX_HEAD_BYTES} bytes"
            raise Reply("431 Request Header Fields Too Large", too_large) from None

    async def answer(self, reply: Reply) -> None:
        """Answer, and wait for the client to hang up: closing at once could lose the answer (RFC 9112, 9.6)."""
        body = f"{reply.why}\n".encode()
        lines = [
            f"HTTP/1.1 {reply.status}",
            "Content-Type: text/plain; charset=utf-8",
            f"Content-Length: {len(body)}",
            "Connection: close",
            f'Proxy-Status: {OWN_REPLY}"{_UNQUOTABLE.sub("?", reply.why)}"',
        ]
        if reply.status.startswith("407"):
            lines.append('Proxy-Authenticate: Basic realm="crawler"')
        with suppress(OSError):  # it need not wait for the answer
            await self.send("".join(f"{line}\r\n" for line in (*lines, "")).encode() + body)
            self._writer.write_eof()
            async with asyncio.timeout(LINGER_SECONDS):
                while await self.reader.read(PIECE):
                    pass


class Relay:
    """Passes bytes between the browser and a server, until either hangs up or nothing passes for `idle_seconds`."""

    def __init__(
        self, client: Peer, server: Peer, idle_seconds: float, count_sent: Count, count_received: Count
    ) -> None:
        self._client, self._server = client, server
        self._idle_seconds, self._idle = idle_seconds, asyncio.timeout(None)
        self._count_sent, self._count_received = count_sent, count_received
        self._ways: list[asyncio.Task[None]] = []
        self._is_answered = False
        self._rests_since: float | None = None  # the server's last byte, if the client has sent nothing since

    async def tunnel(self) -> None:
        """Raises OSError."""
        await self._client.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await self._until_either_ends(self._send_rest(), self._receive_rest())

    async def forward(self, head: bytes, size: int, forwarder: Proxy | None) -> None:
        """One request with a body of `size` bytes, and its response, by the server or by a proxy that asks it. Raises
        Reply, and OSError once the response has begun."""
        try:
            await self._until_either_ends(self._ask(head, size), self._receive_response(forwarder))
        except TimeoutError:
            if self._is_answered:
                raise
            raise Reply("504 Gateway Timeout", f"the server sent nothing for {self._idle_seconds:g} seconds") from None
        except (OSError, asyncio.IncompleteReadError):
            if self._is_answered:
                raise
            raise Reply("502 Bad Gateway", "the server closed the connection without a response") from None
        except ValueError as error:  # a head that is too large or cannot be read
            raise Reply("502 Bad Gateway", str(error)) from None

    def has_rested(self, seconds: float) -> bool:
        """Whether the server has said its last byte so long ago, and was told nothing since."""
        return self._rests_since is not None and self._rests_since + seconds <= asyncio.get_running_loop().time()

    def end(self) -> None:
        for way in self._ways:
            way.cancel()

    async def _until_either_ends(self, up: Coroutine[None, None, None], down: Coroutine[None, None, None]) -> None:
        self._ways = ways = [asyncio.create_task(down), asyncio.create_task(up)]
        try:
            async with self._idle:
                self._touch()
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                if way.done():
                    way.result()
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _ask(self, head: bytes, size: int) -> None:
        """Ends when the client hangs up, or sends more than one request."""
        with suppress(ConnectionError):  # a server that does not read on may still answer
            await self._upward(head)
            while size and (data := await self._client.reader.read(min(size, PIECE))):
                size -= len(data)
                await self._upward(data)
        await self._client.reader.read(1)

    async def _receive_response(self, forwarder: Proxy | None) -> None:
        status = 100
        while 100 <= status <= 199:  # interim responses
            status, head = returned(await self._server.head())
            if status == 101:
                raise BadResponse("the server switched protocols unasked")
            if status == 407:  # the browser would take it for ours
                raise BadResponse(
                    str(refusal(forwarder, status)) if forwarder else "the server returned 407, which only proxies send"
                )
            self._is_answered = True
            await self._downward(head)
        await self._receive_rest()

    async def _send_rest(self) -> None:
        while data := await self._client.reader.read(PIECE):
            await self._upward(data)

    async def _receive_rest(self) -> None:
        while data := await self._server.reader.read(PIECE):
            await self._downward(data)

    async def _upward(self, data: bytes) -> None:
        self._count_sent(len(data))
        self._rests_since = None
        self._touch()
        await self._server.send(data)
        self._touch()

    async def _downward(self, data: bytes) -> None:
        self._count_received(len(data))
        self._rests_since = None
        self._touch()
        await self._client.send(data)
        self._rests_since = self._touch()

    def _touch(self) -> float:
        """Restart the idle timeout. Returns now, in seconds of the loop."""
        now = asyncio.get_running_loop().time()
        self._idle.reschedule(now + self._idle_seconds)
        return now
