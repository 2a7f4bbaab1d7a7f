"""Sends a message to a web address as JSON, signed so that the receiver can tell it came from us.

    POST <url>
    Content-Type: application/json
    X-Crawler-Event: crawl.finished
    X-Crawler-Delivery: <id; a second copy has the same>
    X-Crawler-Timestamp: <seconds since the epoch>
    X-Crawler-Signature: sha256=<HMAC-SHA256 of timestamp + "." + body under CRAWLER_WEBHOOK_SECRET, in hex>

    {"id": ..., "event": ..., "crawl": ..., "receipt": {...}}

Any 2xx means taken. A receiver that checks the signature should also refuse a timestamp that is minutes old.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Callable, Mapping
from typing import Protocol

from crawler.core.outcomes import Outcome
from crawler.notify.transport import Message, TransportError

_TRY_AGAIN = frozenset({408, 425, 429})  # the 4xx that mean "not now"


class Answer(Protocol):
    """What a receiver said."""

    @property
    def outcome(self) -> Outcome: ...
    @property
    def http_status(self) -> int | None: ...
    @property
    def error(self) -> str: ...


class Poster(Protocol):
    """Posts through the guard, within limits, and follows no redirect: the fetcher for HTTP is one."""

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Answer: ...


def send(message: Message, url: str, *, secret: str, poster: Poster, now: Callable[[], float] = time.time) -> None:
    """Post the message; TransportError unless the receiver takes it. Without a secret it goes unsigned: a signature
    under an empty one could be made by anybody."""
    body = json.dumps(
        {"id": message.id, "event": message.event, "crawl": message.crawl, "receipt": message.receipt}
    ).encode()
    timestamp = str(int(now()))
    headers = {
        "Content-Type": "application/json",
        "X-Crawler-Event": message.event,
        "X-Crawler-Delivery": message.id,
        "X-Crawler-Timestamp": timestamp,
    }
    if secret:
        headers["X-Crawler-Signature"] = signature(secret, timestamp, body)
    _judge(poster.post(url, body, headers))


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """What X-Crawler-Signature must be; compare with `hmac.compare_digest`."""
    signed = timestamp.encode() + b"." + body
    return "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def _judge(answer: Answer) -> None:
    status = answer.http_status
    if status is not None and 200 <= status <= 299:  # taken, whatever became of the answer's body
        return
    if status is None:
        raise TransportError(answer.error, permanent=answer.outcome is Outcome.PRIVATE_ADDRESS)
    redirected = "; redirects are not followed" if 300 <= status <= 399 else ""
    refused = 400 <= status <= 499 and status not in _TRY_AGAIN
    raise TransportError(f"the receiver answered {status}{redirected}", permanent=refused)
