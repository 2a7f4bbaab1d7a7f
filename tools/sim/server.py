"""The process that is the simulated web: `python -m tools.sim.server WORLD [--log FILE]` says the port of its control
on standard output once it listens.

WORLD is a file made by `serving`. The control, on 127.0.0.1, gives the log so far for `GET /log` and forgets everything
for `GET /forget`. At its end (SIGTERM) the log is written to FILE.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import resource
import signal
import socket
import struct
import time
from collections import Counter
from pathlib import Path

import msgspec

from tools.sim.answers import NOT_HERE, Reply, page_reply, robots_reply
from tools.sim.log import Connection, Log, Request
from tools.sim.world import Health, Page, World

SO_TIMESTAMPNS = getattr(socket, "SO_TIMESTAMPNS", 35)  # Python names it from 3.14 on; Linux: asm-generic/socket.h
STAMP = struct.Struct("ll")  # of such a message: seconds and nanoseconds since the epoch
STAMP_SPACE = socket.CMSG_SPACE(STAMP.size)
READ = 16 * 1024
TOGETHER = 0.0001  # seconds between two readings that pass for one
HEAD_END = b"\r\n\r\n"


class Web:
    """All hosts, and what they remember: which page was asked for how often, and the log."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.loop = asyncio.get_running_loop()
        self._known: list[dict[str, Page]] = [{page.path: page for page in host.pages} for host in world.hosts]
        self._listeners = [self._listen(number) for number in range(len(world.hosts))]
        self._open: set[Visitor] = set()
        self._visitors = 0
        self.forget()

    def forget(self) -> None:
        self._before: Counter[tuple[int, str]] = Counter()
        self._requests: list[Request | None] = []
        self._connections: list[Connection] = []

    def log(self) -> Log:
        """What has ended and what is under way, in the order of arrival."""
        under_way = [visitor.request for visitor in self._open if visitor.request is not None]
        requests = sorted([*filter(None, self._requests), *under_way], key=lambda request: request.at)
        still_open = [Connection(visitor.host, visitor.opened) for visitor in self._open]
        return Log(tuple(requests), (*self._connections, *still_open))

    def note(self, request: Request) -> None:
        self._requests.append(request)

    def reply(self, number: int, path: str) -> Reply | None:
        """What the host says to this; None when it says nothing."""
        host = self.world.hosts[number]
        if host.health is Health.HANGING:
            return None
        before = self._before[number, path]
        self._before[number, path] = before + 1
        if path == "/robots.txt":
            return robots_reply(host, before)
        page = self._known[number].get(path)
        return page_reply(self.world, number, page, before) if page is not None else NOT_HERE

    def left(self, visitor: Visitor) -> None:
        self._open.discard(visitor)
        self._connections.append(Connection(visitor.host, visitor.opened, time.monotonic()))

    def _listen(self, number: int) -> socket.socket | None:
        host = self.world.hosts[number]
        if host.health is Health.REFUSING:
            return None
        listener = socket.create_server((host.address, self.world.port), backlog=256)
        listener.setblocking(False)
        with contextlib.suppress(OSError):  # then a request has arrived when we read it
            listener.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)  # what it accepts inherits it
        self.loop.add_reader(listener, self._accept, number, listener)
        return listener

    def _accept(self, number: int, listener: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                sock, _ = listener.accept()
                self._visitors += 1
                self._open.add(Visitor(self, number, sock, self._visitors))


class Visitor:
    """One connection: a request at a time, each answered after its host's latency."""

    def __init__(self, web: Web, host: int, sock: socket.socket, number: int) -> None:
        self._web, self.host, self._sock, self._number = web, host, sock, number
        self.opened = time.monotonic()
        self.request: Request | None = None  # the one under way
        self._read = b""
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        web.loop.add_reader(sock, self._readable)
        self._readable()  # the request has often come along

    def _readable(self) -> None:
        try:
            data, notes, _, _ = self._sock.recvmsg(READ, STAMP_SPACE)
        except BlockingIOError:
            return
        except ConnectionError:
            data, notes = b"", []
        if not data:
            self._leave()
            return
        at = _arrival(notes)
        self._read += data
        if HEAD_END in self._read:
            head, _, self._read = self._read.partition(HEAD_END)
            self._take(head.decode("latin-1"), at)

    def _take(self, head: str, at: float) -> None:
        path = head.split(" ", 2)[1]
        lines = (line.partition(":") for line in head.split("\r\n")[1:])
        agent = next((value.strip() for name, _, value in lines if name.lower() == "user-agent"), "")
        self.request = Request(at, self.host, path, agent=agent, connection=self._number)
        reply = self._web.reply(self.host, path)
        if reply is None:
            return
        if reply.at_once:
            self._answer(reply)
            return
        thinks = self._web.world.hosts[self.host].latency - (time.monotonic() - at)
        self._web.loop.call_later(max(thinks, 0), self._answer, reply)

    def _answer(self, reply: Reply) -> None:
        if self.request is None:
            return  # whoever asked has hung up
        self._end(reply.status, float(reply.retry_after))
        data = reply.encoded()
        with contextlib.suppress(ConnectionError):
            sent = self._sock.send(data)
            if sent != len(data):
                raise RuntimeError(f"an answer of {len(data)} bytes must fit into the socket's buffer")

    def _end(self, status: int = 0, retry_after: float = 0.0) -> None:
        if self.request is not None:
            ended = {"status": status, "until": time.monotonic(), "retry_after": retry_after}
            self._web.note(msgspec.structs.replace(self.request, **ended))
            self.request = None

    def _leave(self) -> None:
        self._end()
        self._web.loop.remove_reader(self._sock)
        self._sock.close()
        self._web.left(self)


def _arrival(notes: list[tuple[int, int, bytes]]) -> float:
    """The monotonic time at which the kernel took the data in. Its stamps are in epoch time, and missing on the first
    connections, until it has begun to make them."""
    for level, kind, stamp in notes:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
            seconds, nanoseconds = (int(part) for part in STAMP.unpack(stamp))
            return min(seconds + nanoseconds / 1e9 - _epoch(), time.monotonic())
    return time.monotonic()


def _epoch() -> float:
    """When the monotonic clock was zero, in epoch seconds. Both clocks are read at the same moment: a reading between
    which and the next we were held up is not used, for it would make a request early by as much."""
    for _ in range(100):
        before, moment, behind = time.monotonic(), time.time(), time.monotonic()
        if behind - before < TOGETHER:
            break
    return moment - before


async def _control(web: Web, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    line = await reader.readline()
    body = b""
    match line.split(b" ")[1:2]:
        case [b"/log"]:
            body = msgspec.msgpack.encode(web.log())
        case [b"/forget"]:
            web.forget()
    writer.write(b"HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    await writer.drain()
    writer.close()


async def serve(world: World, log: Path | None) -> None:
    web = Web(world)
    over = asyncio.Event()
    web.loop.add_signal_handler(signal.SIGTERM, over.set)
    web.loop.add_signal_handler(signal.SIGINT, over.set)
    control = await asyncio.start_server(lambda reader, writer: _control(web, reader, writer), "127.0.0.1", 0)
    print(control.sockets[0].getsockname()[1], flush=True)
    await over.wait()
    if log is not None:
        log.write_bytes(msgspec.msgpack.encode(web.log()))


def make_room(sockets: int, visitors: int = 500) -> None:
    """Ask the system for as many open files as these hosts and their visitors need."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = sockets + visitors
    if hard != resource.RLIM_INFINITY and wanted > hard:
        raise SystemExit(f"{wanted} open files are needed and {hard} allowed; take fewer hosts, or raise `ulimit -Hn`")
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.sim.server", description=__doc__)
    parser.add_argument("world", type=Path)
    parser.add_argument("--log", type=Path)
    chosen = parser.parse_args()
    world = msgspec.msgpack.decode(chosen.world.read_bytes(), type=World)
    make_room(5 * len(world.hosts))
    asyncio.run(serve(world, chosen.log))


if __name__ == "__main__":
    main()
