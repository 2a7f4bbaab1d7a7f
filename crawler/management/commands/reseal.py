"""`manage.py reseal`: encrypts with the current SECRET_KEY what was encrypted with an earlier one, and web addresses
that an earlier version stored in plain text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from django.db import transaction
from django.db.models import Model

from crawler import encryption
from crawler.accounts import audit
from crawler.core.channels.catalogue import SEALED, is_encrypted
from crawler.core.errors import SealBroken
from crawler.core.options.receivers import MAY_BE_SECRET, RECEIVERS
from crawler.management.base import CrawlerCommand, Exit
from crawler.models import Channel, Crawl, Delivery, Schedule, WebhookSecret

Row = Crawl | Schedule | Channel | Delivery | WebhookSecret


class Command(CrawlerCommand):
    """Re-encrypt credentials and secret addresses with the current SECRET_KEY.

    examples:
      python manage.py reseal

    To change SECRET_KEY: set SECRET_KEY to the new one and SECRET_KEY_FALLBACKS to the old one, restart
    all processes, run this command, and remove the old one from SECRET_KEY_FALLBACKS.

    exit codes:
      0    everything is encrypted with the current key
      1    something cannot be decrypted with any key, or a service is down
    """

    def perform(self, options: dict[str, Any]) -> int:
        changed = lost = 0
        for row in _rows():
            try:
                changed += _reencrypt(row)
            except SealBroken:
                lost += 1
        if changed:
            audit.note("secrets.sealed_anew", after={"rows": changed})
        self.print(f"Re-encrypted: {changed}.\n")
        if lost:
            self.say(f"Cannot be decrypted with any key: {lost}. Is SECRET_KEY_FALLBACKS complete?")
        return Exit.NOT_DONE if lost else Exit.DONE


def _rows() -> Iterator[Row]:
    """All rows that may hold encrypted values."""
    for model in (Crawl, Schedule):
        yield from model.objects.only("id", "sealed", "options").iterator(chunk_size=200)
    for addressed in (Channel, Delivery):
        yield from addressed.objects.only("id", "transport", "address").iterator(chunk_size=200)
    yield from WebhookSecret.objects.iterator(chunk_size=200)


def _reencrypt(row: Row) -> int:
    """Re-encrypt a row; return the number of rows changed. A row that another process changes meanwhile is left
    alone."""
    match row:
        case Channel() | Delivery():
            return _written(row, "address", row.address, _address(row.transport, row.address))
        case WebhookSecret():
            with transaction.atomic():
                changed = _written(row, "previous", row.previous, _each(row.previous, encryption.reencrypted_address))
                return max(
                    changed, _written(row, "secret", row.secret, _each(row.secret, encryption.reencrypted_address))
                )
        case Crawl() | Schedule():
            with transaction.atomic():
                options = _options(row.options)
                changed = _written(row, "options", row.options, options)
                return max(changed, _written(row, "sealed", row.sealed, _each(row.sealed, encryption.reencrypted)))


def _options(options: dict[str, Any]) -> dict[str, Any]:
    return options | {
        name: [_address(transport, address) for address in options[name]]
        for transport, name in RECEIVERS.items()
        if name in MAY_BE_SECRET and options.get(name)
    }


def _address(transport: str, stored: str) -> str:
    """Also encrypts an address that an earlier version stored in plain text."""
    if stored.startswith(SEALED):
        return _each(stored, encryption.reencrypted_address)
    return encryption.seal_address(stored) if is_encrypted(transport) else stored


def _each(sealed: str, reencrypt: Callable[[str], str]) -> str:
    return reencrypt(sealed) if sealed and not encryption.uses_current_key(sealed) else sealed


def _written(row: Model, field: str, before: Any, after: Any) -> int:
    if before == after:
        return 0
    return type(row)._default_manager.filter(**{"pk": row.pk, field: before}).update(**{field: after})
