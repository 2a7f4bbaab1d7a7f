"""The HTTP client through a real proxy on loopback."""

import socket
from typing import Any

import pytest

from crawler.core.access.credentials import parse
from crawler.core.pages.outcomes import Outcome
from crawler.core.urls.addresses import Proxy
from crawler.http.client import HttpFetcher
from crawler.http.connector import Gateway
from crawler.http.fetcher import FetchResult, Limits
from crawler.http.guard import Guard
from tests.http.proxy import ProxyServer
from tests.http.secure import EVERY_NAME, as_site_test, on_loopback, trusting_the_test
from tests.http.server import Server, page

ANY_ADDRESS = Guard(("*",))
PASSWORD = "Basic dXNlcjpwdw=="  # user:pw


def through(proxy: ProxyServer, known: str = "", guard: Guard = EVERY_NAME, **kwargs: Any) -> HttpFetcher:
    gateway = Gateway(Proxy.parse(f"http://{known}127.0.0.1:{proxy.port}"), ANY_ADDRESS)
    return HttpFetcher(guard, "Tester/1", gateway=gateway, trust=trusting_the_test, **kwargs)


def test_an_http_page_is_asked_for_by_its_whole_url() -> None:
    with Server({"/a?b": page("<p>a")}) as server, ProxyServer() as proxy, through(proxy) as fetcher:
        fetched = fetcher.get(f"http://site.test:{server.port}/a?b")
    assert (fetched.body, fetched.requests, server.paths()) == (b"<p>a", 1, ["/a?b"])
    assert proxy.targets() == [f"GET http://site.test:{server.port}/a?b"]
    assert f"Host: site.test:{server.port}" in proxy.heads[0].splitlines()


def test_an_https_page_is_asked_for_within_a_tunnel() -> None:
    with (
        Server({"/a?b": page("<p>a")}, tls=as_site_test()) as server,
        ProxyServer() as proxy,
        through(proxy) as fetcher,
    ):
        fetched = fetcher.get(f"https://site.test:{server.port}/a?b")
    assert (fetched.body, fetched.requests, server.paths()) == (b"<p>a", 1, ["/a?b"])
    assert proxy.targets() == [f"CONNECT site.test:{server.port}"]


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_is_told_its_password_and_the_host_is_not(scheme: str) -> None:
    tls = as_site_test() if scheme == "https" else None
    with (
        Server({"/": page()}, tls=tls) as server,
        ProxyServer(authorization=PASSWORD) as proxy,
        through(proxy, "user:pw@") as fetcher,
    ):
        fetched = fetcher.get(f"{scheme}://site.test:{server.port}/")
    assert fetched.outcome is Outcome.SUCCESS
    assert "proxy-authorization" not in server.requests[0].lower()


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("", "the proxy asks for a user and password"),
        ("user:hidden@", "the proxy does not accept the user and password"),
    ],
)
def test_a_password_that_is_missing_or_wrong_is_no_answer_of_the_page(scheme: str, known: str, said: str) -> None:
    with ProxyServer(authorization=PASSWORD) as proxy, through(proxy, known) as fetcher:
        fetched = fetcher.get(f"{scheme}://site.test/")
    assert (fetched.outcome, fetched.http_status, said in fetched.error) == (Outcome.CONNECT, None, True)
    assert "hidden" not in fetched.error


@pytest.mark.parametrize(
    ("answer", "outcome", "said"),
    [
        (b"HTTP/1.1 403 Not that one\r\n\r\n", Outcome.CONNECT, "refuses to connect to the host: 403 Not that one"),
        (b"HTTP/1.0 502\r\n\r\n", Outcome.CONNECT, "refuses to connect to the host: 502"),
        (b"220 mail.test\r\n\r\n", Outcome.MALFORMED, "the response of the proxy is not HTTP"),
        (b"HTTP/1.1 2\xb2\xb3 OK\r\n\r\n", Outcome.MALFORMED, "the response of the proxy is not HTTP"),
        (b"HTTP/1.1 " + b"9" * 5000 + b" x\r\n\r\n", Outcome.MALFORMED, "the response of the proxy is not HTTP"),
        (b"HTTP/1.1 20 x\r\n\r\n", Outcome.MALFORMED, "the response of the proxy is not HTTP"),
        (b"HTTP/1.1 200 OK\r\n", Outcome.CONNECT, "the proxy closed the connection"),
        (b"HTTP/1.1 200 " + b"x" * 70_000, Outcome.MALFORMED, "headers are too large"),
    ],
)
def test_a_tunnel_that_is_not_dug(answer: bytes, outcome: Outcome, said: str) -> None:
    with ProxyServer(answer=answer) as proxy, through(proxy) as fetcher:
        fetched = fetcher.get("https://site.test/")
    assert (fetched.outcome, fetched.http_status, fetched.requests) == (outcome, None, 0)
    assert said in fetched.error


def test_a_proxy_that_says_nothing_has_its_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        gateway = Gateway(Proxy("127.0.0.1", silent.getsockname()[1]), ANY_ADDRESS)
        limits = Limits(read_seconds=0.1)
        with HttpFetcher(EVERY_NAME, "Tester/1", limits, gateway=gateway) as fetcher:
            fetched = fetcher.get("https://site.test/")
    assert (fetched.outcome, "the proxy sent nothing" in fetched.error) == (Outcome.TIMEOUT, True)


def test_a_proxy_that_is_not_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        gateway = Gateway(Proxy("127.0.0.1", free.getsockname()[1]), ANY_ADDRESS)
    with HttpFetcher(EVERY_NAME, "Tester/1", gateway=gateway) as fetcher:
        fetched = fetcher.get("http://site.test/")
    assert (fetched.outcome, "no connection to the proxy at 127.0.0.1" in fetched.error) == (Outcome.CONNECT, True)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_opens_no_private_network(scheme: str) -> None:
    guard = Guard(resolver=on_loopback)
    with Server({"/": page()}) as server, ProxyServer() as proxy, through(proxy, guard=guard) as fetcher:
        fetched = fetcher.get(f"{scheme}://site.test:{server.port}/")
    assert (fetched.outcome, fetched.requests) == (Outcome.PRIVATE_ADDRESS, 0)
    assert proxy.connections == 0


def asked_through_a_private_proxy(private_hosts: tuple[str, ...]) -> FetchResult:
    """Asks a proxy that refuses everything for a public page: only the proxy's own address is at stake."""
    with ProxyServer(answer=b"HTTP/1.1 403 x\r\n\r\n") as proxy:
        gateway = Gateway(Proxy("127.0.0.1", proxy.port), Guard(private_hosts))
        with HttpFetcher(Guard(), "Tester/1", gateway=gateway) as fetcher:
            return fetcher.get("https://1.1.1.1/")


@pytest.mark.parametrize(
    ("private_hosts", "outcome"), [((), Outcome.PRIVATE_ADDRESS), (("127.0.0.1",), Outcome.CONNECT)]
)
def test_a_persons_proxy_must_be_an_allowed_address_itself(private_hosts: tuple[str, ...], outcome: Outcome) -> None:
    fetched = asked_through_a_private_proxy(private_hosts)
    assert fetched.outcome is outcome
    assert ("the proxy cannot be used: 127.0.0.1 is a private address" in fetched.error) is (not private_hosts)


def test_a_proxy_whose_name_is_unknown_is_not_the_pages_missing_name() -> None:
    def nowhere(host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    gateway = Gateway(Proxy("proxy.test", 3128), Guard(resolver=nowhere))
    with HttpFetcher(EVERY_NAME, "Tester/1", gateway=gateway) as fetcher:
        fetched = fetcher.get("http://site.test/")
    assert (fetched.outcome, "proxy.test does not resolve" in fetched.error) == (Outcome.CONNECT, True)


def test_a_certificate_is_judged_by_the_host_and_not_by_the_proxy() -> None:
    with Server({"/": page()}, tls=as_site_test()) as server, ProxyServer() as proxy, through(proxy) as fetcher:
        fetched = fetcher.get(f"https://other.test:{server.port}/")
    assert (fetched.outcome, "not valid for 'other.test'" in fetched.error) == (Outcome.TLS, True)


def test_credentials_go_through_a_proxy_to_their_host() -> None:
    known = parse(bearer="abc")
    with Server({"/": page()}) as server, ProxyServer() as proxy:
        own = (f"http://site.test:{server.port}",)
        with through(proxy, credentials=known, own_hosts=own) as fetcher:
            fetcher.get(f"http://site.test:{server.port}/")
            fetcher.get(f"http://other.test:{server.port}/")
    assert ["Authorization: Bearer abc" in head for head in server.requests] == [True, False]


def test_a_kept_connection_that_the_proxy_closed_is_replaced() -> None:
    sent: list[str] = []
    with (
        Server({"/": page()}) as server,
        ProxyServer() as proxy,
        through(proxy) as fetcher,
    ):
        fetcher.serve(lambda: sent.append("sent"))
        first = fetcher.get(f"http://site.test:{server.port}/")
        proxy.hang_up()
        second = fetcher.get(f"http://site.test:{server.port}/")
    assert (first.outcome, second.outcome, len(sent)) == (Outcome.SUCCESS, Outcome.SUCCESS, 2)
    assert proxy.connections == 2
