"""A webhook: JSON in a POST request, signed so that the receiver can verify the sender.

    POST <url>
    Content-Type: application/json
    X-Crawler-Event: crawl.finished
    X-Crawler-Delivery: <id; a duplicate has the same>
    X-Crawler-Notice: <id; the same for all receivers, and when it is sent again>
    X-Crawler-Timestamp: <seconds since the epoch>
    X-Crawler-Signature: sha256=<HMAC-SHA256 of timestamp + "." + body under CRAWLER_WEBHOOK_SECRET, in hex>

    {"id": ..., "notice": ..., "event": ..., "crawl": ..., "round": ..., "number": ..., "at": ..., "receipt": {...}}

A page notice has "pages" in place of "receipt". docs/notices.md shows each. Any 2xx means accepted. A receiver that
checks the signature should also reject a timestamp that is minutes old.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Any
from urllib.parse import urlsplit

from crawler.core.channels.kind import ChannelKind, Message, Signing
from crawler.core.errors import BadInput
from crawler.core.urls.normalise import normalise

_URL = re.compile(r"https?://[^/\s]+")


def check(field: str, address: str) -> None:
    if not _URL.match(address) or normalise(address) is None:
        raise BadInput(field, f"{address!r} is not a web address; a webhook begins with https:// or http://.")


def has_credentials(address: str) -> bool:
    """Whether there is a user, a password or a query in it."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return True
    return "@" in parts.netloc or bool(parts.query)


def content(message: Message) -> dict[str, Any]:
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


def headers(message: Message, body: bytes, signing: Signing) -> dict[str, str]:
    """Without a secret there is no signature: anyone could make one under an empty secret."""
    timestamp = str(int(signing.now))
    about = {
        "X-Crawler-Event": message.event,
        "X-Crawler-Delivery": message.id,
        "X-Crawler-Notice": message.notice,
        "X-Crawler-Timestamp": timestamp,
    }
    if signing.secret:
        about["X-Crawler-Signature"] = signature(signing.secret, timestamp, body)
    return about


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """The value of X-Crawler-Signature; compare with `hmac.compare_digest`."""
    signed = timestamp.encode() + b"." + body
    return "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


KIND = ChannelKind(
    name="webhook",
    noun="webhook",
    option="notify_webhooks",
    field_label="Call a webhook",
    help="Web addresses that get each notice as signed JSON.",
    example="https://example.com/hook",
    check=check,
    hides=has_credentials,
    takes_any_url=True,
    takes_pages=True,
    content=content,
    headers=headers,
)
