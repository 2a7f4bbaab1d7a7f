"""A crawl's progress as server-sent events (WHATWG HTML, 9.2): what is said, and what was said already.

The id of an event names what its listener has seen by it: state, round, pages discovered and closed. So whoever comes
back with the last id they got is told what changed since, and nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

HEARTBEAT = b": still here\n\n"


@dataclass(frozen=True)
class Seen:
    """A crawl at one moment."""

    state: str
    is_over: bool
    round: int
    discovered: int
    closed: int
    progress: Mapping[str, Any]  # what is told while it runs
    receipt: Mapping[str, Any]  # what is told when it is over

    @property
    def id(self) -> str:
        return f"{self.state}.{self.round}.{self.discovered}.{self.closed}"


def told(seen: Seen, last_id: str) -> Iterator[bytes]:
    """What is to be said to somebody whose last event had this id; "" = they were told nothing yet. Of several events
    the last alone has the id: whoever misses it is told all of them again."""
    if seen.id == last_id:
        return
    if last_id.partition(".")[0] != seen.state:
        yield event("state", {"state": seen.state})
    yield event("finished", seen.receipt, seen.id) if seen.is_over else event("progress", seen.progress, seen.id)


def event(name: str, data: Mapping[str, Any], event_id: str = "") -> bytes:
    """One event; JSON has no line ends, so its data is one line."""
    lines = [
        f"id: {event_id}\n" if event_id else "",
        f"event: {name}\n",
        f"data: {msgspec.json.encode(data).decode()}\n",
    ]
    return ("".join(lines) + "\n").encode()


def retry(milliseconds: int) -> bytes:
    """After how long a listener whose stream has ended comes back."""
    return f"retry: {milliseconds}\n\n".encode()
