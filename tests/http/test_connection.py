"""Reuse of a connection, and its time limits."""

import socket

import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.http.client import HttpFetcher
from crawler.http.fetcher import MIB, Limits
from tests.http.asking import HEAD, LOOPBACK, SHORT, ask, ask_each, gzipped
from tests.http.server import Reply, Server, Then, chunked, page


def test_one_connection_serves_many_pages() -> None:
    site = {
        "/a": page(),
        "/b": chunked(b"<p>"),
        "/c": page("moved", "301 Moved", location="/"),
        "/d": page("small", content_type="image/png"),
        "/e": chunked(b"small", content_type="image/png"),
        "/f": page("", "204 No Content", content_length=""),
        "/g": page(gzipped(b"<p>"), content_encoding="gzip"),
        "/h": page("", "304 Not Modified", content_length=""),
    }
    fetched, server = ask_each(site, *site, "/missing")
    assert all(one.requests == 1 and not one.error for one in fetched)
    assert server.connections == 1


def test_each_host_keeps_its_own_connection() -> None:
    with (
        Server({"/": page("<p>one")}) as one,
        Server({"/": page("<p>two")}) as two,
        HttpFetcher(LOOPBACK, "Tester/1") as fetcher,
    ):
        bodies = [fetcher.get(f"{server.origin}/").body for server in (one, two, one, two)]
    assert bodies == [b"<p>one", b"<p>two"] * 2
    assert (one.connections, two.connections) == (1, 1)


def test_a_large_unwanted_body_is_hung_up_on() -> None:
    site = {"/a": page(b"x" * 100_000, content_type="image/png"), "/b": page()}
    (image, after), server = ask_each(site, "/a", "/b")
    assert (image.outcome, after.outcome) == (Outcome.SUCCESS, Outcome.SUCCESS)
    assert image.bytes_read == 0
    assert server.connections == 2


@pytest.mark.parametrize("then", [Then.CLOSE, Then.RESET])
def test_a_kept_connection_that_was_closed_meanwhile_is_replaced_once(then: Then) -> None:
    (_, fetched), server = ask_each({"/a": page(), "/b": (Reply(then=then), page("<p>b"))}, "/a", "/b")
    assert (fetched.outcome, fetched.body, fetched.requests) == (Outcome.SUCCESS, b"<p>b", 2)
    assert server.paths() == ["/a", "/b", "/b"]


def test_it_does_not_ask_a_third_time() -> None:
    (_, fetched), server = ask_each({"/a": page(), "/b": Reply(then=Then.CLOSE)}, "/a", "/b")
    assert (fetched.outcome, fetched.requests) == (Outcome.CONNECT, 2)
    assert server.paths() == ["/a", "/b", "/b"]


def test_a_new_connection_that_breaks_is_not_tried_again() -> None:
    [fetched], server = ask_each({"/": Reply(then=Then.CLOSE)}, "/")
    assert (fetched.outcome, fetched.requests) == (Outcome.CONNECT, 1)
    assert server.paths() == ["/"]


def test_what_is_posted_is_never_sent_twice() -> None:
    with Server({"/": (page(), Reply(then=Then.CLOSE))}) as server, HttpFetcher(LOOPBACK, "Tester/1") as fetcher:
        first = fetcher.post(f"{server.origin}/", b"one", {"Content-Type": "text/plain"})
        second = fetcher.post(f"{server.origin}/", b"two", {})
    assert (first.outcome, second.outcome) == (Outcome.SUCCESS, Outcome.CONNECT)
    assert server.bodies == [b"one", b"two"]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b"", Then.STALL),  # silence
        Reply(b"HTTP/1.1 200 O", Then.STALL),
        Reply(HEAD, Then.STALL),
        Reply(HEAD + b"Content-Length: 500\r\n\r\n<p>", Then.STALL),
        Reply(b"", Then.DRIP, b"H"),  # a status line that never ends
        Reply(HEAD, Then.DRIP, b"X"),  # a header that never ends
        Reply(HEAD, Then.DRIP, b"X: y\r\n"),  # headers that never end
        Reply(b"", Then.DRIP, b"HTTP/1.1 103 Early Hints\r\n\r\n"),  # hints that never end
        Reply(HEAD + b"Content-Length: 5000\r\n\r\n", Then.DRIP),
        Reply(HEAD + b"\r\n", Then.DRIP),
        Reply(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", Then.DRIP, b"1\r\nx\r\n"),
        Reply(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", Then.DRIP, b"1"),  # a chunk size that never ends
        Reply(HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzipped(b"")[:10], Then.DRIP, b"\x00\x00\x00\xff\xff"),
    ],
)
def test_the_whole_exchange_has_its_time(reply: Reply) -> None:
    fetched = ask(reply, SHORT)
    assert fetched.outcome is Outcome.TIMEOUT
    assert fetched.error == "not complete after 0.25 seconds"
    assert fetched.elapsed_ms >= 250


def test_a_single_request_may_have_less_time() -> None:
    with (
        Server({"/": page(), "/endless": Reply(HEAD, Then.DRIP)}) as server,
        HttpFetcher(LOOPBACK, "Tester/1", Limits(total_seconds=20)) as fetcher,
    ):
        short = fetcher.get(f"{server.origin}/endless", seconds=0.25)
        head = fetcher.head(f"{server.origin}/endless", seconds=0.25)
        next_one = fetcher.get(f"{server.origin}/")
    assert {short.error, head.error} == {"not complete after 0.25 seconds"}
    assert next_one.outcome is Outcome.SUCCESS


def test_no_request_has_more_time_than_the_limits_give() -> None:
    assert ask(Reply(HEAD, Then.DRIP), SHORT, seconds=20.0).error == "not complete after 0.25 seconds"


def test_silence_between_bytes_has_its_time() -> None:
    fetched = ask(Reply(HEAD + b"Content-Length: 9\r\n\r\n<p>", Then.STALL), Limits(read_seconds=0.1))
    assert (fetched.outcome, fetched.http_status) == (Outcome.TIMEOUT, 200)
    assert fetched.error == "nothing arrived for 0.1 seconds"


def test_a_dripping_unwanted_body_does_not_change_the_outcome() -> None:
    reply = Reply(b"HTTP/1.1 301 Moved\r\nLocation: /b\r\nContent-Length: 5000\r\n\r\n", Then.DRIP)
    assert ask(reply, SHORT).outcome is Outcome.REDIRECT


def test_a_receiver_that_takes_nothing_has_its_time() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as deaf,  # the system takes the connection, and what fits its buffers
        HttpFetcher(LOOPBACK, "Tester/1", Limits(read_seconds=0.1)) as fetcher,
    ):
        posted = fetcher.post(f"http://127.0.0.1:{deaf.getsockname()[1]}/", bytes(32 * MIB), {})
    assert (posted.outcome, posted.http_status, posted.requests) == (Outcome.TIMEOUT, None, 1)
    assert posted.error == "nothing could be sent for 0.1 seconds"


def test_each_page_has_its_own_time() -> None:
    with Server({"/": page()}) as server:
        ticks = iter(range(0, 10_000, 8))
        with HttpFetcher(LOOPBACK, "Tester/1", Limits(total_seconds=100), clock=lambda: float(next(ticks))) as fetcher:
            fetched = [fetcher.get(f"{server.origin}/") for _ in range(10)]
    assert {one.outcome for one in fetched} == {Outcome.SUCCESS}


def test_a_connection_that_is_never_taken_has_its_time() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, socket.socket() as first, socket.socket() as second:
        for taken in (first, second):  # the queue holds these, and nobody accepts them
            taken.setblocking(False)
            taken.connect_ex(full.getsockname())
        limits = Limits(connect_seconds=0.2)
        with HttpFetcher(LOOPBACK, "Tester/1", limits) as fetcher:
            fetched = fetcher.get(f"http://127.0.0.1:{full.getsockname()[1]}/")
    assert (fetched.outcome, fetched.requests) == (Outcome.TIMEOUT, 0)
    assert "0.2 seconds" in fetched.error
