"""The secrets of webhooks: one for each address and owner, shown once, and replaced without a gap."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

import msgspec
from django.db import transaction

from crawler import clock, encryption
from crawler.accounts import audit
from crawler.core.channels import webhook
from crawler.models import WebhookSecret

ROTATION = timedelta(hours=24)
"""For how long the secret before a new one still signs, so that receivers can be changed one after the other."""


class NewSecret(msgspec.Struct, frozen=True):
    """A secret that was just made; it cannot be shown again."""

    secret: str  # "whsec_..."
    previous_until: datetime | None  # until when the one before signs too; None = there was none


def secrets_for(transport: str, owner_id: int | None, address: str) -> tuple[str, ...]:
    """The secrets that sign notices to this address now, the newest first. Raises SealBroken."""
    if transport != webhook.KIND.name:
        return ()
    row = WebhookSecret.objects.filter(owner=owner_id, address_digest=_digest(address)).first()
    if row is None:
        return ()
    is_rotating = row.previous_until is not None and row.previous_until > clock.now()
    sealed = [row.secret, row.previous] if is_rotating else [row.secret]
    return tuple(encryption.opened_address(text) for text in sealed)


def has_secret(owner_id: int | None, address: str) -> bool:
    return WebhookSecret.objects.filter(owner=owner_id, address_digest=_digest(address)).exists()


def make_secret(owner_id: int | None, address: str) -> NewSecret:
    """Make a secret for the webhooks at this address, or replace it: then both sign for a day. An address is stored as
    a digest only."""
    webhook.check("address", address)
    secret = webhook.secret_of(secrets.token_bytes(webhook.KEY_BYTES))
    sealed, now = encryption.seal_address(secret), clock.now()
    with transaction.atomic():
        row, is_first = WebhookSecret.objects.select_for_update().get_or_create(
            owner_id=owner_id, address_digest=_digest(address), defaults={"secret": sealed}
        )
        if not is_first:
            row.previous, row.previous_until = row.secret, now + ROTATION
            row.secret, row.created_at = sealed, now
            row.save(update_fields=["secret", "previous", "previous_until", "created_at"])
        audit.note("webhook.secret_made", after={"rotated": not is_first})
    return NewSecret(secret, row.previous_until)


def _digest(address: str) -> str:
    return hashlib.sha256(address.encode()).hexdigest()
