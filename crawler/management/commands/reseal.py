"""`manage.py reseal`: encrypts anew, under today's SECRET_KEY, what an earlier one sealed, and web addresses that an
earlier version stored in plain."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from typing import Any

from django.db import transaction
from django.db.models import Model

from crawler import encryption
from crawler.accounts import audit
from crawler.core.channels.catalogue import SEALED, is_encrypted
from crawler.core.crawl.options import MAY_BE_SECRET, RECEIVERS
from crawler.core.errors import SealBroken
from crawler.management.base import Door, Exit
from crawler.models import Channel, Crawl, Delivery, Schedule

EXAMPLES = """\
To change SECRET_KEY: put the new one into SECRET_KEY and the old one into SECRET_KEY_FALLBACKS, start
all processes again, run this command, and take the old one out of SECRET_KEY_FALLBACKS.

exit codes:
  0    all that can be read is sealed under today's key
  1    something cannot be read under any key, or a service is down
"""

Row = Crawl | Schedule | Channel | Delivery


class Command(Door):
    """Encrypt credentials and secret addresses anew, under today's SECRET_KEY."""

    help = __doc__
    examples = EXAMPLES

    def add_arguments(self, parser: ArgumentParser) -> None:
        return

    def perform(self, options: dict[str, Any]) -> int:
        anew = lost = 0
        for row in _rows():
            try:
                anew += _sealed_anew(row)
            except SealBroken:
                lost += 1
        if anew:
            audit.note("secrets.sealed_anew", after={"rows": anew})
        self.print(f"Sealed anew: {anew}.\n")
        if lost:
            self.say(f"Cannot be read under any key: {lost}. Is SECRET_KEY_FALLBACKS complete?")
        return Exit.NOT_DONE if lost else Exit.DONE


def _rows() -> Iterator[Row]:
    """Every row with something sealed in it may be one of these."""
    for model in (Crawl, Schedule):
        yield from model.objects.only("id", "sealed", "options").iterator(chunk_size=200)
    for addressed in (Channel, Delivery):
        yield from addressed.objects.only("id", "transport", "address").iterator(chunk_size=200)


def _sealed_anew(row: Row) -> int:
    """Write what is under an earlier key; how many rows that were. What somebody changes meanwhile stays theirs."""
    match row:
        case Channel() | Delivery():
            return _written(row, "address", row.address, _address(row.transport, row.address))
        case Crawl() | Schedule():
            with transaction.atomic():
                options = _options(row.options)
                changed = _written(row, "options", row.options, options)
                return max(changed, _written(row, "sealed", row.sealed, _each(row.sealed, encryption.sealed_anew)))


def _options(options: dict[str, Any]) -> dict[str, Any]:
    return options | {
        name: [_address(means, address) for address in options[name]]
        for means, name in RECEIVERS.items()
        if name in MAY_BE_SECRET and options.get(name)
    }


def _address(means: str, stored: str) -> str:
    """One that an earlier version stored in plain is sealed, too."""
    if stored.startswith(SEALED):
        return _each(stored, encryption.address_sealed_anew)
    return encryption.seal_address(stored) if is_encrypted(means) else stored


def _each(sealed: str, anew: Callable[[str], str]) -> str:
    return anew(sealed) if sealed and not encryption.is_of_today(sealed) else sealed


def _written(row: Model, field: str, before: Any, after: Any) -> int:
    if before == after:
        return 0
    return type(row)._default_manager.filter(**{"pk": row.pk, field: before}).update(**{field: after})
