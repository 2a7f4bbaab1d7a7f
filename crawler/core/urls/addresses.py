"""The rules of the guard: public addresses, private addresses that a user may allow, ports and proxies."""

from __future__ import annotations

import base64
import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import quote, unquote, urlsplit

import ada_url
import msgspec

from crawler.core.errors import BadInput
from crawler.core.urls.special_addresses import NOT_NUMERIC, UNALLOCATED, ZONED, block_of

EVERYTHING = "*"

_GLOBAL_UNICAST_6 = IPv6Network("2000::/3")
_COMPATIBLE = IPv6Network("::/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_LOCAL_NAT64 = IPv6Network("64:ff9b:1::/48")


class Entry(msgspec.Struct, frozen=True):
    """One parsed entry of `private_hosts`. Exactly one of `name` and `network` is set."""

    name: str = ""  # host name as in a normalised URL
    network: IPv4Network | IPv6Network | None = None  # an address is a network of one
    port: int | None = None  # None = any port


def is_public(address: str) -> bool:
    """Whether an address is public: global unicast only."""
    return not why_not_public(address)


@lru_cache(maxsize=4096)
def why_not_public(address: str) -> str:
    """Why an address is not public, for users; "" for a public one.

    Of IPv6 only 2000::/3 is public. An address that contains an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo)
    is not, because our network decides where its packets go. Nor is text that is no address, or one with a zone
    ("fe80::1%eth0").
    """
    try:
        ip = ip_address(address)
    except ValueError:
        return NOT_NUMERIC
    if isinstance(ip, IPv6Address) and ip.scope_id is not None:
        return ZONED
    block = block_of(ip)
    if block is None and (isinstance(ip, IPv4Address) or ip in _GLOBAL_UNICAST_6):
        return ""
    inside = next((why for carried in _carried(ip) if (why := why_not_public(str(carried)))), "")
    return inside or (block.name if block is not None else UNALLOCATED)


def translated_range(address: str) -> str:
    """The range in which a network without IPv4 maps this address to a public IPv4 address (NAT64, RFC 6052 and 8215);
    "" for other addresses."""
    try:
        ip = ip_address(address)
    except ValueError:
        return ""
    is_one = (ip in _NAT64 or ip in _LOCAL_NAT64) and all(is_public(str(carried)) for carried in _carried(ip))
    return str(ip_network((int(ip), 96), strict=False)) if is_one else ""


def is_allowed(private_hosts: Iterable[str], host: str, port: int, address: str) -> bool:
    """Whether one of these entries allows requests to `host` on `port` at `address`, although it is not public.

    An IPv4 address contained in an allowed one must be public, or allowed by an entry too.
    """
    texts = tuple(private_hosts)
    if EVERYTHING in texts:
        return True
    entries = [entry for entry in map(_entry, texts) if entry.port in (None, port)]
    if any(entry.name == host.lower().rstrip(".") for entry in entries if entry.network is None):
        return True
    try:
        return _is_within([entry.network for entry in entries if entry.network is not None], ip_address(address))
    except ValueError:
        return False


def is_named(private_hosts: Iterable[str], host: str, port: int, address: str) -> bool:
    """Whether one of these entries names this port of the host or address."""
    with_port = [text for text in private_hosts if text != EVERYTHING and _entry(text).port is not None]
    return is_allowed(with_port, host, port, address)


def parse_private_hosts(texts: Sequence[str]) -> tuple[str, ...]:
    """The entries in normal form, each once, in the order given; BadInput("private_hosts") for an invalid one.

    An entry is a host name, host:port, an IP address, address:port ([::1]:8000 for IPv6), a CIDR range, or "*".
    """
    return tuple(dict.fromkeys(_spelling(text.strip()) for text in texts if text.strip()))


def _is_within(networks: Sequence[IPv4Network | IPv6Network], ip: IPv4Address | IPv6Address) -> bool:
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped is not None and _is_within(networks, ip.ipv4_mapped):
        return True
    if ip in _LOCAL_NAT64:  # only with 96 bits the position of the IPv4 address is certain (RFC 6052, 2.2)
        networks = [network for network in networks if network.prefixlen >= 96]
    return any(ip in network for network in networks) and all(
        is_public(str(carried)) or _is_within(networks, carried) for carried in _carried(ip)
    )


def _carried(ip: IPv4Address | IPv6Address) -> tuple[IPv4Address, ...]:
    """The IPv4 addresses it contains; of Teredo the server's and the client's."""
    if isinstance(ip, IPv4Address):
        return ()
    if ip.sixtofour is not None:
        return (ip.sixtofour,)
    if ip.teredo is not None:
        return ip.teredo
    is_compatible = ip in _COMPATIBLE and int(ip) > 1  # "::" and "::1" contain nothing
    if is_compatible or ip.ipv4_mapped is not None or ip in _NAT64 or ip in _LOCAL_NAT64:
        return (IPv4Address(int(ip) & 0xFFFFFFFF),)
    return ()


def _spelling(text: str) -> str:
    if text == EVERYTHING:
        return text
    entry = _entry(text)
    port = "" if entry.port is None else f":{entry.port}"
    if entry.network is None:
        return entry.name + port
    if entry.network.prefixlen < entry.network.max_prefixlen:
        return str(entry.network)
    address = str(entry.network.network_address)
    return f"[{address}]{port}" if port and ":" in address else address + port


@lru_cache(maxsize=1024)
def _entry(text: str) -> Entry:
    network = _network(text)
    if network is not None:
        return Entry(network=network)
    match = re.fullmatch(r"(\[[^\[\]]+\]|[^\[\]:/]+)(?::([0-9]{1,5}))?", text)
    if match is None or not 1 <= int(match[2] or 1) <= 65535:
        raise _bad(text)
    host, port = _host(match[1], text), int(match[2]) if match[2] else None
    network = _network(host.strip("[]"))
    return Entry(network=network, port=port) if network is not None else Entry(name=host, port=port)


def _network(text: str) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        return None


def _host(host: str, text: str) -> str:
    """The host as in a normalised URL: IDNA, lower case, numeric addresses in normal form."""
    if re.search(r"[\s@?#\\%*]", host):
        raise _bad(text)
    try:
        name: str = ada_url.URL(f"http://{host}/").hostname.rstrip(".")
    except ValueError:
        raise _bad(text) from None
    if not name:  # "." is a URL's host, too
        raise _bad(text)
    return name


def _bad(text: str) -> BadInput:
    return BadInput(
        "private_hosts",
        f"{text!r} is not a host, host:port, IP address or range of addresses; "
        'enter one such as intranet.example:8080 or 10.0.0.0/8, or "*" for every address.',
    )


# Ports that may be requested: at public addresses the allowed ones, and nowhere those that browsers block.

EVERY_PORT = "*"
DEFAULT_PORTS = frozenset({80, 443, 3128, 8000, 8008, 8080, 8081, 8443, 8888})  # 3128 is that of proxies

# Source: the Fetch Standard, "bad port", https://fetch.spec.whatwg.org/#port-blocking: no web server listens
# there, and other servers might interpret a request as commands. Port 0 is listed there too.
_BAD_PORTS = """
    0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135
    137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719
    1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080
"""
_BAD = frozenset(map(int, _BAD_PORTS.split()))


def is_bad(port: int) -> bool:
    """Whether browsers block this port."""
    return port in _BAD


def parse_ports(texts: Sequence[str]) -> Container[int]:
    """The ports that the operator lists, or "*" for all that browsers allow; BadInput("ports") for an invalid one."""
    if EVERY_PORT in texts:
        return range(1, 65536)
    return frozenset(map(_port, texts))


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and 1 <= int(text) <= 65535):
        raise BadInput("ports", f'{text!r} is not a port; enter numbers such as 80,443,8080, or "*" for every port.')
    if is_bad(int(text)):
        raise BadInput("ports", f"Browsers refuse port {text}; allow it for one host, as host:{text} among the hosts.")
    return int(text)


# HTTP proxies: host, port, and possibly user and password, which are never shown.

SOCKS5, SOCKS5H = "socks5", "socks5h"
EXAMPLE = "such as http://proxy.example.com:3128 or http://user:password@proxy.example.com:3128"

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy (absolute URLs for http pages, CONNECT for https pages), or a SOCKS5 proxy."""

    host: str  # an IPv6 address is without brackets
    port: int
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    scheme: str = "http"  # or SOCKS5, or SOCKS5H: it is given names

    @classmethod
    def parse(cls, typed: str, name: str = "proxy") -> Proxy:
        """The proxy that the user typed, or BadInput(name). No message repeats the input: it may contain a password."""
        text = typed.strip()
        if _CONTROL.search(text):
            raise BadInput(
                name, "The proxy's address contains a line break or another control character; enter it on one line."
            )
        scheme = match[1].lower() if (match := _SCHEME.match(text)) else ""
        if scheme.startswith("socks") and scheme not in (SOCKS5, SOCKS5H):
            hint = "only SOCKS5 is supported"
            raise BadInput(name, f"The address of a SOCKS proxy begins with socks5:// or socks5h://: {hint}.")
        if scheme == "https":
            raise BadInput(
                name, f"Connections to a proxy over TLS are not supported; enter one with http://, {EXAMPLE}."
            )
        if scheme not in ("http", SOCKS5, SOCKS5H, ""):
            raise BadInput(name, f"A proxy's address must begin with http:// or socks5://, {EXAMPLE}.")
        return cls._read(text.partition("://")[2] if scheme else text, scheme or "http", name)

    @classmethod
    def _read(cls, text: str, scheme: str, name: str) -> Proxy:
        try:
            parts = urlsplit(ada_url.normalize_url(f"http://{text}"))
            host = parts.hostname or ""
            port = urlsplit(f"//{text}").port or (1080 if scheme in (SOCKS5, SOCKS5H) else 80)
        except ValueError:
            raise BadInput(name, f"This is not a proxy's address; enter one {EXAMPLE}.") from None
        if parts.path not in ("", "/") or parts.query or parts.fragment:
            raise BadInput(name, f"A proxy's address must end with its port; enter one {EXAMPLE}.")
        proxy = cls(host, port, unquote(parts.username or ""), unquote(parts.password or ""), scheme)
        if _CONTROL.search(proxy.user + proxy.password) or ":" in proxy.user:
            raise BadInput(
                name, "The proxy's user cannot contain a colon, and neither user nor password a control character."
            )
        if proxy.is_socks and max(len(proxy.user.encode()), len(proxy.password.encode())) > 255:
            raise BadInput(name, "A SOCKS proxy's user and password can have at most 255 bytes each (RFC 1929).")
        return proxy

    @property
    def is_socks(self) -> bool:
        return self.scheme in (SOCKS5, SOCKS5H)

    @property
    def text(self) -> str:
        """The normal form that `parse` reads back, with the password: for encryption, never to be shown."""
        known = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}@" if self.user or self.password else ""
        return f"{self.scheme}://{known}{self.where}"

    @property
    def authorization(self) -> str:
        """The value of Proxy-Authorization; "" without user and password."""
        if not self.user and not self.password:
            return ""
        return f"Basic {base64.b64encode(f'{self.user}:{self.password}'.encode()).decode()}"

    @property
    def where(self) -> str:
        """Host and port, as in the guard's list of allowed addresses."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        """For users: without the password."""
        known = "…@" if self.user or self.password else ""
        return f"{self.scheme}://{known}{self.where}"
