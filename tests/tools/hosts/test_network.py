"""Hosts of namespaces reach each other until they are cut off, and then they hear nothing at all."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.launch.process_group import Children
from tools.chaos.processes import send
from tools.hosts.host import Host
from tools.hosts.network import Network, Unavailable, check_usable, inside

PATIENCE = 20.0  # seconds for a packet
SILENCE = 0.5  # seconds in which a reset would have come


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


def connected(a: Host, b: Host) -> tuple[socket.socket, socket.socket, socket.socket]:
    """Both ends of a connection, and the listener."""
    listener = inside(b.pid, lambda: socket.create_server((b.address, 80)))
    client = inside(a.pid, lambda: socket.create_connection((b.address, 80), timeout=PATIENCE))
    return client, listener.accept()[0], listener


def test_a_host_that_is_cut_off_hears_nothing_until_it_is_joined_again(hosts: tuple[Host, Host]) -> None:
    a, b = hosts
    client, server, listener = connected(a, b)
    with client, server, listener:
        b.cut()
        server.sendall(b"late")
        client.settimeout(SILENCE)
        with pytest.raises(TimeoutError):
            client.recv(9)
        b.join()
        client.settimeout(PATIENCE)
        assert client.recv(9) == b"late"


def test_a_host_that_vanishes_says_nothing_and_can_come_back(hosts: tuple[Host, Host]) -> None:
    a, b = hosts
    client, server, listener = connected(a, b)
    with client:
        b.vanish()
        server.close()
        listener.close()
        client.settimeout(SILENCE)
        with pytest.raises(TimeoutError):
            client.recv(9)
        b.power_on()
        client.settimeout(PATIENCE)
        client.sendall(b"x")
        with pytest.raises(ConnectionError):  # its kernel knows nothing of the connection
            client.recv(9)


def test_a_host_stands_still_while_it_is_frozen(hosts: tuple[Host, Host]) -> None:
    a, _ = hosts
    send(a.freeze(), signal.SIGCONT)
    assert a.processes() == []  # no service runs on it
