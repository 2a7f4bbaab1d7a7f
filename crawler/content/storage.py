"""The storage that keeps content: whichever Django is told to use, files in the data folder unless said otherwise."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator
from datetime import datetime
from types import TracebackType
from typing import IO, Any, Self

from django.core.files import File
from django.core.files.storage import FileSystemStorage, Storage, storages

from crawler.core.errors import ServiceDown

Place = tuple[str, int, int]
"""Object, offset and length in bytes."""

LEAST_ROOM = 1024 * 1024  # bytes; a folder on a disk with less is full
OPEN_AT_ONCE = 4  # objects a reader keeps open; of a storage that is not here each may be in memory


class Gone(Exception):
    """The object is not there any more, or the storage does not answer; `str` says which."""


def storage() -> Storage:
    return storages["content"]


def is_full() -> bool:
    """Whether nothing can be kept for want of room, as far as that can be told beforehand: of a folder only."""
    place = storage()
    if not isinstance(place, FileSystemStorage):
        return False
    try:
        disk = os.statvfs(place.location)
    except OSError:
        return False  # it is made when the first object is saved
    return disk.f_bavail * disk.f_frsize < LEAST_ROOM


def folder_of(crawl: str) -> str:
    """What the names of a crawl's objects begin with."""
    return str(crawl)


def save(name: str, content: IO[Any]) -> str:
    """Save an object; the name it was given. It is there as a whole or raises whatever the storage raises, and then
    what was written of it is deleted if that can be done."""
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
    """Delete an object; one that is gone is no error."""
    storage().delete(name)


def delete_of(crawl: str) -> None:
    """Delete all objects of a crawl. ServiceDown when the storage does not let us; then some may be gone."""
    try:
        for name in list(objects_of(crawl)):
            delete(name)
        storage().delete(folder_of(crawl))  # of a storage with folders; in others there is no such object
    except Exception as error:
        raise ServiceDown(f"The storage of kept content does not answer ({_first_line(error)}); try again.") from error


class Reader:
    """Reads parts of objects, many of them from the same few objects. To be used as a context."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, File[Any]] = OrderedDict()

    def read(self, place: Place) -> bytes:
        """The bytes at this place, all of them; Gone when they cannot be had."""
        name, offset, length = place
        try:
            stream = self._stream(name)
            stream.seek(offset)
            found = bytes(stream.read(length))
        except FileNotFoundError:
            raise Gone("the content is not in the storage any more") from None
        except Exception as error:
            raise Gone(f"the storage does not answer: {_first_line(error)}") from error
        if len(found) != length:
            raise Gone("the object in the storage is shorter than it was")
        return found

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _stream(self, name: str) -> File[Any]:
        if name not in self._open:
            if len(self._open) == OPEN_AT_ONCE:
                self._open.popitem(last=False)[1].close()
            self._open[name] = storage().open(name, "rb")
        self._open.move_to_end(name)
        return self._open[name]


def _delete_quietly(name: str) -> None:
    try:
        delete(name)
    except Exception:  # noqa: BLE001 (the storage is in trouble already, and that is what is told)
        return


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
