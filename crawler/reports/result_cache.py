"""A cache of results computed from large crawls that are over, in files next to the database for all processes.

A file that is missing is computed again. Results of running crawls are cached for a short time only, and small crawls
are read as fast as a file.
"""

from __future__ import annotations

import pickle
import shutil
import zlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from django.core.cache import cache
from django.core.cache.backends.base import BaseCache
from django.core.cache.backends.filebased import FileBasedCache
from django.db.models import QuerySet

from crawler import conf
from crawler.models import Crawl

LEAST = 5_000  # pages of a crawl whose results are cached
FORM = 1  # changes with the format of the files, so that older ones are ignored
AT_MOST = 1_000  # files of a crawl; more are deleted
CHUNK = 2_000  # rows read at a time

T = TypeVar("T")


def cached(name: str, work: Callable[[], T], *crawls: Crawl) -> T:
    """The result of `work`: plain values, never None; cached when all crawls are over and one of them is large.

    `name` identifies the result, with all it depends on except the crawls.
    """
    if not are_kept(*crawls):
        return work()
    shelf, key = _shelf(crawls[0]), f"{':'.join(map(moment_of, crawls))}:{name}"
    known: T | None = shelf.get(key)
    if known is None:
        known = work()
        shelf.set(key, known)
    return known


def ids_of(crawl: Crawl, rows: QuerySet[Any, Any]) -> Sequence[int]:
    """The ids of these pages of a crawl, in their order; 8 bytes each in memory."""
    ids = rows.values_list("id", flat=True)
    sql, values = ids.query.sql_with_params()
    asked = repr((sql, [bytes(value) if isinstance(value, memoryview) else value for value in values]))
    digest = blake2b(asked.encode("utf-8", "replace"), digest_size=16).hexdigest()
    return cached(f"ids:{digest}", lambda: packed(ids.iterator(chunk_size=CHUNK)), crawl)


def packed(ids: Iterable[int]) -> array[int]:
    return array("q", ids)


def are_kept(*crawls: Crawl) -> bool:
    """Whether results of these crawls together are cached."""
    return all(crawl.is_over for crawl in crawls) and any(crawl.discovered > LEAST for crawl in crawls)


def cache_for(*crawls: Crawl) -> BaseCache:
    """The cache for numbers of these crawls: files, or the memory of this process."""
    return _shelf(crawls[0]) if are_kept(*crawls) else cache


def moment_of(crawl: Crawl) -> str:
    """Identifies the state of a crawl. It is constant for a crawl that is over, until reopening changes its round or
    counters."""
    return f"{crawl.id}:{crawl.round}:{crawl.discovered}:{crawl.tallies.closed}" if crawl.is_over else f"{crawl.id}"


def forget(crawl: UUID) -> None:
    """Delete the files of this crawl."""
    shutil.rmtree(_folder(crawl), ignore_errors=True)


class _Shelf(FileBasedCache):
    """An unreadable file counts as missing; where none can be written, nothing is cached."""

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        try:
            return super().get(key, default, version)
        except (OSError, EOFError, zlib.error, pickle.UnpicklingError, AttributeError, ImportError, ValueError):
            return default

    def set(self, *given: Any, **more: Any) -> None:
        with suppress(OSError):
            super().set(*given, **more)

    def _createdir(self) -> None:
        with suppress(OSError):
            super()._createdir()  # type: ignore[misc]  # its types leave it out


def _shelf(crawl: Crawl) -> _Shelf:
    return _Shelf(str(_folder(crawl.id)), {"TIMEOUT": None, "VERSION": FORM, "OPTIONS": {"MAX_ENTRIES": AT_MOST}})


def _folder(crawl: UUID) -> Path:
    return conf.data_dir() / "kept" / str(crawl)
