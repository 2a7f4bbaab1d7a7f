"""The guard every request of this installation goes by, and addresses that are checked with it beforehand."""

from __future__ import annotations

from collections.abc import Iterable

from crawler import conf
from crawler.core.errors import BadInput, RefusedAddress
from crawler.core.urls.normalise import host_and_port
from crawler.http.guard import AddressRefused, Guard, NameNotFound, NotConnected, OutOfTime, PortRefused


def guard_of(private_hosts: Iterable[str]) -> Guard:
    """Public addresses on the ports that are set, and these others."""
    return Guard(tuple(private_hosts), conf.ports())


def check_web_address(guard: Guard, url: str, field: str, *, is_secret: bool = False) -> None:
    """Refuse early what the guard would refuse at the moment of connecting."""
    try:
        host, port = host_and_port(url)
    except ValueError:
        raise BadInput(field, "This web address cannot be read: its host or port is none.") from None
    check_host(guard, host, port, host if is_secret else url, field)


def check_host(guard: Guard, host: str, port: int, shown: str, field: str) -> None:
    try:
        guard.resolve(host, port)
    except PortRefused as error:
        raise BadInput(field, f"{shown} is refused: {error}") from None
    except AddressRefused as error:
        raise RefusedAddress(field, f"{shown} is refused: {error}") from None
    except (OutOfTime, NotConnected) as error:
        raise BadInput(field, f"{shown} cannot be checked: {error}. Try again in a while") from None
    except NameNotFound:
        raise BadInput(field, f"There is no host named {host}: check the spelling of {shown}") from None
