"""gunicorn's threads, with deadlines: a client that sends slowly, or does not read, holds a connection but no thread.

gunicorn's own worker gives each connection to a thread at its first byte, and waits without a limit. Here the worker's
loop reads the heads and small bodies of all connections, and a thread gets a request that is complete (the rules:
`crawler.core.access.request_reading`). Large bodies are read by threads, MAX_UPLOADS at a time, at a minimum rate. The
health checks have threads of their own. `crawler.settings.gunicorn` names it. It serves no TLS: the proxy in front of
it does.
"""

from __future__ import annotations

import errno
import selectors
import socket
import time
from collections import deque
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from gunicorn.workers.gthread import TConn, ThreadWorker  # type: ignore[import-untyped]  # it has no types

from crawler.core.access.request_reading import (
    BODY_TIMEOUT_S,
    HEAD_TIMEOUT_S,
    Progress,
    path_of,
    progress_of,
    upload_seconds_left,
)

MAX_UPLOADS = 3  # large bodies that threads read at a time; further ones wait, unread
SEND_TIMEOUT_S = 30.0  # for a client to take one piece of a response
LINGER_S = 2.0  # after a response, for the client to close (RFC 9112, 9.6)
LINGER_BYTES = 8 * 1024 * 1024  # of a body that was refused, read and dropped meanwhile
RECEIVE_BYTES = 64 * 1024
CROWDED = 0.9  # of the connections: above, the ones that have taken longest to send are closed
OWN_THREADS = {b"/healthz": 1, b"/readyz": 1}

MAX_LINGERING = 250

_PASSING = {errno.EAGAIN, errno.EWOULDBLOCK, errno.ECONNABORTED, errno.EMFILE, errno.ENFILE}
"""Errors of `accept` after which the next one may succeed."""
_REFUSALS = {
    Progress.HEAD: b"408 Request Timeout",
    Progress.BODY: b"408 Request Timeout",
    Progress.TOO_LARGE: b"431 Request Header Fields Too Large",
}


class Connection(TConn):  # type: ignore[misc]  # it has no types
    """A connection, and what has arrived of its next request."""

    def __init__(self, worker: DeadlineWorker, *args: Any) -> None:
        super().__init__(*args)
        self.worker = worker
        self.received = bytearray()
        self.progress = Progress.HEAD
        self.deadline = 0.0  # on the monotonic clock, for reads by the loop

    def close(self, graceful: bool = False) -> None:
        """gunicorn's own waits up to two seconds for the client, in the loop that serves all others."""
        if graceful:
            self.worker.linger(self.sock)
        else:
            super().close()


class PacedSocket:
    """A socket from which a thread reads a large body: TimeoutError if the client sends too slowly."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock, self._received, self._waited = sock, 0, 0.0

    def recv(self, size: int) -> bytes:
        left = upload_seconds_left(self._received, self._waited)
        if left <= 0:
            raise TimeoutError("the client sends its request too slowly")
        began = time.monotonic()
        self._sock.settimeout(left)
        try:
            data = self._sock.recv(size)
        finally:
            self._waited += time.monotonic() - began
            self._sock.settimeout(SEND_TIMEOUT_S)
        self._received += len(data)
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sock, name)


@dataclass
class _LingeringConnection:
    """A connection whose response has been sent."""

    sock: socket.socket
    deadline: float
    drained: int = 0


class DeadlineWorker(ThreadWorker):  # type: ignore[misc]  # it has no types
    """All methods but `handle` and `handle_request` are called by the loop, in one thread."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._receiving = dict[Connection, None]()  # in the order in which they began to send
        self._lingering = dict[int, _LingeringConnection]()
        self._uploads = 0
        self._uploads_waiting = deque[Connection]()
        self._own_threads = dict[bytes, ThreadPoolExecutor]()

    def init_process(self) -> None:
        self._own_threads = {path: ThreadPoolExecutor(number) for path, number in OWN_THREADS.items()}
        super().init_process()

    def run(self) -> None:
        super().run()
        for pool in self._own_threads.values():
            pool.shutdown(wait=False)

    def accept(self, listener: Any) -> None:
        try:
            sock, client = listener.accept()
        except OSError as error:
            if error.errno in _PASSING:
                return
            raise
        self.nr_conns += 1
        conn = Connection(self, self.cfg, sock, client, listener.getsockname())
        conn.data_ready = True  # when a thread gets it
        self.enqueue_req(conn)

    def on_client_socket_readable(self, conn: Connection, client: Any) -> None:
        """A connection that was kept alive sends its next request."""
        self.poller.unregister(client)
        self.keepalived_conns.remove(conn)
        self.enqueue_req(conn)

    def enqueue_req(self, conn: Connection) -> None:
        """Read its next request, which may have begun to arrive behind the last one."""
        conn.received = bytearray(conn.parser.unreader.take_buffered() if conn.parser else b"")
        conn.progress, conn.deadline = Progress.HEAD, time.monotonic() + HEAD_TIMEOUT_S
        conn.sock.setblocking(False)
        self._receiving[conn] = None
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._receive, conn))
        if conn.received:
            self._go_on(conn)

    def _receive(self, conn: Connection, _sock: Any) -> None:
        try:
            data = conn.sock.recv(RECEIVE_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self._drop(conn)
            return
        conn.received += data
        self._go_on(conn)

    def _go_on(self, conn: Connection) -> None:
        before, conn.progress = conn.progress, progress_of(conn.received)
        match conn.progress:
            case Progress.TOO_LARGE:
                self._refuse(conn)
            case Progress.BODY if before is Progress.HEAD:
                conn.deadline = time.monotonic() + BODY_TIMEOUT_S
            case Progress.COMPLETE:
                self._forget(conn)
                self._submit(conn)
            case Progress.UPLOAD:
                self._forget(conn)
                self._uploads_waiting.append(conn)
                self._start_uploads()

    def _start_uploads(self) -> None:
        while self._uploads_waiting and self._uploads < MAX_UPLOADS:
            self._uploads += 1
            self._submit(self._uploads_waiting.popleft())

    def _submit(self, conn: Connection) -> None:
        pool: Executor = self._own_threads.get(path_of(conn.received)) or self.tpool
        done = pool.submit(self.handle, conn)
        done.add_done_callback(lambda future: self.method_queue.defer(self.finish_request, conn, future))

    def handle(self, conn: Connection) -> Any:
        conn.init()
        conn.parser.unreader.unread(bytes(conn.received))
        conn.parser.unreader.sock = PacedSocket(conn.sock)
        conn.received.clear()
        return super().handle(conn)

    def handle_request(self, req: Any, conn: Connection) -> Any:
        conn.sock.settimeout(SEND_TIMEOUT_S)
        if conn.progress is Progress.UPLOAD:
            req.force_close()  # the view may have refused it unread
        try:
            return super().handle_request(req, conn)
        except TimeoutError:
            self.log.debug("Closing the connection of a client that does not read.")
            return False

    def finish_request(self, conn: Connection, future: Future[Any]) -> None:
        if conn.progress is Progress.UPLOAD:
            self._uploads -= 1
            self._start_uploads()
        super().finish_request(conn, future)

    def murder_pending(self) -> None:
        """Called each second: close the connections whose deadline has passed, and the slowest of too many."""
        now = time.monotonic()
        for conn in [conn for conn in self._receiving if conn.deadline <= now]:
            self._refuse(conn)
        for conn in [conn for conn in self._receiving if not (self.alive or conn.received)]:
            self._drop(conn)
        while self.nr_conns > CROWDED * self.worker_connections and self._receiving:
            self._drop(next(iter(self._receiving)))
        for lingering in [each for each in self._lingering.values() if each.deadline <= now]:
            self._end(lingering)

    def _forget(self, conn: Connection) -> None:
        self._receiving.pop(conn)
        self.poller.unregister(conn.sock)

    def _drop(self, conn: Connection) -> None:
        self._forget(conn)
        self.nr_conns -= 1
        conn.close()

    def _refuse(self, conn: Connection) -> None:
        """Close it with a response, unless nothing has arrived: browsers open connections in advance."""
        self._forget(conn)
        self.nr_conns -= 1
        if not conn.received:
            conn.close()
            return
        status = _REFUSALS[conn.progress]
        try:
            conn.sock.send(b"HTTP/1.1 " + status + b"\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        except OSError:
            conn.close()
        else:
            conn.close(graceful=True)

    def linger(self, sock: socket.socket) -> None:
        """Send the end, then drop what still arrives until the client closes: an immediate close would make the kernel
        reset the connection, which can cost the client the response."""
        try:
            sock.shutdown(socket.SHUT_WR)
            sock.setblocking(False)
            self.poller.register(sock, selectors.EVENT_READ, self._drain)
        except (OSError, ValueError):
            sock.close()
            return
        if len(self._lingering) >= MAX_LINGERING:
            self._end(next(iter(self._lingering.values())))
        self._lingering[sock.fileno()] = _LingeringConnection(sock, time.monotonic() + LINGER_S)

    def _drain(self, sock: socket.socket) -> None:
        lingering = self._lingering[sock.fileno()]
        try:
            data = sock.recv(RECEIVE_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        lingering.drained += len(data)
        if not data or lingering.drained > LINGER_BYTES:
            self._end(lingering)

    def _end(self, lingering: _LingeringConnection) -> None:
        del self._lingering[lingering.sock.fileno()]
        self.poller.unregister(lingering.sock)
        lingering.sock.close()
