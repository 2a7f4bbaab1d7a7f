"""Addresses are judged and certificates checked for each connection."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from crawler.core.outcomes import Outcome
from crawler.fetching.fetcher import Limits
from crawler.fetching.guard import Guard
from crawler.fetching.http import HttpFetcher
from tests.fetching.asking import LOOPBACK
from tests.fetching.secure import as_site_test, trusting_the_test
from tests.fetching.server import Server, Then, page


def test_a_private_address_is_not_asked() -> None:
    with Server({"/": page()}) as server, HttpFetcher(Guard(), "Tester/1") as fetcher:
        fetched = fetcher.get(f"{server.origin}/")
    assert (fetched.outcome, fetched.requests) == (Outcome.PRIVATE_ADDRESS, 0)
    assert fetched.error == (
        '127.0.0.1 is a private address; allow it under "Private networks", with --allow-private '
        "or by CRAWLER_PRIVATE_HOSTS"
    )
    assert server.connections == 0


@pytest.mark.parametrize(
    "host", ["127.1", "0x7f.1", "2130706433", "0177.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0"]
)
def test_no_spelling_of_a_private_address_is_asked(host: str) -> None:
    with Server({"/": page()}) as server, HttpFetcher(Guard(), "Tester/1") as fetcher:
        fetched = fetcher.get(f"http://{host}:{server.port}/")
    assert fetched.outcome is Outcome.PRIVATE_ADDRESS
    assert server.connections == 0


class Names:
    """A name server that gives one answer after another; the last for ever."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, host: str, port: int, **kwargs: Any) -> list[tuple[Any, ...]]:
        self.asked.append(host)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in answer.split()]


def test_the_checked_address_is_the_one_connected_to() -> None:
    names = Names("127.0.0.1", "127.0.0.2")  # whoever looks again is led astray
    with (
        Server({"/": page()}) as server,
        HttpFetcher(Guard(("127.0.0.1",), resolver=names), "Tester/1") as fetcher,
    ):
        fetched = fetcher.get(f"http://site.test:{server.port}/")
    assert fetched.outcome is Outcome.SUCCESS
    assert names.asked == ["site.test"]
    assert f"Host: site.test:{server.port}" in server.requests[0]


def test_a_later_connection_is_judged_anew() -> None:
    names = Names("127.0.0.1", "127.0.0.2")
    with (
        Server({"/": page(then=Then.CLOSE, connection="close")}) as server,
        HttpFetcher(Guard(("127.0.0.1",), resolver=names), "Tester/1") as fetcher,
    ):
        outcomes = [fetcher.get(f"http://site.test:{server.port}/").outcome for _ in range(2)]
    assert outcomes == [Outcome.SUCCESS, Outcome.PRIVATE_ADDRESS]
    assert server.connections == 1


def test_one_private_address_among_several_refuses_the_host() -> None:
    with HttpFetcher(Guard(resolver=Names("1.1.1.1 10.0.0.1")), "Tester/1") as fetcher:
        assert fetcher.get("http://site.test/").outcome is Outcome.PRIVATE_ADDRESS


def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    names = Names("127.0.0.2 127.0.0.1")  # nobody listens at the first
    with (
        Server({"/": page()}) as server,
        HttpFetcher(Guard(("127.0.0.0/8",), resolver=names), "Tester/1") as fetcher,
    ):
        assert fetcher.get(f"http://site.test:{server.port}/").outcome is Outcome.SUCCESS


def tls_server() -> Server:
    return Server({"/": page()}, tls=as_site_test())


def test_tls_goes_by_the_name_and_the_connection_by_the_address() -> None:
    guard = Guard(("127.0.0.1",), resolver=Names("127.0.0.1"))
    with tls_server() as server, HttpFetcher(guard, "Tester/1", trust=trusting_the_test) as fetcher:
        fetched = [fetcher.get(f"https://site.test:{server.port}/") for _ in range(2)]
    assert [one.body for one in fetched] == [b"<p>hello"] * 2
    assert server.connections == 1


@pytest.mark.parametrize(
    ("host", "trust", "detail"),
    [
        ("site.test", None, "self-signed certificate"),
        ("other.test", trusting_the_test, "not valid for 'other.test'"),
    ],
)
def test_a_certificate_that_cannot_be_trusted(host: str, trust: Any, detail: str) -> None:
    guard = Guard(("127.0.0.1",), resolver=Names("127.0.0.1"))
    chosen = {"trust": trust} if trust else {}
    with tls_server() as server, HttpFetcher(guard, "Tester/1", **chosen) as fetcher:
        fetched = fetcher.get(f"https://{host}:{server.port}/")
    assert (fetched.outcome, fetched.http_status, fetched.requests) == (Outcome.TLS, None, 0)
    assert detail in fetched.error


def test_a_server_that_speaks_no_tls() -> None:
    with Server({}, greeting=b"220 mail.test\r\n") as server, HttpFetcher(LOOPBACK, "Tester/1") as fetcher:
        assert fetcher.get(f"https://127.0.0.1:{server.port}/").outcome is Outcome.TLS


def test_a_handshake_that_never_ends_has_its_time() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        HttpFetcher(LOOPBACK, "Tester/1", Limits(connect_seconds=0.2)) as fetcher,
    ):
        assert fetcher.get(f"https://127.0.0.1:{silent.getsockname()[1]}/").outcome is Outcome.TIMEOUT
