"""What was worked out of a large crawl that is over: it cannot change any more, so it is worked out once, for every
process of this machine, and kept in a file beside the database.

Nothing here is missed when it is gone: it is worked out again. Of a crawl that goes on nothing is kept for long, and a
small one is read as fast as a file.
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

LEAST = 5_000  # pages of a crawl that is worth a file
FORM = 1  # another number when what is kept changes its form: then what was kept before is passed over
AT_MOST = 1_000  # files of a crawl; of more some are deleted
CHUNK = 2_000  # rows read at a time

T = TypeVar("T")


def worked_out(name: str, work: Callable[[], T], *crawls: Crawl) -> T:
    """What `work` gives: plain values, never None. Of crawls that are over, one of them large, it is done once.

    `name` says what it is, with all it depends on but the crawls.
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
    return worked_out(f"ids:{digest}", lambda: packed(ids.iterator(chunk_size=CHUNK)), crawl)


def packed(ids: Iterable[int]) -> array[int]:
    return array("q", ids)


def are_kept(*crawls: Crawl) -> bool:
    """Whether what is worked out of these crawls together is kept."""
    return all(crawl.is_over for crawl in crawls) and any(crawl.discovered > LEAST for crawl in crawls)


def numbers_about(*crawls: Crawl) -> BaseCache:
    """Where numbers about these crawls are remembered: in a file, or in the memory of this process."""
    return _shelf(crawls[0]) if are_kept(*crawls) else cache


def moment_of(crawl: Crawl) -> str:
    """What the state of a crawl is known by. One that is over has the same until it is opened again, which makes its
    round or its counters others."""
    return f"{crawl.id}:{crawl.round}:{crawl.discovered}:{crawl.tallies.closed}" if crawl.is_over else f"{crawl.id}"


def forget(crawl: UUID) -> None:
    """Delete what was kept of this crawl."""
    shutil.rmtree(_folder(crawl), ignore_errors=True)


class _Shelf(FileBasedCache):
    """A file that cannot be read is one that is not there; where none can be written, the work is done each time."""

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
