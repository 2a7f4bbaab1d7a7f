"""A request that its process gives up ends at once, and is not an error of the server."""

import socket
import threading
import time
from collections.abc import Callable

import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.http.client import HttpFetcher
from crawler.http.errors import RequestAborted
from crawler.http.event_loop import EventLoop
from crawler.http.fetcher import FetchResult, Limits
from tests.http.asking import HEAD, LOOPBACK
from tests.http.server import Reply, Server, Then, page

LONG = 60.0  # seconds a request may take
LIMITS = Limits(connect_seconds=LONG, read_seconds=LONG, total_seconds=LONG)


def given_up(url: str, when: Callable[[], bool]) -> list[FetchResult]:
    """What comes of a request that is given up as soon as something is the case."""
    fetched: list[FetchResult] = []
    deadline = time.monotonic() + LONG / 4
    with HttpFetcher(LOOPBACK, "Tester/1", LIMITS) as fetcher, EventLoop() as loop:
        loop.spawn(lambda: fetched.append(fetcher.get(url)))
        while not fetched and not when():
            assert time.monotonic() < deadline
            loop.run(0.01)
        loop.throw(RequestAborted)
    return fetched


SLOW = pytest.mark.parametrize(
    "reply",
    [
        Reply(then=Then.STALL),
        Reply(b"HTTP/1.1 200 OK\r\nContent-", then=Then.STALL),
        Reply(HEAD + b"Content-Length: 100\r\n\r\n<p>", then=Then.STALL),
        Reply(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", then=Then.DRIP, drop=b"1\r\nx\r\n"),
        Reply(HEAD + b"\r\n<p>a body that ends with its connection", then=Then.STALL),
    ],
    ids=["no byte", "within the head", "within the body", "dripping chunks", "body without a length"],
)


@SLOW
def test_it_is_given_up_while_the_server_takes_its_time(reply: Reply) -> None:
    with Server({"/": reply}) as server, pytest.raises(RequestAborted):
        given_up(f"{server.origin}/", lambda: bool(server.requests))
    assert len(server.requests) == 1  # the connection was not found closed, and not asked a second time


def test_it_is_given_up_while_it_connects() -> None:
    """A listener that accepts nobody: once its queue is full, the system does not answer for it any more."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        where = listener.getsockname()
        waiting = [socket.socket() for _ in range(3)]
        try:
            for sock in waiting:
                sock.setblocking(False)
                sock.connect_ex(where)
            began = threading.Event()
            threading.Timer(0.3, began.set).start()  # into the connection, as far as can be told
            with pytest.raises(RequestAborted):
                given_up(f"http://127.0.0.1:{where[1]}/", began.is_set)
        finally:
            for sock in waiting:
                sock.close()


def test_it_is_given_up_within_the_tls_handshake() -> None:
    with Server({}, greeting=b"") as server, pytest.raises(RequestAborted):
        given_up(f"https://127.0.0.1:{server.port}/", lambda: server.connections == 1)


def test_a_page_that_is_complete_is_kept() -> None:
    with Server({"/": page("<p>there")}) as server:
        (fetched,) = given_up(f"{server.origin}/", lambda: False)
    assert (fetched.outcome, fetched.body) == (Outcome.SUCCESS, b"<p>there")


# By another thread, while the one of the loop may be busy


def aborting(fetcher: HttpFetcher, when: Callable[[], bool]) -> threading.Thread:
    """Aborts the fetcher's request as soon as something is the case."""

    def wait() -> None:
        while not when():
            time.sleep(0.01)
        fetcher.abort()

    return threading.Thread(target=wait, daemon=True)


def run_until(loop: EventLoop, deadline: float) -> None:
    while time.monotonic() < deadline:
        loop.run(LONG)


@SLOW
def test_another_thread_ends_it_and_wakes_the_task(reply: Reply) -> None:
    with Server({"/": reply}) as server, HttpFetcher(LOOPBACK, "Tester/1", LIMITS) as fetcher, EventLoop() as loop:
        loop.spawn(lambda: fetcher.get(f"{server.origin}/"))
        aborting(fetcher, lambda: bool(server.requests)).start()
        began = time.monotonic()
        with pytest.raises(RequestAborted):
            run_until(loop, began + LONG / 4)
    assert time.monotonic() - began < LONG / 4
    assert len(server.requests) == 1


def test_another_thread_ends_it_outside_a_loop() -> None:
    with Server({"/": Reply(then=Then.STALL)}) as server, HttpFetcher(LOOPBACK, "Tester/1", LIMITS) as fetcher:
        aborting(fetcher, lambda: bool(server.requests)).start()
        with pytest.raises(RequestAborted):
            fetcher.get(f"{server.origin}/")


def test_the_next_request_is_sent_over_a_new_connection() -> None:
    with Server({"/": page("<p>there")}) as server, HttpFetcher(LOOPBACK, "Tester/1", LIMITS) as fetcher:
        fetcher.get(f"{server.origin}/")
        fetcher.abort()
        assert fetcher.get(f"{server.origin}/").outcome is Outcome.SUCCESS
        assert server.connections == 2


@pytest.mark.parametrize("steps", range(3))
def test_a_request_that_may_not_continue_is_not_sent(steps: int) -> None:
    """Not even when that is known only once the connection is open."""
    answers = iter([True] * steps)
    sent: list[str] = []
    with Server({"/": page("<p>there")}) as server, HttpFetcher(LOOPBACK, "Tester/1", LIMITS) as fetcher:
        fetcher.serve(lambda: sent.append("/"), lambda: next(answers, False))
        with pytest.raises(RequestAborted):
            fetcher.get(f"{server.origin}/")
    assert (server.requests, sent) == ([], [])


def test_nor_is_one_over_a_connection_that_was_kept() -> None:
    with Server({"/": page("<p>there")}) as server, HttpFetcher(LOOPBACK, "Tester/1", LIMITS) as fetcher:
        fetcher.get(f"{server.origin}/")
        fetcher.serve(lambda: None, lambda: False)
        with pytest.raises(RequestAborted):
            fetcher.get(f"{server.origin}/")
    assert len(server.requests) == 1
