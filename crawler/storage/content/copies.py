"""Copies the content of cached responses into the objects of the crawl that reuses them: so each crawl has its own, and
deleting one takes nothing from another."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterable, Mapping
from typing import Any

from crawler.storage.content.objects import ObjectMissing, Reader, folder_of, storage
from crawler.storage.content.shelf import Shelf, named

log = logging.getLogger(__name__)

CopyRecord = Mapping[str, Any]
"""Content format -> [object, offset, length]."""


def copied(crawl: str, kept: Mapping[str, CopyRecord]) -> tuple[dict[str, dict[str, Any]], bool]:
    """The contents of some pages, by URL, in objects of this crawl; and whether there was room for them. A page whose
    content cannot be read any more, or not be stored, is left out."""
    shelf = Shelf(crawl, f"cache-{secrets.token_hex(8)}")
    found: dict[str, dict[str, Any]] = {}
    waiting: dict[str, dict[str, Any]] = {}

    def save() -> None:
        names = shelf.clear()
        for url, places in waiting.items():
            stored = named(places, names)
            if all(isinstance(place, list) for place in stored.values()):
                found[url] = stored
        waiting.clear()

    with Reader() as reader:
        for url, places in sorted(kept.items(), key=_first_place):
            try:
                members = {
                    form: reader.read((str(name), offset, length)) for form, (name, offset, length) in places.items()
                }
            except ObjectMissing as error:
                log.warning("crawl %s: the content of %s is requested again: %s", crawl, url, error)
                continue
            if _is_own(crawl, places):
                found[url] = dict(places)
                continue
            waiting[url] = shelf.put(members)
            if shelf.is_full:
                save()
    save()
    return found, shelf.has_room


def existing(objects: Iterable[str]) -> set[str]:
    """Those of these objects that are in the storage; none if it does not answer."""
    place = storage()
    try:
        return {name for name in set(objects) if place.exists(name)}
    except Exception as error:  # noqa: BLE001 (whatever a storage raises)
        log.warning("the content storage does not respond: %s", error)
        return set()


def _is_own(crawl: str, places: CopyRecord) -> bool:
    return all(str(name).startswith(f"{folder_of(crawl)}/") for name, _, _ in places.values())


def _first_place(page: tuple[str, CopyRecord]) -> tuple[str, int]:
    """Pages of one object are read one after the other."""
    name, offset, _ = next(iter(page[1].values()))
    return str(name), int(offset)
