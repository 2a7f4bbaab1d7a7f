"""The address of a client: the peer of the connection, or the one that trusted proxies forward."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from crawler.core.errors import BadInput

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address

UNKNOWN = ""
"""An unknown address: several users may share that of the peer."""

NOT_PUBLIC = tuple(
    ip_network(name)
    for name in (
        *("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"),
        *("::1/128", "fc00::/7", "fe80::/10"),
    )
)
"""The networks of machines, companies and containers. A peer in one of them that forwards requests is a proxy."""

NETWORK_BITS = 64  # of an IPv6 address; one client may use all addresses of its network


def parse_networks(field: str, typed: Sequence[str]) -> tuple[Network, ...]:
    """Addresses and networks such as 127.0.0.1 or 10.0.0.0/8; raises BadInput for anything else."""
    try:
        return tuple(ip_network(one.strip()) for one in typed if one.strip())
    except ValueError as error:
        raise BadInput(field, f"{error}. Enter addresses or networks such as 127.0.0.1,10.0.0.0/8.") from None


def address_of(peer: str, forwarded: str, trusted: Sequence[Network]) -> str:
    """The address of the client of a request.

    1. The peer of the connection is certain.
    2. If it is a trusted proxy, the last address of its `X-Forwarded-For` takes its place; and so on.
    3. Addresses before the first one that is no trusted proxy may be forged, and are ignored.

    UNKNOWN if a proxy that is not trusted forwards an address, such as one on this machine or before a container: all
    its clients share the address of the peer.
    """
    here = _read(peer)
    if here is None:
        return UNKNOWN
    named = [part.strip() for part in forwarded.split(",") if part.strip()]
    if named and is_unnamed_proxy(peer, trusted):
        return UNKNOWN
    while named and _is_ours(here, trusted):
        before = _read(named.pop())
        if before is None:
            break
        here = before
    return str(here)


def is_trusted(peer: str, trusted: Sequence[Network]) -> bool:
    """Whether this peer is a trusted proxy; one that connects by a socket of the file system is."""
    here = _read(peer)
    return here is None or _is_ours(here, trusted)


def is_unnamed_proxy(peer: str, trusted: Sequence[Network]) -> bool:
    """Whether a peer that forwards requests is a proxy of this installation that is not named as trusted."""
    here = _read(peer)
    return here is not None and _is_ours(here, NOT_PUBLIC) and not _is_ours(here, trusted)


def home_of(address: str) -> str:
    """The key of rate limits: an IPv4 address, or the network of an IPv6 address."""
    read = _read(address)
    if read is None or read.version == 4:
        return address
    return str(ip_network((read, NETWORK_BITS), strict=False))


def _read(text: str) -> Address | None:
    bare = text[1:].partition("]")[0] if text.startswith("[") else text
    if bare.count(":") == 1:  # with a port, as some proxies write it
        bare = bare.partition(":")[0]
    try:
        found = ip_address(bare.partition("%")[0])
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found


def _is_ours(address: Address, trusted: Sequence[Network]) -> bool:
    return any(address in network for network in trusted)
