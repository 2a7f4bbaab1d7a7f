"""A server on loopback that speaks HTTP/2, over TLS as browsers require, and may misbehave in its frames."""

import contextlib
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import h2.config
import h2.connection
import h2.events

from tests.http.server import Listening

Headers = list[tuple[str, str]]


@dataclass(frozen=True)
class Answer:
    """One response; `frames` are sent behind it, byte for byte, and again and again."""

    headers: tuple[tuple[str, str], ...] = ((":status", "200"), ("content-type", "text/html"))
    body: bytes = b"<p>hello"
    interim: tuple[tuple[str, str], ...] = ()
    trailers: tuple[tuple[str, str], ...] = ()
    ends: bool = True
    frames: bytes = b""
    goes: bool = False  # hangs up behind it
    goes_late: bool = False  # takes one more request first, and leaves it without an answer


def of_bytes(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """A frame (RFC 9113, 4.1)."""
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


class Server(Listening):
    """Serves a site, path to answer."""

    def __init__(self, site: Mapping[str, Answer], context: ssl.SSLContext) -> None:
        super().__init__()
        self.requests: list[Headers] = []
        self.protocols: list[str | None] = []  # as they were negotiated
        context.set_alpn_protocols(["h2"])
        self._site, self._context = site, context

    def _serve(self, plain: socket.socket) -> None:
        with contextlib.suppress(OSError), self._context.wrap_socket(plain, server_side=True) as sock:
            self._open.append(sock)
            self.protocols.append(sock.selected_alpn_protocol())
            connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
            connection.initiate_connection()
            sock.sendall(connection.data_to_send())
            for stream, path, method in self._requests(sock, connection):
                answer = self._site[path]
                if not self._answer(
                    sock, connection, stream, replace(answer, body=b"") if method == "HEAD" else answer
                ):
                    return

    def _requests(self, sock: ssl.SSLSocket, connection: h2.connection.H2Connection) -> Iterator[tuple[int, str, str]]:
        while data := sock.recv(65536):
            for event in connection.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    headers = [(bytes(name).decode(), bytes(value).decode()) for name, value in event.headers]
                    self.requests.append(headers)
                    yield event.stream_id, dict(headers)[":path"], dict(headers)[":method"]
            sock.sendall(connection.data_to_send())

    def _answer(self, sock: ssl.SSLSocket, connection: h2.connection.H2Connection, stream: int, answer: Answer) -> bool:
        if answer.interim:
            connection.send_headers(stream, answer.interim)
        is_all = answer.ends and not answer.body and not answer.trailers
        connection.send_headers(stream, answer.headers, end_stream=is_all)
        for at in range(0, len(answer.body), 16384):
            piece = answer.body[at : at + 16384]
            is_last = at + 16384 >= len(answer.body) and answer.ends and not answer.trailers
            connection.send_data(stream, piece, end_stream=is_last)
        if answer.trailers:
            connection.send_headers(stream, answer.trailers, end_stream=True)
        sock.sendall(connection.data_to_send())
        while answer.frames and not self._over.is_set():
            sock.sendall(answer.frames.replace(b"STRM", stream.to_bytes(4, "big")))
        goes = answer.goes or (answer.goes_late and next(self._requests(sock, connection), None) is not None)
        if goes:
            with contextlib.suppress(ValueError):  # the test is over, which has closed it
                sock.unwrap()
        return not goes and not answer.goes_late
