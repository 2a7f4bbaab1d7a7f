"""Malformed, hostile and endless responses: the result, and what happens to the connection."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.core.pages.outcomes import Outcome
from crawler.http.client import HttpFetcher
from crawler.http.fetcher import FetchResult, Limits
from crawler.http.guard import Guard
from tests.http.differences import DIFFERENCES, over
from tests.http.secure import EVERY_NAME, as_site_test, trusting_the_test
from tests.http.server import Reply, Server, Then, chunked, page

LOOPBACK = Guard(("127.0.0.1",))
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n"


def ask_twice(reply: Reply, limits: Limits | None = None) -> tuple[FetchResult, FetchResult, int]:
    """The odd page, an ordinary one behind it, and how many connections it took."""
    site = {"/odd": reply, "/": page("<p>next")}
    with Server(site) as server, HttpFetcher(LOOPBACK, "Tester/1", limits) as fetcher:
        odd, following = fetcher.get(f"{server.origin}/odd"), fetcher.get(f"{server.origin}/")
        return odd, following, server.connections


@pytest.mark.parametrize(
    "reply",
    [
        Reply(HEAD + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\n<p>"),
        Reply(HEAD.replace(b"\r", b"") + b"Content-Length: 3\n\n<p>"),
        Reply(HEAD + b"X: a\r\n folded\r\nContent-Length: 3\r\n\r\n<p>"),
        Reply(b"HTTP/1.1 " + HEAD[9:].lower() + b"content-length: 3\r\n\r\n<p>"),
        Reply(CHUNKED + b'\r\n1;a="b"\r\n<\r\n2 \r\np>\r\n0;c\r\nX: y\r\n\r\n'),
        Reply(b"HTTP/1.1 100 Continue\r\n\r\n" * 100 + HEAD + b"Content-Length: 3\r\n\r\n<p>"),
    ],
)
def test_what_is_odd_and_clear_is_read_and_the_connection_kept(reply: Reply) -> None:
    odd, following, connections = ask_twice(reply)
    assert (odd.outcome, odd.body, following.body) == (Outcome.SUCCESS, b"<p>", b"<p>next")
    assert connections == 1


@pytest.mark.parametrize(
    ("reply", "case"),
    [
        (Reply(HEAD + b"Content-Length: 3\r\nno colon\r\n\r\n<p>"), "a header line without a colon"),
        (
            Reply(HEAD + b"no colon\r\nContent-Length: 3\r\n\r\n<p>"),
            "a header that cannot be read before `Content-Length`",
        ),
        (Reply(HEAD + b"X: a\x00b\r\nContent-Length: 3\r\n\r\n<p>"), "a NUL in a header"),
        (Reply(HEAD.lower() + b"content-length: 3\r\n\r\n<p>"), "a status line in lower case"),
        (
            Reply(HEAD + b"Content-Length: " + b"0" * 5000 + b"3\r\n\r\n<p>"),
            "a `Content-Length` of thousands of digits",
        ),
    ],
)
def test_some_of_what_is_odd_is_not_read_over_every_transport(reply: Reply, case: str, http_client: str) -> None:
    odd, following, connections = ask_twice(reply, Limits(read_seconds=0.5))
    assert odd.outcome is over(http_client, case, Outcome.SUCCESS)
    assert (odd.body, following.body) == (b"<p>" if odd.outcome is Outcome.SUCCESS else b"", b"<p>next")
    other = DIFFERENCES[case].over(http_client)
    assert connections == (1 if other is None or "are dropped" in other.text else 2)


@pytest.mark.parametrize("behind", [b"x", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n<p>no"])
@pytest.mark.parametrize("tls", [False, True])
def test_what_stands_behind_an_answer_is_not_taken_for_the_next(behind: bytes, tls: bool) -> None:
    site = {"/odd": Reply(page("<p>odd").data + behind), "/": page("<p>next")}
    scheme, context = ("https", as_site_test()) if tls else ("http", None)
    with (
        Server(site, tls=context) as server,
        HttpFetcher(EVERY_NAME, "Tester/1", trust=trusting_the_test) as fetcher,
    ):
        bodies = [fetcher.get(f"{scheme}://site.test:{server.port}{path}").body for path in ("/odd", "/")]
    assert bodies == [b"<p>odd", b"<p>next"]
    assert server.connections == 2


def test_what_comes_later_is_not_taken_for_the_next_answer_either() -> None:
    with (
        Server(
            {"/odd": Reply(page("<p>odd").data, Then.DRIP, b"HTTP/1.1 404 No\r\n\r\n"), "/": page("<p>next")}
        ) as server,
        HttpFetcher(LOOPBACK, "Tester/1") as fetcher,
    ):
        fetcher.get(f"{server.origin}/odd")
        time.sleep(0.1)
        assert fetcher.get(f"{server.origin}/").body == b"<p>next"


def test_behind_two_framings_nothing_is_read() -> None:
    both = Reply(CHUNKED + b"Content-Length: 3\r\n\r\n5\r\n<p>ab\r\n0\r\n\r\n")
    odd, following, connections = ask_twice(both)
    assert (odd.body, following.body, connections) == (b"<p>ab", b"<p>next", 2)


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(CHUNKED + b"\r\n", Then.DRIP, b"800\r\n" + b"x" * 2048 + b"\r\n"), Outcome.TOO_LARGE),
        (Reply(CHUNKED + b"\r\n3;", Then.DRIP, b"x" * 50_000), Outcome.TOO_LARGE),
        (Reply(CHUNKED + b"\r\n", Then.DRIP, b"1;" + b"x" * 60_000 + b"\r\nx\r\n"), Outcome.TOO_LARGE),
        (Reply(CHUNKED + b"\r\n0\r\nX: ", Then.DRIP, b"x" * 50_000), Outcome.TOO_LARGE),
        (Reply(b"", Then.DRIP, b"HTTP/1.1 103 x\r\n\r\n" * 2000), Outcome.TOO_LARGE),
        (Reply(HEAD + b"X: a\r\n folded\r\n", Then.DRIP, b"X: y\r\n" * 5000), Outcome.TOO_LARGE),
        (Reply(b"\x15\x03\x01\x00\x02\x02\x46\n", Then.STALL), Outcome.MALFORMED),
        (Reply(b"SSH-2.0-OpenSSH_9.2\r\n", Then.STALL), Outcome.MALFORMED),
        (Reply(b"HTTP/1.1 two hundred\r\n", Then.STALL), Outcome.MALFORMED),
        (Reply(CHUNKED + b"\r\nnone\r\n", Then.STALL), Outcome.MALFORMED),
    ],
)
def test_endless_and_hopeless_answers_are_not_waited_for(reply: Reply, outcome: Outcome) -> None:
    odd, following, _ = ask_twice(reply, Limits(max_body_bytes=10_000))
    assert odd.outcome is outcome
    assert odd.elapsed_ms < 2000
    assert following.body == b"<p>next"


@pytest.mark.parametrize(
    ("reply", "case"),
    [
        (Reply(HEAD + b"no colon\r\n", Then.DRIP, b"X: y\r\n" * 5000), "a header line without a colon and no end"),
        (Reply(b"", Then.DRIP, b"\r\n" * 20_000), "line ends without end before the head"),
    ],
)
def test_neither_is_what_is_odd_and_endless(reply: Reply, case: str, http_client: str) -> None:
    odd, _, _ = ask_twice(reply)
    assert odd.outcome is over(http_client, case, Outcome.TOO_LARGE)
    assert odd.elapsed_ms < 2000


def test_an_unwanted_body_that_is_framing_for_the_most_part_is_hung_up_on() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nTransfer-Encoding: chunked\r\n\r\n"
    odd, following, _ = ask_twice(Reply(head, Then.DRIP, b"1;" + b"x" * 60_000 + b"\r\nx\r\n"), Limits(total_seconds=2))
    assert odd.bytes_read < 10
    assert (odd.outcome, following.body) == (Outcome.SUCCESS, b"<p>next")


def test_a_chunked_body_is_counted_without_its_framing() -> None:
    odd, _, _ = ask_twice(chunked(b"<p>", b"hello"))
    assert (odd.body, odd.bytes_read) == (b"<p>hello", 8)


@given(st.binary(max_size=200), st.sampled_from([b"", HEAD, CHUNKED + b"\r\n", HEAD + b"Content-Length: 9\r\n\r\n"]))
@settings(max_examples=60)
def test_whatever_arrives_the_fetcher_answers_with_an_outcome(data: bytes, head: bytes) -> None:
    with Server({"/": Reply(head + data, Then.CLOSE)}) as server, HttpFetcher(LOOPBACK, "Tester/1") as fetcher:
        for fetched in (fetcher.get(f"{server.origin}/"), fetcher.head(f"{server.origin}/")):
            assert bool(fetched.error) == (fetched.outcome is not Outcome.SUCCESS)
            assert fetched.elapsed_ms < 2000
