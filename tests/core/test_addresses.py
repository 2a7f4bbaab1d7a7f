"""Which addresses are public, by table; and what a person may allow."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.addresses import is_allowed, is_public, parse_private_hosts
from crawler.core.errors import BadInput

PUBLIC = [
    "1.1.1.1",
    "9.255.255.255",  # next to 10/8
    "11.0.0.0",
    "100.63.255.255",  # next to 100.64/10
    "100.128.0.0",
    "126.255.255.255",  # next to loopback
    "128.0.0.1",
    "169.253.255.255",  # next to link-local
    "172.15.255.255",  # next to 172.16/12
    "172.32.0.0",
    "192.167.255.255",  # next to 192.168/16
    "198.17.255.255",  # next to benchmarking
    "198.20.0.0",
    "223.255.255.255",  # the last unicast address
    "2606:4700:4700::1111",
    "2a00:1450:4001:80b::200e",
    "::ffff:1.1.1.1",  # mapped, carries a public one
    "64:ff9b::101:101",  # NAT64, carries 1.1.1.1
    "2002:101:101::1",  # 6to4, carries 1.1.1.1
]

NOT_PUBLIC = [
    "0.0.0.0",  # loopback by another name
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",  # shared with carriers
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",  # a cloud's own service
    "169.254.169.254",  # metadata
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",  # documentation
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",  # benchmarking
    "198.19.255.255",
    "198.51.100.1",  # documentation
    "203.0.113.1",  # documentation
    "224.0.0.1",  # multicast
    "239.255.255.255",
    "240.0.0.1",  # reserved
    "255.255.255.255",  # broadcast
    "::",
    "::1",
    "::127.0.0.1",  # IPv4-compatible, given up
    "::1.1.1.1",  # the same, whatever it carries
    "::ffff:127.0.0.1",  # mapped loopback
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",  # NAT64, carries 127.0.0.1
    "64:ff9b:1::101:101",  # NAT64 for local use
    "100::1",  # discard
    "2001::1",  # Teredo
    "2001:2::1",  # benchmarking
    "2001:db8::1",  # documentation
    "3fff::1",  # documentation
    "2002:7f00:1::1",  # 6to4, carries 127.0.0.1
    "2002:a00:1::",  # 6to4, carries 10.0.0.1
    "4000::1",  # not handed out
    "5f00::1",  # segment routing
    "fc00::1",  # unique local
    "fd00:ec2::254",  # metadata
    "fe80::1",  # link-local
    "fe80::1%eth0",
    "2606:4700::1%eth0",  # a zone makes it somebody's local matter
    "fec0::1",  # site-local, given up
    "ff02::1",  # multicast
    "",
    "example.com",
    "127.1",  # a spelling only a resolver understands
    "0x7f.0.0.1",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_it_takes_a_global_unicast_address_for_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_it_takes_everything_else_for_private(address: str) -> None:
    assert not is_public(address)


@given(st.one_of(st.text(), st.ip_addresses().map(str)))
def test_it_judges_any_text_without_raising(text: str) -> None:
    assert is_public(text) in (True, False)


@given(st.ip_addresses(v=4).map(str))
def test_a_carried_address_is_judged_like_itself(address: str) -> None:
    assert is_public(f"::ffff:{address}") == is_public(address)


@pytest.mark.parametrize(
    ("entry", "host", "port", "address"),
    [
        ("*", "anything", 1, "10.0.0.1"),
        ("localhost", "localhost", 80, "127.0.0.1"),
        ("localhost", "localhost.", 80, "::1"),
        ("localhost:8000", "localhost", 8000, "127.0.0.1"),
        ("127.0.0.1", "site.test", 80, "127.0.0.1"),
        ("127.0.0.1:8000", "127.0.0.1", 8000, "127.0.0.1"),
        ("127.0.0.1", "site.test", 80, "::ffff:127.0.0.1"),
        ("10.0.0.0/8", "site.test", 80, "10.1.2.3"),
        ("fd00::/8", "site.test", 80, "fd12::1"),
        ("[::1]:8000", "localhost", 8000, "::1"),
    ],
)
def test_an_entry_allows_what_it_names(entry: str, host: str, port: int, address: str) -> None:
    assert is_allowed((entry,), host, port, address)


@pytest.mark.parametrize(
    ("entry", "host", "port", "address"),
    [
        ("localhost", "localhost.example.com", 80, "127.0.0.1"),  # a name is not a suffix
        ("localhost:8000", "localhost", 8001, "127.0.0.1"),  # another port
        ("127.0.0.1", "127.0.0.1", 80, "10.0.0.1"),  # an address is judged, not the name it goes by
        ("127.0.0.1:8000", "127.0.0.1", 80, "127.0.0.1"),
        ("10.0.0.0/8", "10.0.0.1", 80, "127.0.0.1"),
        ("10.0.0.0/8", "site.test", 80, "fd00::1"),  # another family
    ],
)
def test_an_entry_allows_nothing_else(entry: str, host: str, port: int, address: str) -> None:
    assert not is_allowed((entry,), host, port, address)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("*", "*"),
        ("LocalHost", "localhost"),
        ("bücher.example:80", "xn--bcher-kva.example:80"),
        ("10.0.0.1/8", "10.0.0.0/8"),  # bits behind the range's own do not matter
        ("127.1:8000", "127.0.0.1:8000"),  # spelt as in a normalised URL
        ("::1", "::1"),
        ("[::1]", "::1"),
        ("[0:0::1]:8000", "[::1]:8000"),
        (" 192.168.1.7/32 ", "192.168.1.7"),
    ],
)
def test_it_keeps_an_entry_in_one_spelling(typed: str, kept: str) -> None:
    assert parse_private_hosts([typed]) == (kept,)
    assert parse_private_hosts([kept]) == (kept,)


def test_it_keeps_each_entry_once_and_drops_blank_ones() -> None:
    assert parse_private_hosts(["b", "a", " ", "B"]) == ("b", "a")


@pytest.mark.parametrize(
    "typed", ["http://localhost", "localhost:", "a:0", "a:65536", "10.0.0.0/33", "[::1", "a b", "*.x"]
)
def test_it_refuses_an_entry_nobody_could_mean(typed: str) -> None:
    with pytest.raises(BadInput, match="is not a host") as caught:
        parse_private_hosts([typed])
    assert caught.value.field == "private_hosts"
