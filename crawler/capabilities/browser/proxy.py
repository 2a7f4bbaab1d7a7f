"""The HTTP proxy that all of Chromium's traffic goes through: the guard judges each connection.

Names are looked up here alone, and the address that was checked is the one connected to. It listens on loopback, in the
browser worker. Every page has an `Admission`: a user and a password of its own, which tell the proxy what the page may
reach and load, and without which no other process of the machine can use it.

`CONNECT host:port` (https, wss and ws) opens a tunnel. A request for an http:// URL is forwarded over a connection of
its own: an http page pays for a handshake with each request, and the browser alone decides where a response ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import threading
import time
from collections.abc import Callable, Collection, Set
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from crawler.capabilities.browser.admission import Admission, ProxyLimits
from crawler.capabilities.browser.proxy_relay import MAX_HEAD_BYTES, Peer, Relay, Reply
from crawler.capabilities.browser.proxy_request import BadRequest, Request, Target
from crawler.closing import Closing
from crawler.http.connector import OPTIONS, Gateway, Route
from crawler.http.errors import AddressRefused, FetchError, FetchTimeout, RequestAborted, one_line
from crawler.http.fetcher import Limits
from crawler.http.guard import Guard, Resolver
from crawler.http.request import Exchange

__all__ = ["Admission", "GuardProxy", "ProxyLimits"]

MAX_CONNECTIONS = 1024  # of all clients, those without a password included
MAX_OPENING = 64  # at the same time, each in a thread


class GuardProxy(Closing):
    """The proxy, in a thread of its own, from construction until `close`. `admit` may be called by any thread;
    `close` by one alone, when no other closes an admission.

    It answers requests for `url` itself. Chromium, which does not let a WebSocket ask for a password, has one for the
    whole context once it has loaded that.
    """

    def __init__(self, *, resolver: Resolver | None = None) -> None:
        """`resolver`: in place of the guards' resolvers."""
        self._resolver = resolver
        self._admissions: dict[str, Admission] = {}  # user -> admission
        self._clients: set[asyncio.Task[None]] = set()
        self._opener = ThreadPoolExecutor(MAX_OPENING, "guard-proxy-open")
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._itself = Target("127.0.0.1", self.port)
        self._loop = asyncio.new_event_loop()
        self._closing = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="guard-proxy", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://{self._itself}/"

    def admit(
        self,
        guard: Guard,
        limits: ProxyLimits,
        *,
        hosts_one_by_one: Collection[str] = frozenset(),
        gateway: Gateway | None = None,
    ) -> Admission:
        """`hosts_one_by_one`: "host:port" of those that have at most one open connection at a time, all together.
        `gateway`: the crawl's own proxy, through which all connections go."""
        judge = guard if self._resolver is None else replace(guard, resolver=self._resolver)
        admission = Admission(judge, limits, hosts_one_by_one, gateway, self._dismiss, self._cut)
        self._admissions[admission.username] = admission
        return admission

    def close(self) -> None:
        """Close all admissions, and stop."""
        for admission in tuple(self._admissions.values()):
            admission.close()
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._closing.set)
            self._thread.join()
        self._opener.shutdown(wait=False, cancel_futures=True)

    def _dismiss(self, admission: Admission) -> None:
        if self._admissions.pop(admission.username, None) is not None:
            self._cut(admission)

    def _cut(self, admission: Admission) -> None:
        if self._thread.is_alive():
            asyncio.run_coroutine_threadsafe(_end(admission.tasks), self._loop).result()

    # All below runs in the proxy's thread, but for _opened

    def _run(self) -> None:
        with contextlib.closing(self._loop):
            self._loop.run_until_complete(self._listen())

    async def _listen(self) -> None:
        server = await asyncio.start_server(self._welcome, sock=self._listener, limit=MAX_HEAD_BYTES)
        await self._closing.wait()
        self._loop.remove_reader(self._listener)
        # What was accepted just before has no client yet: asyncio leaves it open where the server is closed meanwhile.
        while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
            for client in self._clients:
                client.cancel()
            await asyncio.wait(tasks)
        server.close()
        await asyncio.sleep(0)  # a connection is closed in the step of the loop behind its end

    def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._clients) >= MAX_CONNECTIONS:
            writer.transport.abort()
            return
        task = asyncio.get_running_loop().create_task(self._serve(Peer(reader, writer)))
        self._clients.add(task)
        task.add_done_callback(self._clients.discard)
        task.add_done_callback(lambda _: writer.transport.abort())  # one that is cancelled before it begins, too

    async def _serve(self, client: Peer) -> None:
        try:
            await self._answer(client)
        except Reply as reply:
            await client.answer(reply)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # either side is gone or too slow, or the connection was cut
        finally:
            client.abort()

    async def _answer(self, client: Peer) -> None:
        request = await client.request()
        admission = self._admission_of(*request.credentials)
        admission.join()
        try:
            target = request.target()
            if target == self._itself:
                raise Reply("200 OK", "The user and the password are right.")
            async with admission.turn_at(target) as note:
                if not client.reader.at_eof():  # it may have given up meanwhile
                    await self._pass_on(request, target, admission, client, note)
        except BadRequest as error:
            raise Reply("400 Bad Request", str(error)) from None

    def _admission_of(self, user: str, password: str) -> Admission:
        admission = self._admissions.get(user)
        known = admission.password if admission is not None else ""
        if not secrets.compare_digest(known, password) or admission is None:
            raise Reply("407 Proxy Authentication Required", "this proxy is for one browser alone")
        return admission

    async def _pass_on(
        self, request: Request, target: Target, admission: Admission, client: Peer, note: Callable[[Relay], None]
    ) -> None:
        """Raises Reply, BadRequest and OSError."""
        gateway, limits = admission.gateway, admission.limits
        forwarder = gateway.proxy if gateway is not None and gateway.forwards else None
        size, head = (0, b"") if request.is_tunnel else (request.body_size(), request.forwarded(forwarder))
        sock = await self._open(admission, target, tunnel=request.is_tunnel)
        server = Peer(*await asyncio.open_connection(sock=sock, limit=MAX_HEAD_BYTES))
        relay = Relay(client, server, limits.idle_seconds, admission.count_sent, admission.count_received)
        note(relay)
        try:
            await (relay.tunnel() if request.is_tunnel else relay.forward(head, size, forwarder))
        finally:
            server.abort()

    async def _open(self, admission: Admission, target: Target, *, tunnel: bool) -> socket.socket:
        """A connection to the target, within the thread of `_opened`. Raises Reply."""
        opening = self._opener.submit(_opened, admission, target, tunnel=tunnel)
        try:
            sock = await asyncio.wrap_future(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(_close_result)
            raise
        except AddressRefused as error:
            admission.note_refused(target, one_line(str(error)))
            raise Reply("403 Forbidden", str(error)) from None
        except FetchTimeout as error:
            raise Reply("504 Gateway Timeout", str(error)) from None
        except (FetchError, OSError) as error:
            raise Reply("502 Bad Gateway", str(error)) from None
        admission.connections += 1
        return sock


async def _end(tasks: Set[asyncio.Task[None]]) -> None:
    ending = set(tasks)
    for task in ending:
        task.cancel()
    if ending:
        await asyncio.wait(ending)
    await asyncio.sleep(0)  # a connection is closed in the step of the loop behind its end


def _close_result(opening: Future[socket.socket]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()


class _GuardedExchange(Exchange):
    """Limits the time of opening a connection, and begins no further step of it once the page is over."""

    def __init__(self, admission: Admission) -> None:
        seconds = admission.limits.connect_seconds
        limits = Limits(connect_seconds=seconds, read_seconds=seconds, total_seconds=2 * seconds)
        super().__init__(limits, time.monotonic)
        self._admission = admission

    def time_left(self, seconds: float) -> float:
        if self._admission.is_closed or self._admission.is_paused:
            raise RequestAborted
        return super().time_left(seconds)


def _opened(admission: Admission, target: Target, *, tunnel: bool) -> socket.socket:
    """Looked up, checked and connected. Blocks its thread. Raises FetchError, OSError and RequestAborted."""
    route = Route(admission.guard, _GuardedExchange(admission), admission.gateway)
    return route.open(target.host, target.port, OPTIONS, tunnel=tunnel)
