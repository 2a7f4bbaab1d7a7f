"""Which network addresses are public, and which others a person may allow: the rules behind the guard."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import ada_url
from ssrfguard import DEFAULT_DENIED

from crawler.core.errors import BadInput

EVERYTHING = "*"

# What IANA's registries of special addresses say is read by ssrfguard, which keeps up with them. What it lets through:
_MISSED: tuple[tuple[IPv4Network | IPv6Network, str], ...] = (
    (IPv4Network("168.63.129.16/32"), "one cloud's service for its machines"),
    (IPv4Network("192.0.0.0/24"), "protocol assignments"),
    (IPv6Network("2001::/23"), "protocol assignments, Teredo among them"),
    (IPv6Network("2002::/16"), "6to4, given up"),
)
_GLOBAL_UNICAST_6 = IPv6Network("2000::/3")
_COMPATIBLE = IPv6Network("::/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_LOCAL_NAT64 = IPv6Network("64:ff9b:1::/48")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of `private_hosts`, taken apart. Exactly one of `name` and `network` is set."""

    name: str = ""  # host name as it stands in a normalised URL
    network: IPv4Network | IPv6Network | None = None  # an address is a network of one
    port: int | None = None  # None = any port


def is_public(address: str) -> bool:
    """Whether an address is one anybody on the Internet may be asked at: global unicast and nothing else."""
    return not why_not_public(address)


@lru_cache(maxsize=4096)
def why_not_public(address: str) -> str:
    """What an address is that is not public, for a person; "" for a public one.

    Of IPv6 only 2000::/3 is. An address there or elsewhere that carries an IPv4 one (mapped, compatible, NAT64, 6to4,
    Teredo) is not, whatever it carries: where its packets end is a matter of the network we are in. Nor is text that is
    no address, or one with a zone ("fe80::1%eth0").
    """
    try:
        ip = ip_address(address)
    except ValueError:
        return "not an address in numbers"
    if isinstance(ip, IPv6Address) and ip.scope_id is not None:
        return "known on one network alone"
    verdict = DEFAULT_DENIED.classify(ip)
    if verdict.blocked or (isinstance(ip, IPv6Address) and ip not in _GLOBAL_UNICAST_6):
        return verdict.block.name if verdict.block is not None else "not handed out"
    return next((what for network, what in _MISSED if ip in network), "")


def translated_range(address: str) -> str:
    """The range by which a network without IPv4 writes this address for a public IPv4 one (NAT64, RFC 6052 and 8215);
    "" when it is none of those."""
    try:
        ip = ip_address(address)
    except ValueError:
        return ""
    is_one = (ip in _NAT64 or ip in _LOCAL_NAT64) and all(is_public(str(carried)) for carried in _carried(ip))
    return str(ip_network((int(ip), 96), strict=False)) if is_one else ""


def is_allowed(private_hosts: Iterable[str], host: str, port: int, address: str) -> bool:
    """Whether one of these entries lets `host` be asked on `port` at `address`, although it is not public.

    A range opens no way round itself: an IPv4 address carried within must be public, or allowed by an entry too.
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
    """Whether one of these entries names this very port of the host or address."""
    with_port = [text for text in private_hosts if text != EVERYTHING and _entry(text).port is not None]
    return is_allowed(with_port, host, port, address)


def parse_private_hosts(texts: Sequence[str]) -> tuple[str, ...]:
    """The entries in their one spelling, each once, in the order given; BadInput("private_hosts") for one unusable.

    An entry is a host name, host:port, an IP address, address:port ([::1]:8000 for IPv6), a CIDR range, or "*".
    """
    return tuple(dict.fromkeys(_spelling(text.strip()) for text in texts if text.strip()))


def _is_within(networks: Sequence[IPv4Network | IPv6Network], ip: IPv4Address | IPv6Address) -> bool:
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped is not None and _is_within(networks, ip.ipv4_mapped):
        return True
    if ip in _LOCAL_NAT64:  # only behind 96 bits is it certain where the IPv4 address stands (RFC 6052, 2.2)
        networks = [network for network in networks if network.prefixlen >= 96]
    return any(ip in network for network in networks) and all(
        is_public(str(carried)) or _is_within(networks, carried) for carried in _carried(ip)
    )


def _carried(ip: IPv4Address | IPv6Address) -> tuple[IPv4Address, ...]:
    """The IPv4 addresses within; of Teredo the server's and the client's."""
    if isinstance(ip, IPv4Address):
        return ()
    if ip.sixtofour is not None:
        return (ip.sixtofour,)
    if ip.teredo is not None:
        return ip.teredo
    is_compatible = ip in _COMPATIBLE and int(ip) > 1  # "::" and "::1" carry nothing
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
    """The host as it stands in a normalised URL: IDNA, lower case, one spelling for an address in numbers."""
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
        'give one such as intranet.example:8080 or 10.0.0.0/8, or "*" for every address.',
    )
