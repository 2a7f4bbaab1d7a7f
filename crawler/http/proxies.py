"""The proxies of a crawl: which one a host is requested through, and which are left out for a while."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from hashlib import blake2b
from typing import Protocol

from crawler.http.connector import Gateway


class Health(Protocol):
    """Remembers which proxies cannot be connected to, by their number; see `frontier.proxy_health`."""

    def left_out(self) -> Collection[int]: ...

    def note_failure(self, number: int) -> None: ...

    def note_success(self, number: int) -> None: ...


class Proxies:
    """The proxies of one fetcher, or none.

    Each host has one of them, the same in every worker, so that a site is requested from one address and its delay and
    connections are what they are without. When it cannot be connected to, the host has another, and only the hosts of
    that proxy change theirs (rendezvous hashing). Those that are left out come last: when there is no other.
    """

    def __init__(self, gateways: Sequence[Gateway], health: Health | None = None) -> None:
        self.gateways = gateways
        self._health = health if len(gateways) > 1 else None
        self._left_out: set[int] | None = None  # for this fetcher; None = not known yet

    def order(self, host: str) -> list[int]:
        """The numbers of all proxies, the host's own first."""
        out = self._known_left_out()
        return sorted(range(len(self.gateways)), key=lambda number: (number in out, self._rank(host, number)))

    def note_failure(self, number: int) -> None:
        """It cannot be connected to."""
        self._known_left_out().add(number)
        if self._health is not None:
            self._health.note_failure(number)

    def note_success(self, number: int) -> None:
        """A request went through it, or failed at the host."""
        self._known_left_out().discard(number)
        if self._health is not None:
            self._health.note_success(number)

    def _known_left_out(self) -> set[int]:
        if self._left_out is None:
            self._left_out = set(self._health.left_out()) if self._health is not None else set()
        return self._left_out

    def _rank(self, host: str, number: int) -> bytes:
        return blake2b(f"{number} {host}".encode(), digest_size=8).digest()
