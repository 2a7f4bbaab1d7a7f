"""A webhook: JSON in a POST request, signed by the Standard Webhooks specification, 1.0.

    POST <url>
    Content-Type: application/json
    webhook-id: <id of the delivery; a duplicate has the same>
    webhook-timestamp: <seconds since the epoch>
    webhook-signature: v1,<base64 of HMAC-SHA256 of id + "." + timestamp + "." + body>

    {"id": ..., "notice": ..., "event": ..., "crawl": ..., "round": ..., "number": ..., "at": ..., "receipt": {...}}

During a rotation there are two signatures with a blank between them, under the new secret and the one before. A
receiver without a secret of its own gets one under CRAWLER_WEBHOOK_SECRET. A page notice has "pages" in place of
"receipt"; docs/notices.md shows each. Any 2xx means accepted.

The headers of the version before are sent too: X-Crawler-Event, -Delivery, -Notice, -Timestamp and -Signature
("sha256=" and HMAC-SHA256 of timestamp + "." + body under CRAWLER_WEBHOOK_SECRET, in hex).

Source: https://www.standardwebhooks.com
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from typing import Any
from urllib.parse import urlsplit

from crawler.core.channels.kind import ChannelKind, Message, SigningContext
from crawler.core.errors import BadInput
from crawler.core.urls.normalise import normalise

KEY_PREFIX = "whsec_"
KEY_BYTES = 32  # the specification asks for 24 to 64

_URL = re.compile(r"https?://[^/\s]+")


def check(field: str, address: str) -> None:
    if not _URL.match(address) or normalise(address) is None:
        raise BadInput(field, f"{address!r} is not a web address; enter one with https:// or http://.")


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


def headers(message: Message, body: bytes, signing: SigningContext) -> dict[str, str]:
    """Without a secret there is no signature: anyone could make one under an empty secret."""
    timestamp = str(int(signing.now))
    about = {
        "webhook-id": message.id,
        "webhook-timestamp": timestamp,
        "X-Crawler-Event": message.event,
        "X-Crawler-Delivery": message.id,
        "X-Crawler-Notice": message.notice,
        "X-Crawler-Timestamp": timestamp,
    }
    if signing.secret:
        about["X-Crawler-Signature"] = signature(signing.secret, timestamp, body)
    keys = [key_of(secret) for secret in signing.own_secrets] or [signing.secret.encode()] * bool(signing.secret)
    if keys:
        about["webhook-signature"] = " ".join(standard_signature(key, message.id, timestamp, body) for key in keys)
    return about


def secret_of(key: bytes) -> str:
    """A key as receivers configure it, such as "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"."""
    return KEY_PREFIX + base64.b64encode(key).decode()


def key_of(secret: str) -> bytes:
    return base64.b64decode(secret.removeprefix(KEY_PREFIX))


def standard_signature(key: bytes, message_id: str, timestamp: str, body: bytes) -> str:
    """One signature of `webhook-signature`."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


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
