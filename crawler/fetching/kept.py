"""The connections kept for the next request: one for each origin, and not many origins."""

from __future__ import annotations

from crawler.fetching.connection import Connection

HOSTS = 8  # a slice needs one, its robots.txt perhaps another


class Kept:
    """Origin ("scheme://host[:port]") to connection, the one longest unused first."""

    def __init__(self) -> None:
        self._connections: dict[str, Connection] = {}

    def take(self, origin: str) -> Connection | None:
        """The origin's connection if it can still be used; it is the caller's from now on."""
        connection = self._connections.pop(origin, None)
        if connection is None or connection.is_quiet():
            return connection
        connection.close()
        return None

    def keep(self, origin: str, connection: Connection) -> None:
        self._connections[origin] = connection
        if len(self._connections) > HOSTS:
            self._connections.pop(next(iter(self._connections))).close()

    def close(self) -> None:
        while self._connections:
            self._connections.popitem()[1].close()
