"""Sockets whose connection any thread can end, and after whose end the kernel sends nothing more.

A socket that is closed or shut down while its peer is silent goes on in the kernel: a request that was not acknowledged
is repeated for minutes, and may reach the host long after the process gave it up. These are reset instead.
"""

from __future__ import annotations

import ctypes
import fcntl
import socket
import struct
import termios
import threading
from contextlib import suppress

_library = ctypes.CDLL(None)
_UNSPECIFIED = struct.pack("=H14x", socket.AF_UNSPEC)  # a sockaddr; on Linux, connecting to it resets a connection


class ResettableSocket(socket.socket):
    """Of TCP. All methods but `reset` belong to one thread."""

    def __init__(self, family: int) -> None:
        super().__init__(family, socket.SOCK_STREAM)
        self._closing = threading.Lock()  # the number of a closed descriptor may be another file's a moment later

    def reset(self) -> None:
        """End the connection at once: the peer gets a reset if it can be reached, waits for the socket end, and nothing
        is sent any more. The descriptor stays open. Called by any thread. Where the system has no such call (elsewhere
        than on Linux), the connection is shut down, and what was sent may be repeated."""
        with self._closing:
            if self.fileno() >= 0 and not self._disconnect():
                with suppress(OSError):
                    self.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with self._closing:
            if self.fileno() >= 0 and self._has_unacknowledged():
                self._disconnect()
            super().close()

    def _disconnect(self) -> bool:
        """Whether it could be done."""
        return bool(_library.connect(self.fileno(), _UNSPECIFIED, len(_UNSPECIFIED)) == 0)

    def _has_unacknowledged(self) -> bool:
        """Whether the peer has not acknowledged all bytes; the end of the stream counts as one."""
        with suppress(OSError):
            return bool(struct.unpack("i", fcntl.ioctl(self.fileno(), termios.TIOCOUTQ, bytes(4)))[0] > 1)
        return False
