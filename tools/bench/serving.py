"""Serves the generated site, the hosts of the list, or a folder, on loopback: `python -m tools.bench.serving --help`.

It is to cost little beside the crawler it is measured with: one process, HTTP/1.1 with connections kept, answers made
in one piece, nothing read of a request but its path. It says its port on standard output once it listens, and with
`--latency` what it saw, as JSON, when it ends.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import mimetypes
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote_to_bytes

from tools.bench import crowd
from tools.bench.generated import WORDS, Site
from tools.sim.server import make_room

HEAD_END = b"\r\n\r\n"
KEPT = 6_400  # answers of the generated site that are kept, some 80 MB
BACKLOG = 1024
LOOPBACK = "127.0.0.1"

Reply = Callable[[str, str], tuple[bytes, float]]
"""From the address that is asked and the path to the whole answer, and the seconds it takes."""


@dataclass
class Seen:
    """What there was between the first request and the last answer, by the server's clock."""

    requests: int = 0
    first: float = 0.0  # seconds of some clock
    last: float = 0.0
    waiting: int = 0  # requests that have no answer yet
    most_waiting: int = 0

    def ask(self, now: float) -> None:
        self.first = self.first if self.requests else now
        self.requests += 1
        self.waiting += 1
        self.most_waiting = max(self.waiting, self.most_waiting)

    def answer(self, now: float) -> None:
        self.last = now
        self.waiting -= 1


class Visitor(asyncio.Protocol):
    """One connection. Requests are answered in turn; one that waits for its answer holds up those behind it."""

    def __init__(self, reply: Reply, seen: Seen) -> None:
        self._reply = reply
        self._seen = seen
        self._read = b""
        self._is_waiting = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._host: str = transport.get_extra_info("sockname")[0]

    def data_received(self, data: bytes) -> None:
        self._read += data
        self._go_on()

    def _go_on(self) -> None:
        while not self._is_waiting and HEAD_END in self._read:
            head, _, self._read = self._read.partition(HEAD_END)
            method, target = head.split(b" ", 2)[:2]
            self._seen.ask(time.monotonic())
            answer, seconds = self._reply(self._host, target.decode("latin-1"))
            if method == b"HEAD":
                answer = answer[: answer.index(HEAD_END) + len(HEAD_END)]
            closes = b"connection: close" in head.lower()
            if seconds:
                self._is_waiting = True
                asyncio.get_running_loop().call_later(seconds, self._later, answer, closes)
            else:
                self._send(answer, closes)

    def _later(self, answer: bytes, closes: bool) -> None:
        self._is_waiting = False
        self._send(answer, closes)
        self._go_on()

    def _send(self, answer: bytes, closes: bool) -> None:
        self._seen.answer(time.monotonic())
        if self._transport.is_closing():
            return  # whoever asked has hung up
        self._transport.write(answer)
        if closes:
            self._transport.close()


def answer_of(status: int, body: bytes, kind: str = "text/html; charset=utf-8", more: str = "") -> bytes:
    """A whole answer. The phrase behind the status means nothing, so it is the same for all."""
    head = f"HTTP/1.1 {status} Said\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    return head.encode("latin-1") + body


MISSING = answer_of(404, b"<title>Not here</title>")


def site_reply(site: Site, latency: float = 0.0) -> Reply:
    """`latency`: seconds of each answer."""

    @lru_cache(KEPT)
    def answer(path: str) -> bytes:
        page = site.page_at(path)
        return MISSING if page is None else answer_of(200, site.html(page))

    if site.pages <= KEPT:
        for path in site:
            answer(path)
    return lambda _, path: (answer(path), latency)


def folder_reply(folder: Path) -> Reply:
    """Its files, read before anybody asks; a folder is its index.html."""
    files = dict[bytes, bytes]()
    for file in folder.rglob("*"):
        if file.is_file():
            name = b"/" + str(file.relative_to(folder)).encode()
            kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
            files[name] = answer_of(200, file.read_bytes(), kind)
            if file.name == "index.html":
                files[name.removesuffix(b"index.html")] = files[name]

    def reply(_: str, path: str) -> tuple[bytes, float]:
        name = unquote_to_bytes(path.partition("?")[0])
        if name + b"/" in files:
            return answer_of(301, b"", more=f"Location: {path}/\r\n"), 0.0
        return files.get(name, MISSING), 0.0

    return reply


def crowd_reply(many: crowd.Crowd) -> Reply:
    paragraphs = "".join(f"<p>{' '.join(WORDS[place:])}</p>" for place in range(crowd.BODY_PARAGRAPHS))
    answers = {
        status: answer_of(status, f"<title>{status}</title><h1>{status}</h1>{paragraphs}".encode())
        for status in (200, 404, 500, 503)
    }

    def reply(address: str, path: str) -> tuple[bytes, float]:
        host, page = crowd.host_at(address), crowd.page_at(path)
        if page is None:
            return MISSING, many.latency(host, 0)
        return answers[many.status(host, page)], many.latency(host, page)

    return reply


async def serve(reply: Reply, addresses: list[str], silent: list[str], port: int) -> Seen:
    """What was seen until SIGTERM. Of the silent ones the system takes the connections; nobody ever looks at them."""
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, over.set)
    loop.add_signal_handler(signal.SIGINT, over.set)
    seen = Seen()
    unheard = [socket.create_server((address, port), backlog=BACKLOG) for address in silent]
    servers = [await loop.create_server(lambda: Visitor(reply, seen), one, port, backlog=BACKLOG) for one in addresses]
    print(servers[0].sockets[0].getsockname()[1], flush=True)
    await over.wait()
    for listener in unheard:
        listener.close()
    return seen


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.bench.serving", description=__doc__)
    parser.add_argument("what", choices=("site", "crowd", "folder"))
    parser.add_argument("--pages", type=int, default=1000, help="of the generated site, or URLs of the list")
    parser.add_argument("--hosts", type=int, default=10_000, help="of the list")
    parser.add_argument("--latency", type=float, help="seconds of each answer of the generated site, or of the list")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--port", type=int, default=0)
    chosen = parser.parse_args()
    if chosen.what != "crowd":
        site = Site(chosen.pages, chosen.seed)
        reply = site_reply(site, chosen.latency or 0.0) if chosen.what == "site" else folder_reply(chosen.folder)
        seen = asyncio.run(serve(reply, [LOOPBACK], [], chosen.port))
        if chosen.latency:
            print(json.dumps(asdict(seen)), flush=True)
        return
    many = crowd.Crowd(chosen.pages, chosen.hosts, chosen.seed, chosen.latency)
    by_health = {health: list[str]() for health in crowd.Health}
    for host in range(many.hosts):
        by_health[many.health(host)].append(crowd.address(host))
    make_room(many.hosts, visitors=2_000)
    well, silent = by_health[crowd.Health.WELL], by_health[crowd.Health.SILENT]
    asyncio.run(serve(crowd_reply(many), well, silent, chosen.port))


if __name__ == "__main__":
    main()
