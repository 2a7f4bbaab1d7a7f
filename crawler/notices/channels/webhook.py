"""Sends a message to a web address as JSON, signed so that the receiver can tell it came from us.

    POST <url>
    Content-Type: application/json
    X-Crawler-Event: crawl.finished
    X-Crawler-Delivery: <id; a second copy has the same>
    X-Crawler-Notice: <id; the same for all receivers, and when somebody has it sent again>
    X-Crawler-Timestamp: <seconds since the epoch>
    X-Crawler-Signature: sha256=<HMAC-SHA256 of timestamp + "." + body under CRAWLER_WEBHOOK_SECRET, in hex>

    {"id": ..., "notice": ..., "event": ..., "crawl": ..., "round": ..., "number": ..., "at": ..., "receipt": {...}}

A notice of pages has "pages" in place of "receipt". docs/notices.md shows each. Any 2xx means taken. A receiver that
checks the signature should also refuse a timestamp that is minutes old.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any

from crawler import clock
from crawler.notices.channels.transport import Message, Poster, judge


def send(
    message: Message, url: str, *, secret: str, poster: Poster, now: Callable[[], float] = clock.epoch_seconds
) -> str:
    """Post the message; TransportError unless the receiver takes it. Without a secret it goes unsigned: a signature
    under an empty one could be made by anybody."""
    body = json.dumps(content(message)).encode()
    timestamp = str(int(now()))
    headers = {
        "Content-Type": "application/json",
        "X-Crawler-Event": message.event,
        "X-Crawler-Delivery": message.id,
        "X-Crawler-Notice": message.notice,
        "X-Crawler-Timestamp": timestamp,
    }
    if secret:
        headers["X-Crawler-Signature"] = signature(secret, timestamp, body)
    return judge(poster.post(url, body, headers))


def content(message: Message) -> dict[str, Any]:
    """What is posted."""
    about = {
        "id": message.id,
        "notice": message.notice,
        "event": message.event,
        "crawl": message.crawl,
        "round": message.round,
        "number": message.number,
        "at": message.at,
    }
    if message.pages is not None:
        return {**about, "pages": list(message.pages)}
    return {**about, "receipt": message.receipt}


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """What X-Crawler-Signature must be; compare with `hmac.compare_digest`."""
    signed = timestamp.encode() + b"." + body
    return "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
