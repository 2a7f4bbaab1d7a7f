"""Where a request comes from: the address that connected, or the one that proxies of ours name before it."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from crawler.core.errors import BadInput

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address

NOBODY = ""
"""An address that is not known: several people may share the one that connected."""

ONE_HOME = 64  # bits of an IPv6 address that tell one network from another; who has one has all addresses below it


def parse_networks(field: str, typed: Sequence[str]) -> tuple[Network, ...]:
    """Addresses and networks such as 127.0.0.1 or 10.0.0.0/8; BadInput for what is neither."""
    try:
        return tuple(ip_network(one.strip()) for one in typed if one.strip())
    except ValueError as error:
        raise BadInput(field, f"{error}. Give addresses or networks such as 127.0.0.1,10.0.0.0/8.") from None


def address_of(peer: str, forwarded: str, trusted: Sequence[Network]) -> str:
    """The address a request comes from.

    1. Who connected is believed, because the kernel says it.
    2. Where that is a proxy of ours, the last address of its `X-Forwarded-For` takes its place; and so on.
    3. What stands before the first address that is no proxy of ours was written by a stranger, and is left unread.

    NOBODY where a proxy on this very machine names somebody and is not known to be ours.
    """
    here = _read(peer)
    if here is None:
        return NOBODY
    named = [part.strip() for part in forwarded.split(",") if part.strip()]
    if named and here.is_loopback and not _is_ours(here, trusted):
        return NOBODY
    while named and _is_ours(here, trusted):
        before = _read(named.pop())
        if before is None:
            break
        here = before
    return str(here)


def home_of(address: str) -> str:
    """What many tries are counted by: an IPv4 address, or the network an IPv6 address is of."""
    read = _read(address)
    if read is None or read.version == 4:
        return address
    return str(ip_network((read, ONE_HOME), strict=False))


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
