"""A crawl with several proxies: each host has one of them, and another when that cannot be connected to."""

import socket
from collections.abc import Sequence
from contextlib import ExitStack

import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.core.urls.addresses import Proxy
from crawler.http.client import HttpFetcher
from crawler.http.connector import Gateway
from crawler.http.guard import Guard
from crawler.http.proxies import Proxies
from tests.http.proxy import ProxyServer
from tests.http.secure import EVERY_NAME, as_site_test, trusting_the_test
from tests.http.server import Server, page
from tests.http.socks_server import SocksServer

ANY_ADDRESS = Guard(("*",))


class Noted:
    """Health that is only written down."""

    def __init__(self, *left_out: int) -> None:
        self.known, self.failures, self.successes = left_out, list[int](), list[int]()

    def left_out(self) -> Sequence[int]:
        return self.known

    def note_failure(self, number: int) -> None:
        self.failures.append(number)

    def note_success(self, number: int) -> None:
        self.successes.append(number)


def gateways(*urls: str) -> list[Gateway]:
    return [Gateway(Proxy.parse(url), ANY_ADDRESS) for url in urls]


def through(*urls: str, health: Noted | None = None) -> HttpFetcher:
    return HttpFetcher(EVERY_NAME, "Tester/1", proxies=Proxies(gateways(*urls), health), trust=trusting_the_test)


@pytest.fixture
def closed() -> str:
    """A proxy's address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_each_host_has_one_and_all_are_used() -> None:
    with ExitStack() as stack:
        server = stack.enter_context(Server({"/": page(), "/b": page()}))
        proxies = [stack.enter_context(ProxyServer()) for _ in range(3)]
        hosts = [f"host{number}.test:{server.port}" for number in range(60)]  # else one may be left out
        for path in ("/", "/b"):  # each time by another worker
            with through(*(f"http://127.0.0.1:{proxy.port}" for proxy in proxies)) as fetcher:
                assert {fetcher.get(f"http://{host}{path}").outcome for host in hosts} == {Outcome.SUCCESS}
        asked = [{target.split("/")[2] for target in proxy.targets()} for proxy in proxies]
    assert all(asked)
    assert sum(map(len, asked)) == len(hosts)
    assert set().union(*asked) == set(hosts)


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("dead_first", [True, False])
def test_one_that_cannot_be_connected_to_is_passed_over(closed: str, scheme: str, dead_first: bool) -> None:
    tls = as_site_test() if scheme == "https" else None
    health = Noted()
    with Server({"/": page(), "/b": page()}, tls=tls) as server, ProxyServer() as proxy:
        urls = [closed, f"http://127.0.0.1:{proxy.port}"]
        with through(*(urls if dead_first else reversed(urls)), health=health) as fetcher:
            fetched = [fetcher.get(f"{scheme}://site.test:{server.port}{path}") for path in ("/", "/b")]
    assert [(one.outcome, one.requests, one.error) for one in fetched] == [(Outcome.SUCCESS, 1, "")] * 2
    assert len(health.failures) <= 1  # this fetcher does not try it again


def _own(fetcher: HttpFetcher, host: str) -> str:
    gateway = fetcher.gateway_for(f"http://{host}/")
    return gateway.proxy.text if gateway else ""


def test_http_and_socks_proxies_may_stand_in_for_each_other() -> None:
    with Server({"/": page("<p>a")}) as server, SocksServer(login="user:pw") as socks:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        with through(f"http://127.0.0.1:{port}", f"socks5://user:pw@127.0.0.1:{socks.port}") as fetcher:
            bodies = {fetcher.get(f"http://host{number}.test:{server.port}/").body for number in range(6)}
    assert bodies == {b"<p>a"}


def test_each_proxy_is_told_its_own_password() -> None:
    with ExitStack() as stack:
        server = stack.enter_context(Server({"/": page("<p>a")}))
        known = {"one": "Basic b25lOmE=", "two": "Basic dHdvOmI="}
        first = stack.enter_context(ProxyServer(authorization=known["one"]))
        second = stack.enter_context(ProxyServer(authorization=known["two"]))
        urls = [f"http://one:a@127.0.0.1:{first.port}", f"http://two:b@127.0.0.1:{second.port}"]
        fetcher = stack.enter_context(through(*urls))
        hosts = [f"host{number}.test:{server.port}" for number in range(100)]
        one_each = [next(host for host in hosts if _own(fetcher, host) == url) for url in urls]
        bodies = [fetcher.get(f"http://{host}/").body for host in one_each]
        assert (bodies, len(first.heads), len(second.heads)) == ([b"<p>a", b"<p>a"], 1, 1)
        assert "dHdvOmI=" not in str(first.heads)


def test_when_none_can_be_connected_to_it_says_so(closed: str) -> None:
    health = Noted()
    other = closed.replace("127.0.0.1", "127.0.0.2")
    with through(closed, other, health=health) as fetcher:
        fetched = fetcher.get("http://site.test/")
    assert (fetched.outcome, fetched.requests) == (Outcome.CONNECT, 0)
    assert fetched.error.startswith("none of the 2 proxies can be connected to; the last: no connection to the proxy")
    assert (sorted(health.failures), health.successes) == ([0, 1], [])


def test_a_host_that_cannot_be_reached_is_not_the_proxys_fault() -> None:
    health = Noted()
    with ProxyServer(answer=b"HTTP/1.1 502 Bad Gateway\r\n\r\n") as first, ProxyServer() as second:
        urls = [f"http://127.0.0.1:{first.port}", f"http://127.0.0.1:{second.port}"]
        with through(*urls, health=health) as fetcher:
            host = next(f"h{number}.test" for number in range(20) if _own(fetcher, f"h{number}.test") == urls[0])
            fetched = fetcher.get(f"https://{host}/")
        assert second.heads == []
    assert (fetched.outcome, health.failures) == (Outcome.CONNECT, [])


def test_those_that_are_left_out_come_last_and_are_tried_when_there_is_no_other(closed: str) -> None:
    with Server({"/": page()}) as server, ProxyServer() as proxy:
        urls = [f"http://127.0.0.1:{proxy.port}", closed]
        with through(*urls, health=Noted(0)) as fetcher:
            assert {_own(fetcher, f"host{number}.test") for number in range(10)} == {closed}
            assert fetcher.get(f"http://site.test:{server.port}/").outcome is Outcome.SUCCESS


def test_only_the_hosts_of_a_proxy_that_is_left_out_get_another() -> None:
    three = gateways(*(f"http://proxy{number}.test:80" for number in range(3)))
    hosts = [f"host{number}.test" for number in range(60)]
    before = {host: Proxies(three).order(host)[0] for host in hosts}
    after = {host: Proxies(three, Noted(1)).order(host)[0] for host in hosts}
    assert {host for host in hosts if before[host] != after[host]} == {host for host in hosts if before[host] == 1}
    assert set(before.values()) == {0, 1, 2}
    assert set(after.values()) == {0, 2}


def test_a_single_proxy_says_what_it_said_before(closed: str) -> None:
    health = Noted()
    with through(closed, health=health) as fetcher:
        fetched = fetcher.get("http://site.test/")
    assert fetched.error.startswith("no connection to the proxy at 127.0.0.1 port")
    assert health.failures == []
