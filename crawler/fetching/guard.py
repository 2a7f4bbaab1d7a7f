"""Which addresses may be asked: public ones, and those a person allowed."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from crawler.core.addresses import is_allowed, is_public, parse_private_hosts
from crawler.fetching.trouble import AddressRefused, NameNotFound

__all__ = ["AddressRefused", "Endpoint", "Guard", "NameNotFound", "Refused", "parse_private_hosts"]

Resolver = Callable[..., list[tuple[Any, ...]]]
"""`socket.getaddrinfo`, or something with its shape."""


HOW_TO_ALLOW = 'allow it under "Private networks", with --allow-private or by CRAWLER_PRIVATE_HOSTS'
"""On the page, on the command line, for all crawls."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Why an address may not be asked."""

    reason: str  # one line that names the option and the setting which allow it


class Endpoint(NamedTuple):
    """An address that was checked and is connected to as it stands."""

    family: int  # socket.AF_INET or socket.AF_INET6
    sockaddr: tuple[Any, ...]  # what `socket.connect` takes; the address in numbers comes first


@dataclass(frozen=True)
class Guard:
    """Judges addresses after resolving, so that no spelling and no name server can talk it round."""

    private_hosts: tuple[str, ...] = ()  # as `parse_private_hosts` gives them
    resolver: Resolver = field(default=socket.getaddrinfo, compare=False, repr=False)

    def check(self, host: str, port: int, address: str) -> Refused | None:
        """None when `host` may be asked on `port` at this address in numbers."""
        if is_public(address) or is_allowed(self.private_hosts, host, port, address):
            return None
        return Refused(f"{address} is a private address; {HOW_TO_ALLOW}")

    def resolve(self, host: str, port: int) -> list[Endpoint]:
        """Every address of the host, in the resolver's order, all of them allowed.

        One that is not allowed refuses the host: which of them is used must not be a matter of luck. The system's
        resolver keeps its own time limit. Raises AddressRefused and NameNotFound.
        """
        endpoints = self._look_up(host, port)
        for endpoint in endpoints:
            refused = self.check(host, port, str(endpoint.sockaddr[0]))
            if refused is not None:
                raise AddressRefused(refused.reason)
        return endpoints

    def _look_up(self, host: str, port: int) -> list[Endpoint]:
        try:
            answers = self.resolver(host, port, type=socket.SOCK_STREAM)
        except socket.gaierror as error:
            raise NameNotFound(f"the host name {host} does not resolve: {error.strerror}") from error
        except UnicodeError as error:  # an empty label, or one longer than 63 characters
            raise NameNotFound(f"the host name {host} cannot exist: {error}") from error
        if not answers:
            raise NameNotFound(f"the host name {host} has no address")
        return [Endpoint(family, sockaddr) for family, _, _, _, sockaddr in answers]
