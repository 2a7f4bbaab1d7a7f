"""Stores the kept content of pages in Django's storage (by default files in the data folder), and reads it."""

from __future__ import annotations

import gzip
import io
import logging
import os
from collections import OrderedDict
from collections.abc import Iterator
from datetime import datetime, timedelta
from types import TracebackType
from typing import IO, Any, Self
from uuid import UUID

from django.core.files import File
from django.core.files.storage import FileSystemStorage, Storage, storages

from crawler import clock
from crawler.core.crawl import options
from crawler.core.errors import ServiceDown
from crawler.core.html import charsets
from crawler.core.text.gzip import Broken
from crawler.models import PageFacts

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


# The kept content of one page, as it is handed out: text in UTF-8, an archive as it is.

# A page's content as a gzip member (RFC 1952), and back. Members behind each other are one gzip file.

LEVEL = 4  # two thirds of the time of 6, for 3% more bytes


def packed(content: bytes) -> bytes:
    return gzip.compress(content, LEVEL, mtime=0)


def unpacked(member: bytes, at_most: int) -> bytes:
    """The content of one member or several, the first `at_most` bytes. Raises Broken."""
    try:
        with gzip.open(io.BytesIO(member)) as stream:
            return stream.read(at_most)
    except (OSError, EOFError) as error:
        raise Broken(f"the stored content is damaged: {error}") from error


MOST = 64 * 1024 * 1024  # bytes of a page's content that are handed out
ENDINGS = {options.HTML: "html", options.TEXT: "txt", options.MARKDOWN: "md", options.WARC: "warc.gz"}


def is_kept(facts: PageFacts, form: str) -> bool:
    """Whether the page was kept in this form; in place of what was not, its facts say why."""
    return form in options.FORMS and isinstance(facts.kept.get(form), list)


def content_of(facts: PageFacts, form: str) -> bytes:
    """A form in which the page was kept. Raises Gone when it cannot be had, Broken when it is damaged."""
    name, offset, length = facts.kept[form]
    with Reader() as reader:
        member = reader.read((str(name), int(str(offset)), int(str(length))))
    if form == options.WARC:
        return member
    content = unpacked(member, MOST)
    return charsets.utf_8(content, _content_type(facts.headers)) if form == options.HTML else content


def _content_type(headers: str) -> str:
    lines = (line.partition(":") for line in headers.splitlines())
    return next((value.strip() for name, _, value in lines if name.lower() == "content-type"), "")


# Deletes objects of a crawl that is over which no page refers to: somebody died between saving one and leaving the
# results that refer to it, or the results came too late to count.

log = logging.getLogger(__name__)

JUST_NOW = timedelta(seconds=5)  # whoever saved an object so lately may be about to refer to it
AT_ONCE = 2000  # rows in memory


def sweep(crawl: UUID) -> int:
    """How many were deleted. A storage in trouble costs nothing but the room."""
    try:
        return _sweep(crawl)
    except Exception:
        log.exception("objects of crawl %s that nothing refers to could not be deleted", crawl)
        return 0


def _sweep(crawl: UUID) -> int:
    now = clock.now()
    loose = {name for name in objects_of(str(crawl)) if saved_at(name) < now - JUST_NOW}
    if not loose:
        return 0
    for kept in PageFacts.objects.filter(crawl_id=crawl).values_list("kept", flat=True).iterator(AT_ONCE):
        loose.difference_update(place[0] for place in kept.values() if isinstance(place, list))
    for name in loose:
        delete(name)
    return len(loose)
