"""Saves and reads the content of pages in Django's storage (by default files in the data folder), and deletes it."""

from __future__ import annotations

import gzip
import io
import logging
import os
from collections import OrderedDict
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import IO, Any
from uuid import UUID

from django.core.files import File
from django.core.files.storage import FileSystemStorage, Storage, storages

from crawler import clock
from crawler.closing import Closing
from crawler.core.errors import ServiceDown, first_line
from crawler.core.text.gzip import Broken
from crawler.models import PageFacts

Place = tuple[str, int, int]
"""Object, offset and length in bytes."""

MIN_FREE_BYTES = 1024 * 1024  # a folder on a disk with less counts as full
MAX_OPEN_OBJECTS = 4  # per reader; a remote storage may hold each in memory


class ObjectMissing(Exception):
    """The object no longer exists, or the storage does not answer; `str` says which."""


def storage() -> Storage:
    return storages["content"]


def is_full() -> bool:
    """Whether the disk is full. Known only for a folder, not for other storages."""
    place = storage()
    if not isinstance(place, FileSystemStorage):
        return False
    try:
        disk = os.statvfs(place.location)
    except OSError:
        return False  # created when the first object is saved
    return disk.f_bavail * disk.f_frsize < MIN_FREE_BYTES


def folder_of(crawl: str) -> str:
    """The prefix of the names of a crawl's objects."""
    return str(crawl)


def save(name: str, content: IO[Any]) -> str:
    """Save an object; return the name it was given. Raises whatever the storage raises; then what was written is
    deleted if possible."""
    try:
        return storage().save(name, File(content))
    except Exception:
        _delete_quietly(name)
        raise


def objects_of(crawl: str) -> Iterator[str]:
    """The names of all objects of a crawl; raises whatever the storage raises."""
    folder = folder_of(crawl)
    try:
        _, files = storage().listdir(folder)
    except FileNotFoundError:
        return
    for file in files:
        yield f"{folder}/{file}"


def saved_at(name: str) -> datetime:
    return storage().get_modified_time(name)


def delete(name: str) -> None:
    """Delete an object; no error if it does not exist."""
    storage().delete(name)


def delete_of(crawl: str) -> None:
    """Delete all objects of a crawl. ServiceDown if the storage fails; some may be deleted then."""
    try:
        for name in list(objects_of(crawl)):
            delete(name)
        storage().delete(folder_of(crawl))  # for a storage with folders; others have no such object
    except Exception as error:
        raise ServiceDown(f"The content storage does not respond ({first_line(error)}); try again.") from error


class Reader(Closing):
    """Reads parts of objects, many of them from the same few objects."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, File[Any]] = OrderedDict()

    def read(self, place: Place) -> bytes:
        """The bytes at this place. Raises ObjectMissing."""
        name, offset, length = place
        try:
            stream = self._stream(name)
            stream.seek(offset)
            found = bytes(stream.read(length))
        except FileNotFoundError:
            raise ObjectMissing("the content is no longer in the storage") from None
        except Exception as error:
            raise ObjectMissing(f"the storage does not respond: {first_line(error)}") from error
        if len(found) != length:
            raise ObjectMissing("the object in the storage is shorter than it was")
        return found

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()

    def _stream(self, name: str) -> File[Any]:
        if name not in self._open:
            if len(self._open) == MAX_OPEN_OBJECTS:
                self._open.popitem(last=False)[1].close()
            self._open[name] = storage().open(name, "rb")
        self._open.move_to_end(name)
        return self._open[name]


def _delete_quietly(name: str) -> None:
    try:
        delete(name)
    except Exception:  # noqa: BLE001 (the storage has failed already, and that error is raised)
        return


GZIP_LEVEL = 4  # two thirds of the time of level 6, for 3% more bytes


def packed(content: bytes) -> bytes:
    """The content as a gzip member (RFC 1952); concatenated members are one gzip file."""
    return gzip.compress(content, GZIP_LEVEL, mtime=0)


def unpacked(member: bytes, at_most: int) -> bytes:
    """The content of one member or several, the first `at_most` bytes. Raises Broken."""
    try:
        with gzip.open(io.BytesIO(member)) as stream:
            return stream.read(at_most)
    except (OSError, EOFError) as error:
        raise Broken(f"the stored content is damaged: {error}") from error


log = logging.getLogger(__name__)

SWEEP_MIN_AGE = timedelta(seconds=5)  # a worker may be about to refer to such a new object
ROWS_PER_FETCH = 2000  # in memory


def sweep(crawl: UUID) -> int:
    """Delete objects of a finished crawl without references: a worker died between saving one and delivering the
    results that refer to it, or the results came too late. Returns their number; an error of the storage is only
    logged."""
    try:
        return _sweep(crawl)
    except Exception:
        log.exception("objects of crawl %s that nothing refers to could not be deleted", crawl)
        return 0


def _sweep(crawl: UUID) -> int:
    now = clock.now()
    unreferenced = {name for name in objects_of(str(crawl)) if saved_at(name) < now - SWEEP_MIN_AGE}
    if not unreferenced:
        return 0
    for kept in PageFacts.objects.filter(crawl_id=crawl).values_list("kept", flat=True).iterator(ROWS_PER_FETCH):
        unreferenced.difference_update(place[0] for place in kept.values() if isinstance(place, list))
    for name in unreferenced:
        delete(name)
    return len(unreferenced)
