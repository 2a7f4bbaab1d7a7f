"""Addresses and certificates are checked for each connection."""

import errno
import socket
import threading
from typing import Any, Self

import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.core.urls.addresses import Proxy, parse_ports
from crawler.http.client import HttpFetcher
from crawler.http.connector import MAX_ADDRESSES_TRIED, Gateway
from crawler.http.fetcher import Limits
from crawler.http.guard import AddressRefused, Guard
from tests.http.asking import LOOPBACK
from tests.http.names import Names
from tests.http.secure import as_site_test, trusting_the_test
from tests.http.server import Server, Then, page


def test_a_private_address_is_not_asked() -> None:
    with Server({"/": page()}) as server, HttpFetcher(Guard(), "Tester/1") as fetcher:
        fetched = fetcher.get(f"{server.origin}/")
    assert (fetched.outcome, fetched.requests) == (Outcome.PRIVATE_ADDRESS, 0)
    assert fetched.error == ("127.0.0.1 is a private address (Loopback)")
    assert server.connections == 0


SPELLINGS = [
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",  # short forms
    "127.0.1",
    "0177.0.0.1",  # octal
    "0177.1",
    "00000177.0.0.1",
    "0x7f.0.0.1",  # hexadecimal
    "0X7F.1",
    "0x7f000001",  # one number
    "2130706433",
    "017700000001",
    "１２７.０.０.１",  # noqa: RUF001  # full width
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",  # full stops of other scripts
    "127．0．0．1",  # noqa: RUF001
    "%31%32%37.0.0.1",  # percent-encoded
    "%6c%6fcalhost",
    "user:password@127.0.0.1",
    "1.1.1.1@127.0.0.1",
    "0",
    "0.0.0.0",
    "localhost",
    "localhost.",
    "LOCALHOST",
    "ＬＯＣＡＬＨＯＳＴ",  # noqa: RUF001
    "any.localhost",
    "any.localhost.",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::]",
    "[::ffff:127.0.0.1]",  # mapped
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",  # compatible
    "[64:ff9b::127.0.0.1]",  # NAT64
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",  # 6to4
    "[2001:0:7f00:1::]",  # Teredo
]


def here(host: str, port: int, **kwargs: Any) -> list[tuple[Any, ...]]:
    """Leads every name here; numbers are read by the system."""
    try:
        return socket.getaddrinfo(host, port, flags=socket.AI_NUMERICHOST, **kwargs)
    except socket.gaierror:
        return Names("127.0.0.1")(host, port)


OF_NO_ADDRESS = ["[::1%25lo]", "[fe80::1%lo]", "[::1%lo]", "127.0.0.1%00", "127.0.0.256", "0x7f.0.0.1.1"]


@pytest.mark.parametrize(
    ("hosts", "outcome"), [(SPELLINGS, Outcome.PRIVATE_ADDRESS), (OF_NO_ADDRESS, Outcome.MALFORMED)]
)
def test_no_spelling_of_a_private_address_is_asked(hosts: list[str], outcome: Outcome) -> None:
    with Server({"/": page()}) as server, HttpFetcher(Guard(resolver=here), "Tester/1") as fetcher:
        outcomes = {host: fetcher.get(f"http://{host}:{server.port}/").outcome for host in hosts}
    assert outcomes == dict.fromkeys(hosts, outcome)
    assert server.connections == 0


@pytest.mark.parametrize("host", ["127.1", "0x7f.1", "2130706433", "0177.0.0.1", "0", "::ffff:127.0.0.1", "fe80::1%lo"])
def test_the_guard_itself_is_talked_round_by_no_spelling(host: str) -> None:
    with pytest.raises(AddressRefused):
        Guard().resolve(host, 80)


NEIGHBOUR = "10.0.0.1"


@pytest.mark.parametrize(
    ("private_hosts", "address", "port", "said"),
    [
        ((), "1.1.1.1", 80, None),
        ((), "1.1.1.1", 8443, None),
        ((), "1.1.1.1", 6379, "port 6379 is not in CRAWLER_PORTS"),
        ((), "1.1.1.1", 25, "port 25 is blocked by browsers"),
        ((), "1.1.1.1", 0, "port 0 is blocked by browsers"),
        (("*",), "1.1.1.1", 6379, "port 6379 is not in CRAWLER_PORTS"),
        (("site.test",), "1.1.1.1", 6379, "allow it for this host by site.test:6379 in CRAWLER_PRIVATE_HOSTS"),
        (("site.test:6379",), "1.1.1.1", 6379, None),
        (("1.1.1.1:6379",), "1.1.1.1", 6379, None),
        (("other.test:6379",), "1.1.1.1", 6379, "port 6379"),
        (("site.test:6380",), "1.1.1.1", 6379, "port 6379"),
        (("site.test:25",), "1.1.1.1", 25, None),
        (("10.0.0.0/8",), NEIGHBOUR, 6379, None),  # whoever opens a network opens its ports
        (("10.0.0.0/8",), NEIGHBOUR, 25, "port 25 is blocked by browsers"),
        (("*",), NEIGHBOUR, 25, "port 25 is blocked by browsers"),
        (("10.0.0.1:25",), NEIGHBOUR, 25, None),
        ((), NEIGHBOUR, 25, "10.0.0.1 is a private address (Private-Use)"),
        (("64:ff9b::/96",), "64:ff9b::101:101", 80, None),
        ((), "64:ff9b::101:101", 80, "by DNS64, allow 64:ff9b::/96 by CRAWLER_PRIVATE_HOSTS"),
        ((), "64:ff9b:1:2::101:101", 80, "by DNS64, allow 64:ff9b:1:2::/96 by CRAWLER_PRIVATE_HOSTS"),
        (("64:ff9b::/96",), "64:ff9b::7f00:1", 80, "64:ff9b::7f00:1 is a private address (Loopback)"),
    ],
)
def test_ports_and_addresses_are_judged_together(
    private_hosts: tuple[str, ...], address: str, port: int, said: str | None
) -> None:
    refused = Guard(private_hosts).check("site.test", port, address)
    assert (refused is None) if said is None else (refused is not None and said in refused.reason)


def test_ports_are_those_of_the_setting() -> None:
    guard = Guard(ports=parse_ports(["9000"]))
    assert guard.check("site.test", 9000, "1.1.1.1") is None
    assert guard.check("site.test", 80, "1.1.1.1") is not None


def test_port_0_is_not_taken_for_the_usual_one() -> None:
    with HttpFetcher(LOOPBACK, "Tester/1") as fetcher:
        fetched = fetcher.get("http://127.0.0.1:0/")
    assert (fetched.outcome, fetched.requests) == (Outcome.PRIVATE_ADDRESS, 0)
    assert "port 0 is blocked by browsers" in fetched.error


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


@pytest.mark.parametrize(
    "answers", ["1.1.1.1 10.0.0.1", "10.0.0.1 1.1.1.1", "1.1.1.1 ::1", "2606:4700::1111 ::ffff:1.1.1.1"]
)
def test_one_private_address_among_several_refuses_the_host(answers: str) -> None:
    with HttpFetcher(Guard(resolver=Names(answers)), "Tester/1") as fetcher:
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


class Silent:
    """A name server that says nothing until the test is over, or for `SILENCE`."""

    SILENCE = 5.0  # seconds; who waits for it without a limit shall fail, and not hang

    def __init__(self) -> None:
        self._over = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def __call__(self, host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
        self._over.wait(self.SILENCE)
        return []


@pytest.mark.parametrize("host", ["slow.test", "slow1", "slow.test1", "1.1.1.slow1"])
def test_a_name_server_that_does_not_answer_has_its_time(host: str) -> None:
    with Silent() as silent, HttpFetcher(Guard(lookup_seconds=0.05, resolver=silent), "Tester/1") as fetcher:
        fetched = fetcher.get(f"http://{host}/")
    assert (fetched.outcome, fetched.requests) == (Outcome.TIMEOUT, 0)
    assert fetched.error == f"the host name {host} does not resolve in 0.05 seconds"


def test_a_look_up_counts_for_the_whole() -> None:
    limits = Limits(total_seconds=0.1)
    with Silent() as silent, HttpFetcher(Guard(lookup_seconds=1, resolver=silent), "Tester/1", limits) as fetcher:
        fetched = fetcher.get("http://slow.test/")
    assert (fetched.outcome, fetched.error) == (Outcome.TIMEOUT, "not complete after 0.1 seconds")


def test_looking_up_a_proxy_counts_for_the_whole() -> None:
    limits = Limits(total_seconds=0.1)
    with Silent() as silent:
        gateway = Gateway(Proxy("proxy.test", 3128), Guard(lookup_seconds=1, resolver=silent))
        with HttpFetcher(LOOPBACK, "Tester/1", limits, gateway=gateway) as fetcher:
            fetched = fetcher.get("http://127.0.0.1/")
    assert (fetched.outcome, fetched.error) == (Outcome.TIMEOUT, "not complete after 0.1 seconds")


def test_a_system_that_cannot_look_up_is_no_missing_name() -> None:
    def broken(host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
        raise OSError(errno.EMFILE, "Too many open files")

    with HttpFetcher(Guard(resolver=broken), "Tester/1") as fetcher:
        fetched = fetcher.get("http://site.test/")
    assert (fetched.outcome, fetched.error) == (
        Outcome.CONNECT,
        "the host name site.test cannot be looked up: Too many open files",
    )


def test_of_very_many_addresses_few_are_tried() -> None:
    with Server({"/": page()}) as server:
        addresses = [f"127.0.1.{number}" for number in range(1, MAX_ADDRESSES_TRIED + 1)] + ["127.0.0.1"]
        with HttpFetcher(Guard(("127.0.0.0/8",), resolver=Names(" ".join(addresses))), "Tester/1") as fetcher:
            assert fetcher.get(f"http://site.test:{server.port}/").outcome is Outcome.CONNECT
        with HttpFetcher(Guard(("127.0.0.0/8",), resolver=Names(" ".join(addresses[1:]))), "Tester/1") as fetcher:
            assert fetcher.get(f"http://site.test:{server.port}/").outcome is Outcome.SUCCESS


def test_the_socket_is_connected_to_the_address_that_was_judged() -> None:
    names = Names("127.0.0.3", "127.0.0.1")
    with (
        socket.create_server(("127.0.0.3", 0)) as judged,
        HttpFetcher(Guard(("127.0.0.3",), resolver=names), "Tester/1", Limits(read_seconds=0.1)) as fetcher,
    ):
        port = judged.getsockname()[1]
        fetched = fetcher.get(f"http://site.test:{port}/")
        visitor, _ = judged.accept()
        with visitor:
            assert visitor.getsockname() == ("127.0.0.3", port)
    assert (fetched.outcome, fetched.error) == (Outcome.TIMEOUT, "no response for 0.1 seconds")
    assert names.asked == ["site.test"]
