"""A server's answer: its head, and a body that is read as it comes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from crawler.fetching.connection import Connection
from crawler.fetching.reading import Reading
from crawler.fetching.recorded import Recorded, RecordedReading, recorded

MAX_HEAD = 8000  # characters of an answer's headers that are kept for people


class Answer:
    """What `requests.Response.raw` is with us. Made when its head is complete."""

    def __init__(self, reading: Reading, connection: Connection, keep: Callable[[Connection], None]) -> None:
        self.status = reading.status
        self.bytes_read = 0  # of the body, as they came over the wire without the framing
        self._reading = reading
        self._connection = connection
        self._is_open = True
        self._keep = keep

    def header(self, name: bytes) -> str:
        """The first header of this name (in lower case) or ""; as Latin-1, whatever its bytes mean."""
        value = self._reading.first.get(name)
        return value.decode("latin-1").strip() if value else ""

    def headers(self, name: bytes) -> list[str]:
        """All of this name; trailing blanks, which are no part of them, are still there."""
        if name not in self._reading.first:
            return []
        return [value.decode("latin-1") for known, value in self._reading.fields if known.lower() == name]

    def head(self) -> str:
        """Its headers as they came, one a line, as Latin-1; at most MAX_HEAD characters."""
        return b"\n".join([name + b": " + value for name, value in self._reading.fields]).decode("latin-1")[:MAX_HEAD]

    def recorded(
        self, method: str, target: str, host: str, sent: Mapping[str, str], public: Collection[str]
    ) -> Recorded | None:
        """Both heads of the exchange, see `recorded`; None unless they were to be kept."""
        reading = self._reading
        return recorded(method, target, host, sent, public, reading) if isinstance(reading, RecordedReading) else None

    def length(self) -> int | None:
        """Bytes of the body as announced, before any was read; None when only its end will tell."""
        if self._reading.is_complete and not self._reading.pieces:
            return 0
        announced = self._reading.first.get(b"content-length")
        if announced is None:
            return None
        return int(announced.lstrip(b"0") or b"0")  # Python converts 4300 digits at most, and counts leading zeros

    def is_chunked(self) -> bool:
        return self._reading.is_chunked()

    def read(self) -> bytes:
        """The next piece of the body, no larger than the connection's buffer; b"" at its end. Raises `TROUBLE`."""
        reading = self._reading
        while not reading.pieces and not reading.is_complete:
            self._advance()
        piece = reading.pieces[0] if len(reading.pieces) == 1 else b"".join(reading.pieces)
        reading.pieces.clear()
        self.bytes_read += len(piece)
        return piece

    def close(self) -> None:
        """Give the connection back if the answer was read to its end, and else hang up."""
        if not self._is_open:
            return
        self._is_open = False
        if self._reading.is_reusable() and not self._reading.pieces:
            self._keep(self._connection)
        else:
            self._connection.close()
        self._reading.let_go()

    def _advance(self) -> None:
        if self._reading.broken is not None:
            raise self._reading.broken
        receive(self._connection, self._reading)


def receive(connection: Connection, reading: Reading) -> None:
    """Hand what arrives next to the reading, or that nothing will."""
    data = connection.receive()
    if data:
        reading.feed(data)
    else:
        reading.end()
