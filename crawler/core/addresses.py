"""Which network addresses are public, and which others a person may allow: the rules behind the guard."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import ada_url

from crawler.core.errors import BadInput

EVERYTHING = "*"

# Sources: IANA's special-purpose address registries for IPv4 and IPv6, where "globally reachable" is not true.
_NOT_PUBLIC_4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this host on this network; 0.0.0.0 reaches loopback on Linux
        "10.0.0.0/8",  # private use
        "100.64.0.0/10",  # shared with carriers; one cloud's metadata service is 100.100.100.200
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # public by number, yet one cloud's service for the machine itself
        "169.254.0.0/16",  # link-local, and most clouds' metadata service
        "172.16.0.0/12",  # private use
        "192.0.0.0/24",  # protocol assignments; one cloud's metadata service is 192.0.0.192
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays, given up
        "192.168.0.0/16",  # private use
        "198.18.0.0/15",  # benchmarking
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and 255.255.255.255 for broadcast
    )
)
_GLOBAL_UNICAST_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, benchmarking, identifiers that are not addresses
        "2001:db8::/32",  # documentation
        "3fff::/20",  # documentation
    )
)
_NAT64 = IPv6Network("64:ff9b::/96")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of `private_hosts`, taken apart. Exactly one of `name` and `network` is set."""

    name: str = ""  # host name as it stands in a normalised URL
    network: IPv4Network | IPv6Network | None = None  # an address is a network of one
    port: int | None = None  # None = any port


def is_public(address: str) -> bool:
    """Whether an address is one anybody on the Internet may be asked at: global unicast and nothing else.

    An IPv6 address that carries an IPv4 one (mapped, NAT64, 6to4) is judged by the one it carries, because that is
    the machine the packet ends at. Text that is no address, or one with a zone ("fe80::1%eth0"), is not public.
    """
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, IPv4Address):
        return not any(ip in network for network in _NOT_PUBLIC_4)
    if ip.scope_id is not None:
        return False
    carried = _carried(ip)
    if carried is not None:
        return is_public(str(carried))
    return ip in _GLOBAL_UNICAST_6 and not any(ip in network for network in _NOT_PUBLIC_6)


def is_allowed(private_hosts: Iterable[str], host: str, port: int, address: str) -> bool:
    """Whether one of these entries lets `host` be asked on `port` at `address`, although it is not public."""
    return any(_allows(entry, host, port, address) for entry in private_hosts)


def parse_private_hosts(texts: Sequence[str]) -> tuple[str, ...]:
    """The entries in their one spelling, each once, in the order given; BadInput("private_hosts") for one unusable.

    An entry is a host name, host:port, an IP address, address:port ([::1]:8000 for IPv6), a CIDR range, or "*".
    """
    return tuple(dict.fromkeys(_spelling(text.strip()) for text in texts if text.strip()))


def _allows(text: str, host: str, port: int, address: str) -> bool:
    if text == EVERYTHING:
        return True
    entry = _entry(text)
    if entry.port not in (None, port):
        return False
    if entry.network is None:
        return entry.name == host.lower().rstrip(".")
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    mapped = ip.ipv4_mapped if isinstance(ip, IPv6Address) else None
    return ip in entry.network or (mapped is not None and mapped in entry.network)


def _carried(ip: IPv6Address) -> IPv4Address | None:
    if ip.ipv4_mapped is not None:
        return ip.ipv4_mapped
    if ip.sixtofour is not None:
        return ip.sixtofour
    return IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else None


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
    """The host as it stands in a normalised URL: IDNA, lower case, one spelling for an address in numbers."""
    if re.search(r"[\s@?#\\%*]", host):
        raise _bad(text)
    try:
        return ada_url.URL(f"http://{host}/").hostname.rstrip(".")
    except ValueError:
        raise _bad(text) from None


def _bad(text: str) -> BadInput:
    return BadInput(
        "private_hosts",
        f"{text!r} is not a host, host:port, IP address or range of addresses; "
        'give one such as intranet.example:8080 or 10.0.0.0/8, or "*" for every address.',
    )
