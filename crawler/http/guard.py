"""Which addresses and ports may be requested: public ones on allowed ports, and those the user allowed."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import msgspec

from crawler import conf
from crawler.core.errors import BadInput, RefusedAddress
from crawler.core.text.controls import by_surface
from crawler.core.urls.addresses import (
    DEFAULT_PORTS,
    is_allowed,
    is_bad,
    is_named,
    is_public,
    parse_private_hosts,
    translated_range,
    why_not_public,
)
from crawler.core.urls.normalise import host_and_port
from crawler.http.errors import AddressRefused, FetchTimeout, NameNotFound, NotConnected, PortRefused
from crawler.http.with_timeout import call_with_timeout

__all__ = [
    "AddressRefusal",
    "AddressRefused",
    "Endpoint",
    "FetchTimeout",
    "Guard",
    "NameNotFound",
    "NotConnected",
    "PortRefused",
    "parse_private_hosts",
]

Resolver = Callable[..., list[tuple[Any, ...]]]
"""`socket.getaddrinfo`, or a function with its signature."""


HOW_TO_ALLOW = by_surface(
    command="; allow it with --allow-private, or for all crawls by CRAWLER_PRIVATE_HOSTS",
    page="",  # the form has a button for those who may
    api="; a superuser may allow it with `allow_private`",
)
FOR_NOTICES = "; allow it by CRAWLER_PRIVATE_HOSTS"  # nothing else permits it there
FOR_DNS64 = "in a network that reaches IPv4 by DNS64, allow {} by CRAWLER_PRIVATE_HOSTS"


_IN_NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+){3}")  # the only notation of IPv4 in a normalised URL


class AddressRefusal(msgspec.Struct, frozen=True):
    """Why an address is refused."""

    reason: str  # one line
    kind: type[AddressRefused] = AddressRefused


class Endpoint(NamedTuple):
    """A checked address, to be connected to without another lookup."""

    family: int  # socket.AF_INET or socket.AF_INET6
    sockaddr: tuple[Any, ...]  # the argument of `socket.connect`; the IP address comes first


@dataclass(frozen=True)
class Guard:
    """Checks addresses after resolving, so that no notation and no name server can circumvent it."""

    private_hosts: tuple[str, ...] = ()  # as `parse_private_hosts` gives them
    ports: Container[int] = DEFAULT_PORTS  # of public addresses
    lookup_seconds: float = 10.0  # for a name lookup; the system's resolver has a longer timeout
    resolver: Resolver = field(default=socket.getaddrinfo, compare=False, repr=False)

    def check(self, host: str, port: int, address: str) -> AddressRefusal | None:
        """None if `host` may be requested on `port` at this IP address."""
        if is_named(self.private_hosts, host, port, address):
            return None
        if not is_public(address) and not is_allowed(self.private_hosts, host, port, address):
            translated = translated_range(address)
            how = f"; {FOR_DNS64.format(translated)}" if translated else ""
            return AddressRefusal(f"{address} is a private address ({why_not_public(address)}){how}")
        if is_bad(port):
            return _port_refused(f"port {port} is blocked by browsers", host, port)
        if is_public(address) and port not in self.ports:
            return _port_refused(f"port {port} is not in CRAWLER_PORTS", host, port)
        return None

    def resolve(self, host: str, port: int, seconds: float | None = None) -> list[Endpoint]:
        """Every address of the host, in the resolver's order, all of them allowed; looked up within `seconds`.

        If one of them is not allowed, the host is refused: which one is used must not depend on chance. Raises
        AddressRefused, NameNotFound, FetchTimeout if the name servers are slow, NotConnected if the lookup fails.
        """
        endpoints = self._look_up(host, port, self.lookup_seconds if seconds is None else seconds)
        for endpoint in endpoints:
            refused = self.check(host, port, str(endpoint.sockaddr[0]))
            if refused is not None:
                raise refused.kind(refused.reason)
        return endpoints

    def _look_up(self, host: str, port: int, seconds: float) -> list[Endpoint]:
        try:
            answers = self._answers(host, port, seconds)
        except TimeoutError as error:
            raise FetchTimeout(f"the host name {host} does not resolve in {seconds:g} seconds") from error
        except socket.gaierror as error:
            raise NameNotFound(f"the host name {host} does not resolve: {error.strerror}") from error
        except OSError as error:  # an error of this system, such as too many open files
            raise NotConnected(f"the host name {host} cannot be looked up: {error.strerror or error}") from error
        except UnicodeError as error:  # an empty label, or one longer than 63 characters
            raise NameNotFound(f"the host name {host} is invalid: {error}") from error
        if not answers:
            raise NameNotFound(f"the host name {host} has no address")
        return [Endpoint(family, sockaddr) for family, _, _, _, sockaddr in answers]

    def _answers(self, host: str, port: int, seconds: float) -> list[tuple[Any, ...]]:
        ask = partial(self.resolver, host, port, type=socket.SOCK_STREAM)
        is_in_numbers = ":" in host or _IN_NUMBERS.fullmatch(host) is not None  # no lookup needed
        return ask() if is_in_numbers else call_with_timeout(ask, seconds)


def _port_refused(why: str, host: str, port: int) -> AddressRefusal:
    entry = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return AddressRefusal(f"{why}; allow it for this host by {entry} in CRAWLER_PRIVATE_HOSTS", PortRefused)


def guard_of(private_hosts: Iterable[str]) -> Guard:
    """The guard of this installation: public addresses on the ports of CRAWLER_PORTS, and these other hosts."""
    return Guard(tuple(private_hosts), conf.ports())


def check_web_address(guard: Guard, url: str, field: str, *, is_secret: bool = False, how: str = HOW_TO_ALLOW) -> None:
    """Raise BadInput for an address that the guard would refuse when connecting."""
    try:
        host, port = host_and_port(url)
    except ValueError:
        raise BadInput(field, "This URL is invalid: its host or port cannot be read.") from None
    check_host(guard, host, port, host if is_secret else url, field, how)


def check_host(guard: Guard, host: str, port: int, shown: str, field: str, how: str = HOW_TO_ALLOW) -> None:
    try:
        guard.resolve(host, port)
    except PortRefused as error:
        raise BadInput(field, f"{shown} is refused: {error}") from None
    except AddressRefused as error:
        raise RefusedAddress(field, f"{shown} is refused: {error}{how}") from None
    except (FetchTimeout, NotConnected) as error:
        raise BadInput(field, f"{shown} cannot be checked: {error}. Try again later") from None
    except NameNotFound:
        raise BadInput(field, f"There is no host named {host}: check the spelling of {shown}") from None
