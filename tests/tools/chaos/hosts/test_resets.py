"""A request that was given up while its host was cut off does not reach the site afterwards."""

import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crawler.http.resettable import ResettableSocket
from crawler.launch.process_group import Children
from tools.chaos.hosts.host import Host
from tools.chaos.hosts.network import Network, Unavailable, check_usable, inside

CUT_SECONDS = 2.0
REPEATED_SECONDS = 4.0  # after which a kernel repeats what it sent three seconds before


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[tuple[Host, Host]]:
    try:
        check_usable()
    except Unavailable as error:
        pytest.skip(str(error))
    with Children(grace=2.0) as children:
        network = Network(children, tmp_path)
        made = Host(network, "a", 1, tmp_path), Host(network, "b", 2, tmp_path)
        for host in made:
            host.power_on()
        yield made


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
