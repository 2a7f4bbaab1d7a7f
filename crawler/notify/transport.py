"""What is sent when something happens to a crawl, and the shape every transport has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from crawler.core.errors import CrawlerError


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One notice on its way to one receiver. A second copy has the same id, so that it can be told from a new one."""

    id: str  # of the delivery
    event: str  # what happened, such as "crawl.finished"
    crawl: str  # UUID
    receipt: Mapping[str, Any]  # as JSON shows it
    subject: str  # one line for a person
    text: str  # the notice for a person


class Transport(Protocol):
    """A function that hands a message to one receiver. What else it needs is given by name."""

    def __call__(self, message: Message, receiver: str, /) -> None:
        """Return once the receiver has taken the message; raise TransportError otherwise."""
        ...


class TransportError(CrawlerError):
    """The message was not taken, or nobody can say that it was. `permanent` means that trying again is pointless."""

    def __init__(self, message: str, permanent: bool) -> None:
        super().__init__(message)
        self.message = message
        self.permanent = permanent
