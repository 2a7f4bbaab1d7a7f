"""What is sent when something happens to a crawl, and the shape every transport has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from crawler.core.errors import CrawlerError


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One notice on its way to one receiver. A second copy has the same id, so that it can be told from a new one."""

    id: str  # of the delivery
    event: str  # what happened, such as "crawl.finished"
    crawl: str  # UUID
    receipt: Mapping[str, Any]  # as JSON shows it; empty when it tells of pages
    subject: str  # one line for a person
    text: str  # the notice for a person
    notice: str = ""  # its id: the same for all receivers, and when it is sent once more
    round: int = 1  # of the crawl
    number: int = 0  # of those of this event in this round
    at: str = ""  # when it happened, ISO 8601 in UTC
    pages: Sequence[Mapping[str, Any]] | None = None  # what it tells of in place of a receipt
    sentence: str = ""  # what happened, for places that lay the rest out themselves
    figures: Sequence[tuple[str, str]] = field(default=())  # names and numbers for such a place
    link: str = ""  # to the crawl's page


class Transport(Protocol):
    """A function that hands a message to one receiver. What else it needs is given by name."""

    def __call__(self, message: Message, receiver: str, /) -> str:
        """What the receiver said when it took the message, in a line; raise TransportError otherwise."""
        ...


class TransportError(CrawlerError):
    """The message was not taken, or nobody can say that it was. `permanent` means that trying again is pointless."""

    def __init__(self, message: str, permanent: bool) -> None:
        super().__init__(message)
        self.message = message
        self.permanent = permanent
