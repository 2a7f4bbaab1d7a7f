"""Where a request comes from, and who is believed to say so."""

import pytest

from crawler.core.access.client_address import (
    UNKNOWN,
    address_of,
    home_of,
    is_trusted,
    is_unnamed_proxy,
    parse_networks,
)
from crawler.core.errors import BadInput

OURS = parse_networks("proxies", ["127.0.0.1", "10.0.0.0/8", "::1"])


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("192.0.2.1", "", "192.0.2.1"),
        ("192.0.2.1", "198.51.100.7", "192.0.2.1"),  # a stranger says so
        ("127.0.0.1", "198.51.100.7", "198.51.100.7"),
        ("127.0.0.1", "203.0.113.5, 198.51.100.7", "198.51.100.7"),  # the first was written by the stranger
        ("127.0.0.1", "198.51.100.7, 10.1.2.3", "198.51.100.7"),  # by way of two proxies
        ("127.0.0.1", "10.9.9.9, 198.51.100.7, 10.1.2.3", "198.51.100.7"),
        ("127.0.0.1", "10.1.2.3", "10.1.2.3"),  # somebody on our own network
        ("127.0.0.1", "", "127.0.0.1"),
        ("127.0.0.1", "nonsense", "127.0.0.1"),
        ("127.0.0.1", "198.51.100.7, nonsense", "127.0.0.1"),
        ("127.0.0.1", "198.51.100.7:4711", "198.51.100.7"),
        ("127.0.0.1", "[2001:db8::1]:4711", "2001:db8::1"),
        ("127.0.0.1", "2001:db8::1", "2001:db8::1"),
        ("::1", "198.51.100.7", "198.51.100.7"),
        ("::ffff:10.0.0.1", "198.51.100.7", "198.51.100.7"),  # a socket for both kinds names IPv4 so
        ("", "198.51.100.7", UNKNOWN),  # a socket of the file system
        ("fe80::1%eth0", "", "fe80::1"),
    ],
)
def test_the_nearest_address_that_is_no_proxy_of_ours(peer: str, forwarded: str, address: str) -> None:
    assert address_of(peer, forwarded, OURS) == address


@pytest.mark.parametrize(
    "peer", ["127.0.0.1", "::1", "172.18.0.1", "10.0.2.100", "192.168.1.1", "100.64.0.1", "fd00::1"]
)
def test_behind_a_proxy_of_a_private_network_that_is_not_named_nobody_is_known(peer: str) -> None:
    assert address_of(peer, "198.51.100.7", ()) == UNKNOWN
    assert address_of(peer, "", ()) == peer
    assert is_unnamed_proxy(peer, ())
    assert not is_unnamed_proxy(peer, parse_networks("proxies", ["0.0.0.0/0", "::/0"]))


@pytest.mark.parametrize(
    ("peer", "is_so"),
    [("127.0.0.1", True), ("10.1.2.3", True), ("172.18.0.1", False), ("198.51.100.7", False), ("", True)],
)
def test_who_is_a_trusted_proxy(peer: str, is_so: bool) -> None:
    assert is_trusted(peer, OURS) is is_so


def test_a_public_peer_that_forwards_is_a_client() -> None:
    assert address_of("8.8.8.8", "198.51.100.7", ()) == "8.8.8.8"
    assert not is_unnamed_proxy("8.8.8.8", ())
    assert address_of("192.0.2.1", "198.51.100.7", ()) == "192.0.2.1"


def test_an_ipv6_network_counts_as_one() -> None:
    assert home_of("2001:db8::1") == home_of("2001:db8::ffff:1:2:3") == "2001:db8::/64"
    assert home_of("192.0.2.1") == "192.0.2.1"


@pytest.mark.parametrize("typed", ["10.0.0.1/8", "proxy.example.com", "*"])
def test_what_is_no_network_is_refused(typed: str) -> None:
    with pytest.raises(BadInput, match=r"127\.0\.0\.1"):
        parse_networks("proxies", [typed])
