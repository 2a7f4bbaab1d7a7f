"""A SOCKS5 proxy on loopback (RFC 1928, 1929), which remembers where it was asked to connect to."""

import contextlib
import socket
import socketserver
import threading
from types import TracebackType
from typing import Self

from tests.http.proxy import pour


class SocksServer:
    """`login`: "user:password" that it asks for, "" for none. `answer`: said in place of connecting."""

    def __init__(self, *, login: str = "", answer: bytes = b"", greeting: bytes = b"") -> None:
        self.login, self.answer, self.greeting = login, answer, greeting
        self.targets: list[str] = []  # "address:port" of each connection
        server = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                with contextlib.suppress(ConnectionError):
                    server.serve(self.request)

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]

    def serve(self, client: socket.socket) -> None:
        _, ways = client.recv(2)
        offered = client.recv(ways)
        if self.greeting:
            client.sendall(self.greeting)
            return
        way = 2 if self.login else 0
        if way not in offered:
            client.sendall(b"\x05\xff")
            return
        client.sendall(bytes([5, way]))
        if self.login and not self._is_known(client):
            return
        _, _, _, kind = client.recv(4)
        if kind == 3:  # a name: of those that it knows all are this machine's
            address, there = client.recv(client.recv(1)[0]).decode(), "127.0.0.1"
        else:
            family, size = (socket.AF_INET, 4) if kind == 1 else (socket.AF_INET6, 16)
            address = there = socket.inet_ntop(family, client.recv(size))
        port = int.from_bytes(client.recv(2), "big")
        self.targets.append(f"{address}:{port}")
        if self.answer:
            client.sendall(self.answer)
            return
        with socket.create_connection((there, port)) as upstream:
            client.sendall(b"\x05\x00\x00\x03\x05proxy\x00\x50")
            back = threading.Thread(target=pour, args=(upstream, client))
            back.start()
            pour(client, upstream)
            back.join()

    def _is_known(self, client: socket.socket) -> bool:
        client.recv(1)
        user = client.recv(client.recv(1)[0]).decode()
        password = client.recv(client.recv(1)[0]).decode()
        is_known = f"{user}:{password}" == self.login
        client.sendall(b"\x01\x00" if is_known else b"\x01\x01")
        return is_known

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
