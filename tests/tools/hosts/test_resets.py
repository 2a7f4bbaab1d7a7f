"""A request that was given up while its host was cut off does not reach the site afterwards."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

import pytest

from crawler.http.resettable import ResettableSocket
from tests.tools.hosts.test_network import hosts
from tools.hosts.host import Host
from tools.hosts.network import inside

__all__ = ["hosts"]

CUT_SECONDS = 2.0
REPEATED_SECONDS = 4.0  # after which a kernel repeats what it sent three seconds before


def shut_down(sock: ResettableSocket) -> None:
    """As a thread can without a reset."""
    sock.shutdown(socket.SHUT_RDWR)


@pytest.mark.long
@pytest.mark.parametrize(
    ("give_up", "arrives"),
    [(shut_down, b"request"), (ResettableSocket.reset, b""), (ResettableSocket.close, b"")],
    ids=["shut down", "reset", "closed"],
)
def test_what_was_given_up_is_not_repeated(
    hosts: tuple[Host, Host], give_up: Callable[[ResettableSocket], None], arrives: bytes
) -> None:
    worker, site = hosts
    listener = inside(site.pid, lambda: socket.create_server((site.address, 80)))
    client = inside(worker.pid, lambda: ResettableSocket(socket.AF_INET))
    client.connect((site.address, 80))
    server = listener.accept()[0]
    with client, server, listener:
        worker.cut()
        client.sendall(b"request")
        time.sleep(CUT_SECONDS)
        give_up(client)
        worker.join()
        server.settimeout(REPEATED_SECONDS)
        try:
            found = server.recv(99)
        except TimeoutError:
            found = b""
    assert found == arrives
