"""Which addresses are public, by table; what a person may allow; ports and proxies as people type them."""

from ipaddress import IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.errors import BadInput
from crawler.core.urls.addresses import (
    DEFAULT_PORTS,
    Proxy,
    is_allowed,
    is_bad,
    is_named,
    is_public,
    parse_ports,
    parse_private_hosts,
    why_not_public,
)

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
    "2000::1",  # the first of 2000::/3
    "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",  # next to documentation
    "2001:200::1",  # next to the protocol assignments
    "2001:db7:ffff::1",  # next to documentation
    "2001:db9::1",
    "2003::1",  # next to 6to4
    "168.63.129.15",  # next to a cloud's own service
    "192.0.1.0",
    "192.31.196.1",  # anycast for reverse names (AS112): special, and public
    "2620:4f:8000::1",  # the same
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
    "192.0.0.9",  # anycast of the port control protocol: public, and nobody's site
    "192.0.0.170",  # by which DNS64 is found
    "192.0.0.192",  # metadata
    "100.100.100.200",  # metadata
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
    "::ffff:7f00:1",  # the same in hexadecimal
    "::ffff:1.1.1.1",  # mapped, whatever it carries
    "::ffff:0:1.1.1.1",  # translated (SIIT)
    "64:ff9b::7f00:1",  # NAT64, carries 127.0.0.1
    "64:ff9b::101:101",  # NAT64, whatever it carries
    "64:ff9b:1::101:101",  # NAT64 for local use
    "100::1",  # discard
    "1fff:ffff::1",  # next to 2000::/3
    "2001::1",  # Teredo
    "2001:0:101:101:0:0:fefe:fefe",  # Teredo by 1.1.1.1 to 1.1.1.1
    "2001:1::1",  # anycast
    "2001:2::1",  # benchmarking
    "2001:20::1",  # identifiers that are not addresses
    "2001:1ff:ffff::1",  # the last of the protocol assignments
    "2001:db8::1",  # documentation
    "3fff::1",  # documentation
    "2002:7f00:1::1",  # 6to4, carries 127.0.0.1
    "2002:a00:1::",  # 6to4, carries 10.0.0.1
    "2002:101:101::1",  # 6to4, whatever it carries
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


def test_it_takes_a_global_unicast_address_for_public_and_everything_else_for_private() -> None:
    assert [address for address in PUBLIC + NOT_PUBLIC if is_public(address)] == PUBLIC


@given(st.ip_addresses(v=4).map(int))
def test_no_address_that_carries_another_is_public(carried: int) -> None:
    mapped, compatible, nat64, local = (
        prefix + carried for prefix in (0xFFFF << 32, 0, 0x64FF9B << 96, 0x64FF9B0001 << 80)
    )
    sixtofour, teredo = (0x2002 << 112) + (carried << 80), (0x20010000 << 96) + (carried << 64) + (carried ^ 0xFFFFFFFF)
    assert not any(
        is_public(str(IPv6Address(address))) for address in (mapped, compatible, nat64, local, sixtofour, teredo)
    )


@given(st.ip_addresses(v=6))
def test_of_ipv6_nothing_outside_2000_3_is_public(address: IPv6Address) -> None:
    assert not is_public(str(address)) or int(address) >> 125 == 1


@pytest.mark.parametrize(
    ("address", "what"),
    [
        ("127.0.0.1", "Loopback"),
        ("169.254.169.254", "Cloud metadata (AWS, GCP, Azure IMDS)"),
        ("64:ff9b::7f00:1", "Loopback"),
        ("64:ff9b::101:101", "IPv4-IPv6 Translation"),
        ("2002:101:101::1", "6to4"),
        ("4000::1", "not allocated"),
        ("1.1.1.1", ""),
    ],
)
def test_it_says_what_an_address_is(address: str, what: str) -> None:
    assert why_not_public(address) == what


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
        ("64:ff9b::/96", "site.test", 80, "64:ff9b::101:101"),  # DNS64, and the address within is public
        ("64:ff9b:1::/96", "site.test", 80, "64:ff9b:1::101:101"),
        ("::ffff:0:0/96", "site.test", 80, "::ffff:1.1.1.1"),
        ("2002::/16", "site.test", 80, "2002:101:101::1"),
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
        ("64:ff9b::/96", "site.test", 80, "64:ff9b::7f00:1"),  # what it carries is judged too
        ("64:ff9b::/96", "site.test", 80, "64:ff9b::a9fe:a9fe"),
        ("64:ff9b:1::/96", "site.test", 80, "64:ff9b:1::a00:1"),
        ("64:ff9b:1::/48", "site.test", 80, "64:ff9b:1::100:0:0"),  # where it carries it cannot be known
        ("::/0", "site.test", 80, "::ffff:127.0.0.1"),
        ("::/0", "site.test", 80, "::127.0.0.1"),
        ("2002::/16", "site.test", 80, "2002:7f00:1::1"),
        ("2001::/32", "site.test", 80, "2001:0:101:101:0:0:f5ff:fffe"),  # Teredo, to 10.0.0.1
        ("site.test", "site.test.example", 80, "10.0.0.1"),
        ("site.test", "www.site.test", 80, "10.0.0.1"),
        ("10.0.0.1", "site.test", 80, "10.0.0.10"),
    ],
)
def test_an_entry_allows_nothing_else(entry: str, host: str, port: int, address: str) -> None:
    assert not is_allowed((entry,), host, port, address)


def test_two_entries_together_open_what_is_carried() -> None:
    assert is_allowed(("64:ff9b::/96", "10.0.0.0/8"), "site.test", 80, "64:ff9b::a00:1")


@pytest.mark.parametrize(
    ("entry", "is_so"),
    [
        ("site.test:25", True),
        ("10.0.0.1:25", True),
        ("site.test:26", False),
        ("site.test", False),  # any port of a private address, and no further one of a public
        ("10.0.0.1", False),
        ("10.0.0.0/8", False),
        ("*", False),
    ],
)
def test_a_port_is_named_by_an_exact_entry_alone(entry: str, is_so: bool) -> None:
    assert is_named((entry,), "site.test", 25, "10.0.0.1") is is_so


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


@pytest.mark.parametrize("typed", [".", "..", "。"])
def test_a_host_without_a_name_is_refused(typed: str) -> None:
    with pytest.raises(BadInput):
        parse_private_hosts([typed])


@pytest.mark.parametrize("port", [0, 1, 22, 25, 53, 110, 143, 161, 465, 993, 2049, 4190, 5060, 6000, 6667, 10080])
def test_ports_of_other_protocols_are_bad(port: int) -> None:
    assert is_bad(port)


@pytest.mark.parametrize("port", [80, 81, 443, 3000, 5000, 6379, 8080, 8443, 9000, 65535])
def test_ports_where_a_site_may_be_are_not(port: int) -> None:
    assert not is_bad(port)


def test_no_usual_port_is_bad() -> None:
    assert not any(map(is_bad, DEFAULT_PORTS))


def test_they_are_taken_as_typed() -> None:
    assert parse_ports(["80", "9000"]) == {80, 9000}


def test_a_star_stands_for_all() -> None:
    ports = parse_ports(["80", "*"])
    assert all(port in ports for port in (1, 9000, 65535))


@pytest.mark.parametrize("typed", ["", "http", "0", "65536", "-1", "80-90", "٨٠", "443 80", "99999999999"])
def test_what_is_no_port_is_refused(typed: str) -> None:
    with pytest.raises(BadInput, match=r"is not a port; enter numbers such as 80,443,8080"):
        parse_ports([typed])


def test_a_bad_port_cannot_be_listed_for_every_host() -> None:
    with pytest.raises(BadInput, match=r"Browsers refuse port 25; allow it for one host, as host:25"):
        parse_ports(["80", "25"])


SECRET = "pass:w@rd/"


@pytest.mark.parametrize(
    ("typed", "host", "port", "user", "password"),
    [
        ("http://proxy.test:3128", "proxy.test", 3128, "", ""),
        (" HTTP://Proxy.test:3128/ ", "proxy.test", 3128, "", ""),
        ("proxy.test:3128", "proxy.test", 3128, "", ""),
        ("10.0.0.1:8080", "10.0.0.1", 8080, "", ""),
        ("http://proxy.test", "proxy.test", 80, "", ""),
        ("http://user:pass%3Aw%40rd%2F@proxy.test:3128", "proxy.test", 3128, "user", SECRET),
        ("user:pw@proxy.test:3128", "proxy.test", 3128, "user", "pw"),
        ("http://user@proxy.test", "proxy.test", 80, "user", ""),
        ("http://[::1]:3128", "::1", 3128, "", ""),
    ],
)
def test_an_http_proxy_is_read_as_typed(typed: str, host: str, port: int, user: str, password: str) -> None:
    assert Proxy.parse(typed) == Proxy(host, port, user, password)


@pytest.mark.parametrize(
    ("typed", "proxy"),
    [
        ("socks5://proxy.test", Proxy("proxy.test", 1080, scheme="socks5")),
        ("SOCKS5://user:pa%20ss@Proxy.test:80", Proxy("proxy.test", 80, "user", "pa ss", scheme="socks5")),
        ("socks5://[::1]:9050/", Proxy("::1", 9050, scheme="socks5")),
    ],
)
def test_a_socks_proxy_is_read_as_typed(typed: str, proxy: Proxy) -> None:
    assert Proxy.parse(typed) == proxy
    assert Proxy.parse(proxy.text) == proxy


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("SOCKS4a://user:hidden@proxy.test", "begins with socks5://"),
        (f"socks5://user:{'hid' * 86}@proxy.test", "at most 255 bytes each"),
        ("https://user:hidden@proxy.test", "over TLS are not supported"),
        ("ftp://user:hidden@proxy.test", "must begin with http://"),
        ("http://user:hidden@proxy.test:99999", "not a proxy's address"),
        ("http://user:hidden@", "not a proxy's address"),
        ("http://user:hidden@proxy.test/path", "must end with its port"),
        ("http://user:hidden@proxy.test?a", "must end with its port"),
        ("http://user:hid\r\nden@proxy.test", "control character"),
        ("http://user:hid%0d%0aden@proxy.test", "control character"),
        ("http://us%3Aer:hidden@proxy.test", "cannot contain a colon"),
    ],
)
def test_what_cannot_be_used_is_refused_without_repeating_it(typed: str, said: str) -> None:
    with pytest.raises(BadInput, match=said) as caught:
        Proxy.parse(typed)
    assert caught.value.field == "proxy"
    assert "hid" not in caught.value.message


def test_it_is_shown_without_its_password() -> None:
    proxy = Proxy("::1", 3128, "user", SECRET)
    assert str(proxy) == "http://…@[::1]:3128"
    assert SECRET not in repr(proxy)
    assert str(Proxy("proxy.test", 80)) == "http://proxy.test:80"
    assert str(Proxy("proxy.test", 1080, "user", SECRET, "socks5")) == "socks5://…@proxy.test:1080"


def test_it_asks_for_basic_authorization_with_a_user() -> None:
    assert Proxy("proxy.test", 80, "Aladdin", "open sesame").authorization == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
    assert Proxy("proxy.test", 80).authorization == ""


PRINTABLE = st.text(st.characters(min_codepoint=32, exclude_categories=["Cs", "Cc"]), max_size=20)


@given(PRINTABLE, PRINTABLE)
def test_its_text_is_read_back(user: str, password: str) -> None:
    proxy = Proxy("proxy.test", 3128, user.replace(":", ""), password)
    assert Proxy.parse(proxy.text) == proxy
