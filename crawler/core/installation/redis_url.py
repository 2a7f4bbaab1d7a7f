"""REDIS_URL: one server, or the sentinels that know which server is the primary; and which servers can be used.

A URL with sentinels has the form of the package Redis-Sentinel-Url, which RQ's dashboard uses, with user name and TLS:

    redis+sentinel://[[user]:password@]host[:port][,host[:port]...]/service[/number][?option=value...]

User, password, number and options are for the servers, as in redis://; options that begin with `sentinel_` are for
the sentinels. `rediss+sentinel://` uses TLS for both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from crawler.core.errors import BadInput

DIRECT = ("redis://", "rediss://", "unix://")
SENTINEL = ("redis+sentinel://", "rediss+sentinel://")
CLUSTER = ("redis+cluster://", "rediss+cluster://")
SENTINEL_PORT = 26379
MIN_REDIS_MAJOR = 6  # oldest major version with all commands that are used

NO_CLUSTER = (
    "Redis Cluster is not supported, because transactions use several keys: use one Redis server, with replicas and "
    "Sentinel for high availability (docs/redis.md)."
)

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:,/@]+)(?::(\d{1,5}))?")


class SentinelUrl(msgspec.Struct, frozen=True):
    """The parts of a URL with sentinels."""

    sentinels: tuple[tuple[str, int], ...]  # host, port
    service: str  # the name by which the sentinels know the primary
    server: str  # a redis:// or rediss:// URL with the user, password, number and options of every server


def check(url: str) -> None:
    """Raise BadInput unless this may be a REDIS_URL."""
    if url.startswith(CLUSTER):
        raise BadInput("redis_url", NO_CLUSTER)
    if url.startswith(SENTINEL):
        parse_sentinel(url)
    elif not url.startswith(DIRECT):
        raise BadInput(
            "redis_url",
            "It must begin with redis://, rediss://, unix:// or, for Sentinel, redis+sentinel:// or "
            "rediss+sentinel://, such as redis://127.0.0.1:6379/0.",
        )


def parse_sentinel(url: str) -> SentinelUrl | None:
    """None for a URL without sentinels. Raises BadInput for one that cannot be read."""
    if not url.startswith(SENTINEL):
        return None
    scheme, _, rest = url.partition("://")
    address, _, query = rest.partition("?")
    place, _, path = address.rpartition("@")[2].partition("/")
    service, _, number = path.partition("/")
    hosts = [_HOST.fullmatch(host) for host in place.split(",")]
    if not service or not (number.isdecimal() or not number) or None in hosts:
        raise BadInput(
            "redis_url",
            "With Sentinel it must name the sentinels and their service, such as "
            "redis+sentinel://:PASSWORD@host1:26379,host2:26379,host3:26379/mymaster/0.",
        )
    who = "".join(address.rpartition("@")[:2])
    return SentinelUrl(
        sentinels=tuple((host[1].strip("[]"), int(host[2] or SENTINEL_PORT)) for host in hosts if host),
        service=service,
        server=f"{scheme.partition('+')[0]}://{who}{place.split(',')[0]}/{number or 0}" + (query and f"?{query}"),
    )


def of_socket(path: str) -> str:
    """The URL of a server that listens on the Unix socket with this path."""
    return f"unix://{quote(path)}"


def without_secrets(url: str) -> str:
    """The URL without user, password and options, one of which may be a password."""
    scheme, mark, rest = url.partition("?")[0].partition("://")
    return f"{scheme}{mark}{rest.rpartition('@')[2]}" if mark else scheme.rpartition("@")[2]


def check_info(info: Mapping[str, Any]) -> None:
    """Raise BadInput unless a server with these fields of INFO (sections `server` and `cluster`) may be used."""
    if info.get("cluster_enabled"):
        raise BadInput("redis_url", NO_CLUSTER)
    version = str(info.get("redis_version", ""))
    if version and int(version.partition(".")[0]) < MIN_REDIS_MAJOR:
        raise BadInput("redis_url", f"It is version {version}; {MIN_REDIS_MAJOR}.0 or newer is needed.")
