"""Connections that libcurl uses: opened, waited for and closed here, so that no guard or limit depends on libcurl."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress

from crawler.http.connection import BUFFER, is_quiet, receive_some, send_all
from crawler.http.event_loop import READABLE, wait_for_socket

Seconds = Callable[[], float]
"""How long to wait. Raises FetchTimeout if a time limit was exceeded."""


SMALL = 4096  # bytes; libcurl has no more to send where it has left so few: they fill no socket pair


class CurlSocket:
    """A connected socket, of which libcurl has a duplicate. Libcurl alone reads and writes."""

    is_pumped = False

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self.for_curl = sock
        self.has_ended = False  # the server closed it, as far as we know
        self.received = 0  # bytes; counted only where we read them
        self._socket = sock

    def taken(self) -> None:
        """Libcurl has its duplicate."""

    def flush(self, seconds: Seconds) -> bool:
        """Send what libcurl has left to be sent, and tell whether it may have more. Raises OSError, TimeoutError."""
        return False

    def wait(self, seconds: Seconds) -> None:
        """Return when libcurl can read. Raises OSError, TimeoutError."""
        wait_for_socket(self._socket, READABLE, seconds())

    def is_idle(self) -> bool:
        """Whether it can be reused: not closed, and without unexpected bytes."""
        return is_quiet(self._socket)

    def close(self) -> None:
        """Libcurl's duplicate ends, too: it finds the connection dead and drops it."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


class PumpedLine(CurlSocket):
    """Libcurl has one end of a socket pair; the bytes between the other end and the server are carried here.

    Given the socket itself, libcurl processes whatever a fast server sends without a check of our limits: session
    tickets, a thousand to a TLS record, or frames of HTTP/2 that belong to no page. So it gets one buffer at a time.
    """

    is_pumped = True

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(sock)
        self._ours, self.for_curl = socket.socketpair()
        self._ours.setblocking(False)
        self._left = b""  # for libcurl, which has not taken it yet

    def taken(self) -> None:
        self.for_curl.close()

    def flush(self, seconds: Seconds) -> bool:
        try:
            data = self._ours.recv(BUFFER)
        except BlockingIOError:
            return False
        if data:
            send_all(self._socket, data, seconds)
        return len(data) > SMALL

    def wait(self, seconds: Seconds) -> None:
        if not self._left:
            self._left = receive_some(self._socket, BUFFER, seconds)
            self.received += len(self._left)
            self.has_ended = not self._left
        if self.has_ended:
            self._ours.shutdown(socket.SHUT_WR)
        else:
            self._left = self._left[self._ours.send(self._left) :]

    def is_idle(self) -> bool:
        return not self._left and super().is_idle()

    def close(self) -> None:
        with suppress(OSError):
            self.flush(lambda: 0.0)  # the TLS alert that explains a failure
        super().close()
        self._ours.close()
        self.for_curl.close()
