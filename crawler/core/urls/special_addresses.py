"""The blocks of addresses that are not public: IANA's registries of special-purpose addresses, and what they lack.

A block is in the table unless IANA marks it as globally reachable; a block that IANA leaves open ("N/A", as for 6to4
and Teredo, whose packets go where the local network sends them) is in it too. Smaller blocks within one of these do not
reopen it: anycast services are no web sites.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

import msgspec

REGISTRY_DATE = "2026-07-18"
"""When the registries were copied to tests/data/iana; `python -m tests.special_addresses` renews the table."""

# IANA, generated
_IPV4 = """
0.0.0.0/8 This network
0.0.0.0/32 This host on this network
10.0.0.0/8 Private-Use
100.64.0.0/10 Shared Address Space
127.0.0.0/8 Loopback
169.254.0.0/16 Link Local
172.16.0.0/12 Private-Use
192.0.0.0/24 IETF Protocol Assignments
192.0.0.0/29 IPv4 Service Continuity Prefix
192.0.0.8/32 IPv4 dummy address
192.0.0.170/32 NAT64/DNS64 Discovery
192.0.0.171/32 NAT64/DNS64 Discovery
192.0.2.0/24 Documentation (TEST-NET-1)
192.88.99.0/24 Deprecated (6to4 Relay Anycast)
192.88.99.2/32 6a44-relay anycast address
192.168.0.0/16 Private-Use
198.18.0.0/15 Benchmarking
198.51.100.0/24 Documentation (TEST-NET-2)
203.0.113.0/24 Documentation (TEST-NET-3)
240.0.0.0/4 Reserved
255.255.255.255/32 Limited Broadcast
"""
_IPV6 = """
::1/128 Loopback Address
::/128 Unspecified Address
::ffff:0:0/96 IPv4-mapped Address
64:ff9b:1::/48 IPv4-IPv6 Translat.
100::/64 Discard-Only Address Block
100:0:0:1::/64 Dummy IPv6 Prefix
2001::/23 IETF Protocol Assignments
2001::/32 TEREDO
2001:2::/48 Benchmarking
2001:10::/28 Deprecated (previously ORCHID)
2001:db8::/32 Documentation
2002::/16 6to4
3fff::/20 Documentation
5f00::/16 Segment Routing (SRv6) SIDs
fc00::/7 Unique-Local
fe80::/10 Link-Local Unicast
"""
# end

# Not in these registries, or open there: multicast (RFC 5771, RFC 4291) has its own; NAT64 (RFC 6052) leads to the
# address it carries; others were withdrawn (RFC 4291, RFC 3879), or belong to cloud providers, whose metadata services
# give credentials to any client on the machine.
_OTHERS = """
100.100.100.200/32 Cloud metadata (Alibaba Cloud)
168.63.129.16/32 Cloud service (Azure)
169.254.169.254/32 Cloud metadata (AWS, GCP, Azure IMDS)
169.254.170.2/32 Cloud metadata (AWS ECS task)
192.0.0.192/32 Cloud metadata (Oracle Cloud)
224.0.0.0/4 Multicast
::/96 IPv4-Compatible (deprecated)
64:ff9b::/96 IPv4-IPv6 Translation
fd00:ec2::254/128 Cloud metadata (AWS IMDS over IPv6)
fec0::/10 Site-Local (deprecated)
ff00::/8 Multicast
"""


class Block(msgspec.Struct, frozen=True):
    """One block of addresses that are not public."""

    network: IPv4Network | IPv6Network
    name: str  # IANA's, for users


def _read(table: str) -> tuple[Block, ...]:
    lines = (line.partition(" ") for line in table.split("\n") if line)
    blocks = (Block(ip_network(network), name) for network, _, name in lines)
    return tuple(sorted(blocks, key=lambda block: -block.network.prefixlen))


BLOCKS = _read(_IPV4 + _IPV6 + _OTHERS)
"""The smallest first: the first match of an address has the best name."""

# Reasons besides the name of a block.
NOT_NUMERIC = "not an address in numbers"
ZONED = "known on one network alone"
UNALLOCATED = "not allocated"


def block_of(ip: IPv4Address | IPv6Address) -> Block | None:
    """The smallest block that contains this address; None if there is none."""
    return next((block for block in BLOCKS if block.network.version == ip.version and ip in block.network), None)
