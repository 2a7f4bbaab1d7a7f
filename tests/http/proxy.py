"""An HTTP proxy on loopback: forwards whole URLs, digs tunnels, asks for a password if it has one.

It leads every name to loopback, and remembers who came and what was asked of it.
"""

import contextlib
import socket
from typing import BinaryIO
from urllib.parse import urlsplit

from tests.http.server import Listening


class ProxyServer(Listening):
    def __init__(self, *, authorization: str = "", answer: bytes = b"") -> None:
        super().__init__()
        self.heads: list[str] = []  # request heads as they arrived, CONNECT among them
        self._authorization = authorization  # "" = open to all
        self._answer = answer  # said to every CONNECT in place of digging

    def hang_up(self) -> None:
        """End the connections there are, and wait until that is done."""
        for sock in self._open:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def targets(self) -> list[str]:
        """Method and target of each request, such as "CONNECT site.test:443"."""
        return [head.rsplit(" ", 1)[0] for head in (lines.splitlines()[0] for lines in self.heads)]

    def _serve(self, client: socket.socket) -> None:
        upstreams: dict[str, socket.socket] = {}
        with contextlib.suppress(OSError), client, client.makefile("rb") as incoming:
            while head := _head(incoming):
                self.heads.append(head)
                if self._authorization and f"Proxy-Authorization: {self._authorization}" not in head:
                    client.sendall(b"HTTP/1.1 407 Who are you?\r\nContent-Length: 0\r\n\r\n")
                elif head.startswith("CONNECT "):
                    self._dig(client, head.split(" ")[1])
                    return
                else:
                    self._forward(client, head, incoming.read(_length(head)), upstreams)

    def _dig(self, client: socket.socket, target: str) -> None:
        if self._answer:
            client.sendall(self._answer)
            return
        upstream = self._upstream(int(target.rsplit(":", 1)[1]))
        client.sendall(b"HTTP/1.1 200 Connection established\r\nX-Proxy: test\r\n\r\n")
        self._start(pour, upstream, client)
        pour(client, upstream)

    def _forward(self, client: socket.socket, head: str, body: bytes, upstreams: dict[str, socket.socket]) -> None:
        request, *headers = head.splitlines()
        method, url, version = request.split(" ")
        parts = urlsplit(url)
        if parts.netloc not in upstreams:
            upstreams[parts.netloc] = self._upstream(parts.port or 80)
        upstream = upstreams[parts.netloc]
        path = url.split("/", 3)[3]
        kept = [line for line in headers if not line.lower().startswith("proxy-")]
        upstream.sendall("\r\n".join([f"{method} /{path} {version}", *kept, "", ""]).encode() + body)
        answer = upstream.makefile("rb")
        lines = _head(answer)
        if not lines:
            raise ConnectionError("the host hung up, and so do we")
        client.sendall(lines.replace("\n", "\r\n").encode() + b"\r\n\r\n" + (answer.read(_length(lines)) or b""))

    def _upstream(self, port: int) -> socket.socket:
        sock = socket.create_connection(("127.0.0.1", port))
        self._open.append(sock)
        return sock


def _length(head: str) -> int:
    return next((int(line[15:]) for line in head.splitlines() if line.lower().startswith("content-length")), 0)


def _head(incoming: BinaryIO) -> str:
    lines = []
    while (line := incoming.readline()) not in (b"\r\n", b""):
        lines.append(line.decode("latin-1").strip())
    return "\n".join(lines)


def pour(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(16384):
            sink.sendall(data)
    except OSError:
        pass  # either of them is gone: told to the other below
    finally:
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)
