"""A connection is ended by any thread, its peer hears of it, and the kernel repeats nothing."""

import select
import socket
import sys
import threading
from collections.abc import Iterator

import pytest

from crawler.http.resettable import ResettableSocket

PATIENCE = 10.0  # seconds

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can reset a connection that another thread uses")
Pair = tuple[ResettableSocket, socket.socket]


@pytest.fixture(params=[socket.AF_INET, socket.AF_INET6], ids=["IPv4", "IPv6"])
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    """Both ends of a connection."""
    address = "127.0.0.1" if request.param == socket.AF_INET else "::1"
    try:
        listener = socket.create_server((address, 0), family=request.param)
    except OSError as error:
        pytest.skip(f"{address} cannot be used here: {error.strerror}")
    with listener, ResettableSocket(request.param) as ours:
        ours.connect(listener.getsockname())
        theirs = listener.accept()[0]
        theirs.settimeout(PATIENCE)
        with theirs:
            yield ours, theirs


def received(sock: socket.socket) -> tuple[int, bool]:
    """Bytes up to the end, and whether that was a reset."""
    size = 0
    try:
        while data := sock.recv(65536):
            size += len(data)
    except ConnectionResetError:
        return size, True
    return size, False


@linux
def test_a_reset_wakes_what_waits_for_the_socket_and_is_seen_by_the_peer(pair: Pair) -> None:
    ours, theirs = pair
    ours.setblocking(False)
    poll = select.poll()
    poll.register(ours, select.POLLIN)
    threading.Timer(0.05, ours.reset).start()
    assert poll.poll(PATIENCE * 1000)
    with pytest.raises(ConnectionResetError):
        ours.recv(1)
    assert received(theirs) == (0, True)
    assert ours.fileno() >= 0  # it is closed by the thread to which it belongs


def test_nothing_can_be_sent_after_a_reset(pair: Pair) -> None:
    ours, theirs = pair
    ours.reset()
    with pytest.raises(ConnectionError):
        ours.send(b"late")
    assert received(theirs)[0] == 0


def test_a_socket_that_is_closed_is_left_alone(pair: Pair) -> None:
    ours, _ = pair
    ours.close()
    ours.reset()


def test_a_connection_on_which_all_has_arrived_is_closed_in_order(pair: Pair) -> None:
    ours, theirs = pair
    ours.sendall(b"all")
    assert theirs.recv(9) == b"all"
    ours.close()
    assert received(theirs) == (0, False)


@linux
def test_what_has_not_arrived_when_it_is_closed_is_not_sent_any_more(pair: Pair) -> None:
    """A request to a host that is silent would else be repeated for minutes."""
    ours, theirs = pair
    ours.setblocking(False)
    sent = 0
    while select.select([], [ours], [], 0.2)[1]:  # until the peer, who does not read, takes no more
        sent += ours.send(bytes(65536))
    ours.close()
    size, was_reset = received(theirs)
    assert was_reset
    assert size < sent
