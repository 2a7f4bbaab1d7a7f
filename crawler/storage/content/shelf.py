"""Buffers the content of pages in a fetch job until the job delivers the results that refer to it: in memory, then in a
temporary file, then as objects of the storage. An error there loses the content of some pages, but no page. If there
is no space left, the page's result reports it, and the fetch job leaves the page to be fetched again.

What a crash leaves behind: an object without references, which `sweep` deletes once the crawl is over.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Mapping
from itertools import count
from tempfile import SpooledTemporaryFile
from typing import Any

from rq.timeouts import BaseTimeoutException

from crawler import conf
from crawler.core.pages.content_formats import WARC
from crawler.storage.content import objects

log = logging.getLogger(__name__)

MAX_MEMORY_BYTES = 2 * 1024 * 1024  # of each content format; more goes to a temporary file
NOT_KEPT = "not kept: "
NO_ROOM = f"{NOT_KEPT}there is no room left"
_DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class _Object:
    """An object that is being written."""

    def __init__(self, name: str, beginning: bytes) -> None:
        self.name = name
        self._stream = SpooledTemporaryFile(max_size=MAX_MEMORY_BYTES)  # noqa: SIM115 (closed below)
        self._stream.write(beginning)
        self.length = len(beginning)

    def add(self, member: bytes) -> tuple[int, int]:
        """Offset and length. An OSError leaves the object as it was."""
        offset = self.length
        self._stream.seek(offset)
        self._stream.write(member)
        self._stream.flush()
        self.length += len(member)
        return offset, len(member)

    def saved(self) -> str:
        """Save it; return its name in the storage. Raises whatever the storage raises."""
        self._stream.seek(self.length)
        self._stream.truncate()
        self._stream.seek(0)
        return objects.save(self.name, self._stream)

    def close(self) -> None:
        self._stream.close()


class Shelf:
    """The objects of one batch, at most one per content format at a time. Not thread-safe."""

    def __init__(self, crawl: str, batch: str) -> None:
        self._crawl, self._batch = crawl, batch
        self._objects: dict[str, _Object] = {}
        self._numbers = count(1)
        self._largest = conf.content_object_bytes()
        self.has_room = not objects.is_full()

    @property
    def is_full(self) -> bool:
        return any(item.length >= self._largest for item in self._objects.values())

    def put(self, contents: Mapping[str, bytes | str]) -> dict[str, Any]:
        """Add a page's contents, format -> gzip member; return format -> offset and length. A text in place of a
        member, the reason why there is none, stays as it is."""
        return {
            form: content if isinstance(content, str) else self._put(form, content)
            for form, content in contents.items()
        }

    def clear(self) -> dict[str, str | None]:
        """Save all objects and begin new ones; return format -> the object's name, or None if it could not be saved.
        Afterwards `has_room` is False if the storage was full."""
        names = {form: self._saved(item) for form, item in self._objects.items()}
        self._objects = {}
        return names

    def _put(self, form: str, member: bytes) -> Any:
        try:
            if form not in self._objects:
                self._objects[form] = self._new(form)
            return [*self._objects[form].add(member)]
        except OSError as error:
            log.warning("content of a page of crawl %s is not kept: %s", self._crawl, error)
            if self._ran_out(error):
                return NO_ROOM
            return f"{NOT_KEPT}{error.strerror or error}"

    def _new(self, form: str) -> _Object:
        ending = "warc.gz" if form == WARC else f"{form}.gz"
        file = f"{self._batch}-{next(self._numbers)}.{ending}"
        return _Object(f"{objects.folder_of(self._crawl)}/{file}", _info(file) if form == WARC else b"")

    def _saved(self, item: _Object) -> str | None:
        try:
            return item.saved()
        except BaseTimeoutException:
            raise  # RQ ends this job
        except Exception as error:
            if self._ran_out(error):
                log.warning("content of crawl %s is not kept: there is no room for %s", self._crawl, item.name)
            else:
                log.exception("content of crawl %s is not kept: %s could not be saved", self._crawl, item.name)
            return None
        finally:
            item.close()

    def _ran_out(self, error: Exception) -> bool:
        self.has_room = self.has_room and getattr(error, "errno", None) not in _DISK_FULL
        return not self.has_room


def named(places: Mapping[str, Any], names: Mapping[str, str | None], *, has_room: bool = True) -> dict[str, Any]:
    """A page's places with the names of their objects: format -> [object, offset, length], or why it is not stored."""
    return {
        form: place if isinstance(place, str) else _named(place, names.get(form), has_room)
        for form, place in places.items()
    }


def lacks_room(places: Mapping[str, Any]) -> bool:
    """Whether content of a page is missing because the storage was full."""
    return NO_ROOM in places.values()


def _info(file: str) -> bytes:
    from crawler.storage.content import warc  # it loads warcio, which few crawls need

    return warc.info(file, about())


def about() -> dict[str, str]:
    """The fields of a WARC file about its software."""
    return {
        "software": conf.user_agent(),
        "format": "WARC File Format 1.1",
        "conformsTo": "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
    }


def _named(place: list[int], name: str | None, has_room: bool) -> Any:
    if name is not None:
        return [name, *place]
    return f"{NOT_KEPT}the storage could not be written to" if has_room else NO_ROOM
