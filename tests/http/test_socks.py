"""The HTTP client through a real SOCKS5 proxy on loopback."""

from typing import Any

import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.core.urls.addresses import Proxy
from crawler.http.client import HttpFetcher
from crawler.http.connector import Gateway
from crawler.http.fetcher import Limits
from crawler.http.guard import Guard
from tests.http.secure import EVERY_NAME, as_site_test, on_loopback, trusting_the_test
from tests.http.server import Server, page
from tests.http.socks_server import SocksServer

ANY_ADDRESS = Guard(("*",))


def through(proxy: SocksServer, known: str = "", guard: Guard = EVERY_NAME, **kwargs: Any) -> HttpFetcher:
    gateway = Gateway(Proxy.parse(f"socks5://{known}127.0.0.1:{proxy.port}"), ANY_ADDRESS)
    return HttpFetcher(guard, "Tester/1", gateway=gateway, trust=trusting_the_test, **kwargs)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_pages_come_through_it_over_one_connection(scheme: str) -> None:
    tls = as_site_test() if scheme == "https" else None
    site = {"/a?b": page("<p>a"), "/c": page("<p>c")}
    with Server(site, tls=tls) as server, SocksServer() as proxy, through(proxy) as fetcher:
        fetched = [fetcher.get(f"{scheme}://site.test:{server.port}{path}") for path in site]
    assert [one.body for one in fetched] == [b"<p>a", b"<p>c"]
    assert server.paths() == ["/a?b", "/c"]
    assert proxy.targets == [f"127.0.0.1:{server.port}"]


def test_it_is_given_the_address_that_was_checked_and_not_the_name() -> None:
    with Server({"/": page()}) as server, SocksServer() as proxy, through(proxy) as fetcher:
        fetcher.get(f"http://site.test:{server.port}/")
    assert proxy.targets == [f"127.0.0.1:{server.port}"]


def test_one_that_resolves_names_is_given_the_name_that_was_checked() -> None:
    with Server({"/": page()}) as server, SocksServer() as proxy:
        gateway = Gateway(Proxy.parse(f"socks5h://127.0.0.1:{proxy.port}"), ANY_ADDRESS)
        for guard, host in (
            (EVERY_NAME, "site.test"),
            (EVERY_NAME, "127.0.0.1"),
            (Guard(resolver=on_loopback), "x.test"),
        ):
            with HttpFetcher(guard, "Tester/1", gateway=gateway) as fetcher:
                fetcher.get(f"http://{host}:{server.port}/")
    assert proxy.targets == [f"site.test:{server.port}", f"127.0.0.1:{server.port}"]


def test_an_address_that_is_not_allowed_is_not_asked_of_it() -> None:
    guard = Guard(resolver=on_loopback)
    with SocksServer() as proxy, through(proxy, guard=guard) as fetcher:
        fetched = fetcher.get("http://site.test/")
    assert (fetched.outcome, proxy.targets) == (Outcome.PRIVATE_ADDRESS, [])


def test_it_is_told_its_user_and_password_and_the_host_is_not() -> None:
    with (
        Server({"/": page("<p>a")}) as server,
        SocksServer(login="user:pa ss") as proxy,
        through(proxy, "user:pa%20ss@") as fetcher,
    ):
        fetched = fetcher.get(f"http://site.test:{server.port}/")
    assert fetched.body == b"<p>a"
    assert "pa ss" not in str(server.requests)


@pytest.mark.parametrize(
    ("known", "said"), [("", "asks for a user and password"), ("user:wrong@", "does not accept the user and password")]
)
def test_without_the_right_password_nothing_is_asked_for(known: str, said: str) -> None:
    with SocksServer(login="user:right") as proxy, through(proxy, known) as fetcher:
        fetched = fetcher.get("http://site.test/")
    assert (fetched.outcome, fetched.requests, proxy.targets) == (Outcome.CONNECT, 0, [])
    assert said in fetched.error


@pytest.mark.parametrize(
    ("answer", "said"), [(2, "its rules do not allow it"), (5, "the host refuses the connection"), (99, "error 99")]
)
def test_what_it_refuses_is_told(answer: int, said: str) -> None:
    with SocksServer(answer=bytes([5, answer, 0, 1, 0, 0, 0, 0, 0, 0])) as proxy, through(proxy) as fetcher:
        fetched = fetcher.get("http://site.test/")
    assert fetched.outcome is Outcome.CONNECT
    assert f"the proxy refuses to connect to the host: {said}" in fetched.error


@pytest.mark.parametrize(
    ("greeting", "outcome", "said"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", Outcome.MALFORMED, "the response of the proxy is not SOCKS5"),
        (b"\x05", Outcome.CONNECT, "the proxy closed the connection"),
    ],
)
def test_something_else_in_its_place(greeting: bytes, outcome: Outcome, said: str) -> None:
    with SocksServer(greeting=greeting) as proxy, through(proxy) as fetcher:
        fetched = fetcher.get("http://site.test/")
    assert fetched.outcome is outcome
    assert said in fetched.error


def test_one_that_says_nothing_has_its_time() -> None:
    limits = Limits(read_seconds=0.2)
    with Server({}, greeting=b"") as silent:
        gateway = Gateway(Proxy.parse(f"socks5://127.0.0.1:{silent.port}"), ANY_ADDRESS)
        with HttpFetcher(EVERY_NAME, "Tester/1", limits, gateway=gateway) as fetcher:
            fetched = fetcher.get("http://site.test/")
    assert fetched.outcome is Outcome.TIMEOUT
    assert "the proxy sent nothing" in fetched.error
