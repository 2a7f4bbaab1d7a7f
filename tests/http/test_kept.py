"""The connection pool: which connections are reused, and when one is closed."""

import socket
import time
from collections.abc import Iterator

import pytest

from crawler.http.connection import MAX_IDLE_CONNECTIONS, Connection, IdleConnections
from crawler.http.fetcher import Limits
from crawler.http.request import Exchange

Pair = tuple[Connection, socket.socket]
"""A connection, and the server's end of it."""


@pytest.fixture
def pairs() -> Iterator[list[Pair]]:
    exchange = Exchange(Limits(), time.monotonic)
    ends = [socket.socketpair() for _ in range(MAX_IDLE_CONNECTIONS + 1)]
    yield [(Connection(ours, exchange), theirs) for ours, theirs in ends]
    for ours, theirs in ends:
        ours.close()
        theirs.close()


def is_closed(theirs: socket.socket) -> bool:
    theirs.setblocking(False)
    try:
        return theirs.recv(1) == b""
    except BlockingIOError:
        return False


def test_a_connection_is_given_out_once(pairs: list[Pair]) -> None:
    kept, connection = IdleConnections[Connection](), pairs[0][0]
    kept.keep("http://a", connection)
    assert (kept.take("http://b"), kept.take("http://a"), kept.take("http://a")) == (None, connection, None)


def test_the_one_longest_unused_makes_room(pairs: list[Pair]) -> None:
    kept = IdleConnections[Connection]()
    for number, (connection, _) in enumerate(pairs[:MAX_IDLE_CONNECTIONS]):
        kept.keep(f"http://{number}", connection)
    kept.keep("http://0", kept.take("http://0") or pairs[0][0])
    kept.keep("http://new", pairs[MAX_IDLE_CONNECTIONS][0])
    assert [is_closed(theirs) for _, theirs in pairs] == [False, True] + [False] * (MAX_IDLE_CONNECTIONS - 1)


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_one_that_was_closed_or_says_what_nobody_asked_for_is_not_used_again(pairs: list[Pair], sent: bytes) -> None:
    kept, (connection, theirs) = IdleConnections[Connection](), pairs[0]
    kept.keep("http://a", connection)
    theirs.sendall(sent)
    theirs.shutdown(socket.SHUT_WR)
    assert kept.take("http://a") is None


def test_all_are_closed_at_the_end(pairs: list[Pair]) -> None:
    kept = IdleConnections[Connection]()
    for number in range(2):
        kept.keep(f"http://{number}", pairs[number][0])
    kept.close()
    assert all(is_closed(theirs) for _, theirs in pairs[:2])
    assert kept.take("http://0") is None


def test_a_server_that_hangs_up_on_a_request_may_have_answered_it(pairs: list[Pair]) -> None:
    connection, theirs = pairs[0]
    theirs.sendall(b"HTTP/1.1 413 Too large\r\n\r\n")
    theirs.close()
    connection.send(b"x")
    assert connection.receive().startswith(b"HTTP/1.1 413")
