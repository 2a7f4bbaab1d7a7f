"""What a page may do by the proxy, and what became of its connections."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager

import msgspec

from crawler.capabilities.browser.proxy_relay import Relay, Reply
from crawler.capabilities.browser.proxy_request import Target
from crawler.closing import Closing
from crawler.http.connector import Gateway
from crawler.http.guard import Guard

MAX_REFUSED = 100  # that an admission remembers
REST_SECONDS = 1.0  # without a byte since the server's last one: the connection gives way to others that wait


class ProxyLimits(msgspec.Struct, frozen=True):
    """Limits of one page."""

    max_bytes: int  # received from servers
    max_connections: int  # at the same time
    connect_seconds: float  # for each address of a host; twice that for the lookup and all of them
    idle_seconds: float  # without a byte in either direction, and for a turn at one of `hosts_one_by_one`


class Admission(Closing):
    """A page's credentials for the proxy. After `close` its connections are cut and the credentials are refused; after
    `pause` the same, until another page of the tab begins. Its numbers may be read by any thread."""

    def __init__(
        self,
        guard: Guard,
        limits: ProxyLimits,
        hosts_one_by_one: Collection[str],
        gateway: Gateway | None,
        on_close: Callable[[Admission], None],
        cut: Callable[[Admission], None],
    ) -> None:
        self.username, self.password = secrets.token_hex(16), secrets.token_hex(32)
        self.is_closed = False
        self.begin()
        self.guard, self.limits, self.gateway = guard, limits, gateway
        self._on_close, self._cut = on_close, cut
        self._turns = dict.fromkeys(hosts_one_by_one, _Turn())  # one, which they share
        self.tasks: set[asyncio.Task[None]] = set()  # one for each connection of the browser

    def begin(self) -> None:
        """Let a page use it, of which nothing is counted yet."""
        self.bytes_received = 0  # from servers, tunnelled bytes of TLS included
        self.bytes_sent = 0  # to servers
        self.connections = 0  # that were opened to servers
        self.refused: list[str] = []  # "host:port: why", the first MAX_REFUSED
        self.limit_reached = ""  # one line
        self.is_paused = False

    def pause(self) -> None:
        """Returns when its connections are cut; one that is being opened is closed without a byte."""
        self.is_paused = True
        self._cut(self)

    def close(self) -> None:
        """Returns when its connections are cut; one that is being opened is closed without a byte."""
        self.is_closed = True
        self._on_close(self)

    # Called in the proxy's thread

    def join(self) -> None:
        """Count the current task among the page's connections. Raises Reply."""
        if self.limit_reached:
            raise Reply("503 Service Unavailable", self.limit_reached)
        if self.is_paused:
            raise Reply("503 Service Unavailable", "no page is shown")
        if len(self.tasks) >= self.limits.max_connections:
            raise Reply("503 Service Unavailable", f"more than {self.limits.max_connections} connections of one page")
        task = asyncio.current_task()
        if task is not None:
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    def count_received(self, size: int) -> None:
        """Cuts the page's connections and raises ConnectionAbortedError where that is too much."""
        self.bytes_received += size
        if self.bytes_received > self.limits.max_bytes:
            self.limit_reached = f"more than {self.limits.max_bytes} bytes received"
            for task in self.tasks:
                task.cancel()
            raise ConnectionAbortedError(self.limit_reached)

    def count_sent(self, size: int) -> None:
        self.bytes_sent += size

    def note_refused(self, target: Target, why: str) -> None:
        if len(self.refused) < MAX_REFUSED:
            self.refused.append(f"{target}: {why}")

    @asynccontextmanager
    async def turn_at(self, target: Target) -> AsyncIterator[Callable[[Relay], None]]:
        """Wait until no other connection to the host is open, if it is the page's own; then `note` the connection,
        which is to give way once it rests. Raises Reply."""
        turn = self._turns.get(str(target))
        if turn is None:
            yield lambda _: None
            return
        try:
            async with asyncio.timeout(self.limits.idle_seconds):
                await turn.take()
        except TimeoutError:
            raise Reply("504 Gateway Timeout", f"the only connection to {target} is in use") from None
        try:
            yield turn.note
        finally:
            turn.leave()


class _Turn:
    """The one connection to a host, whichever of its ports.

    A browser keeps connections open, and uses each only for requests of a kind (with or without cookies, a WebSocket):
    the requests of one kind would wait for ever for the resting connection of another.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._relay: Relay | None = None

    async def take(self) -> None:
        while True:
            try:
                async with asyncio.timeout(REST_SECONDS / 4):
                    await self._lock.acquire()
                    return
            except TimeoutError:
                if self._relay is not None and self._relay.has_rested(REST_SECONDS):
                    self._relay.end()

    def note(self, relay: Relay) -> None:
        self._relay = relay

    def leave(self) -> None:
        self._relay = None
        self._lock.release()
