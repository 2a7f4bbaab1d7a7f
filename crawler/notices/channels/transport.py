"""The message of a notice, and the interface of every transport."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from crawler.core.crawl.outcomes import Outcome
from crawler.core.errors import CrawlerError


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One notice for one receiver. A duplicate has the same id."""

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
    """A function that sends a message to one receiver. Further arguments are keywords."""

    def __call__(self, message: Message, receiver: str, /) -> str:
        """The receiver's answer in one line; raises TransportError if it did not accept the message."""
        ...


class TransportError(CrawlerError):
    """The message was not accepted, or that is unknown. `permanent` means that a retry is pointless."""

    def __init__(self, message: str, permanent: bool) -> None:
        super().__init__(message)
        self.message = message
        self.permanent = permanent


# Shared by the transports that post: the poster, and the meaning of the receiver's response.

_RETRY_STATUSES = frozenset({408, 425, 429})  # the 4xx that mean "not now"


class Answer(Protocol):
    """A receiver's response."""

    @property
    def outcome(self) -> Outcome: ...
    @property
    def http_status(self) -> int | None: ...
    @property
    def error(self) -> str: ...


class Poster(Protocol):
    """Posts through the guard, within limits, and follows no redirects, as `HttpFetcher` does."""

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Answer: ...


def post_json(poster: Poster, url: str, content: Mapping[str, Any]) -> str:
    """Post this as JSON; returns the receiver's answer in one line, or raises TransportError."""
    return judge(poster.post(url, json.dumps(content).encode(), {"Content-Type": "application/json"}))


def judge(answer: Answer) -> str:
    """The receiver's answer in one line; raises TransportError if it did not accept the message."""
    status = answer.http_status
    if status is not None and 200 <= status <= 299:  # taken, whatever became of the answer's body
        return f"the receiver answered {status}"
    if status is None:
        raise TransportError(answer.error, permanent=answer.outcome is Outcome.PRIVATE_ADDRESS)
    redirected = "; redirects are not followed" if 300 <= status <= 399 else ""
    refused = 400 <= status <= 499 and status not in _RETRY_STATUSES
    raise TransportError(f"the receiver answered {status}{redirected}", permanent=refused)
