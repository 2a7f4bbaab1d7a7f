"""The SQLite file of a run: it records every change of a page's status, can be locked, and lies on a volume
that can be filled."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from uuid import UUID

VOLUME_SIZE = "48m"

_WITNESSES = """
CREATE TABLE chaos_page (id INTEGER PRIMARY KEY, crawl TEXT, url TEXT, old INTEGER, new INTEGER,
    at REAL DEFAULT ((julianday('now') - 2440587.5) * 86400.0));
CREATE TABLE chaos_crawl (id INTEGER PRIMARY KEY, crawl TEXT, old TEXT, new TEXT, open INTEGER, pages INTEGER,
    at REAL DEFAULT ((julianday('now') - 2440587.5) * 86400.0));
CREATE TRIGGER chaos_page_born AFTER INSERT ON crawler_page WHEN NEW.status <> 0 BEGIN
    INSERT INTO chaos_page (crawl, url, old, new) VALUES (NEW.crawl_id, NEW.url, 0, NEW.status);
END;
CREATE TRIGGER chaos_page_changed AFTER UPDATE OF status ON crawler_page WHEN OLD.status <> NEW.status BEGIN
    INSERT INTO chaos_page (crawl, url, old, new) VALUES (NEW.crawl_id, NEW.url, OLD.status, NEW.status);
END;
CREATE TRIGGER chaos_page_gone AFTER DELETE ON crawler_page BEGIN
    INSERT INTO chaos_page (crawl, url, old, new) VALUES (OLD.crawl_id, OLD.url, OLD.status, NULL);
END;
CREATE TRIGGER chaos_crawl_changed AFTER UPDATE OF state ON crawler_crawl WHEN OLD.state <> NEW.state BEGIN
    INSERT INTO chaos_crawl (crawl, old, new, open, pages) SELECT NEW.id, OLD.state, NEW.state,
        COUNT(*) FILTER (WHERE status = 0), COUNT(*) FROM crawler_page WHERE crawl_id = NEW.id;
END;
"""
"""Triggers run in the transaction they witness: what was rolled back is not recorded. `at` is in epoch seconds."""


class Database:
    def __init__(self, file: Path) -> None:
        self.file = file
        self._lock: sqlite3.Connection | None = None

    def install_witnesses(self) -> None:
        with contextlib.closing(sqlite3.connect(self.file)) as database:
            database.executescript(_WITNESSES)

    def rows(self, query: str, *values: Any) -> list[dict[str, Any]]:
        """What a query finds. A reader can be refused for a moment: it tries again."""
        deadline = time.monotonic() + 10
        while (found := self.glance(query, *values)) is None:
            if time.monotonic() > deadline:
                raise RuntimeError(f"the database {self.file} cannot be read")
            time.sleep(0.05)
        return found

    def glance(self, query: str, *values: Any) -> list[dict[str, Any]] | None:
        """The same, or None when the reader is refused, as it can be while the volume is full."""
        plain = [value.hex if isinstance(value, UUID) else value for value in values]
        try:
            connection = sqlite3.connect(f"file:{self.file}?mode=ro", uri=True, timeout=5)
            with contextlib.closing(connection) as database:
                database.row_factory = sqlite3.Row
                return [dict(row) for row in database.execute(query, plain)]
        except sqlite3.OperationalError:
            return None

    def copy_to(self, file: Path) -> None:
        with (
            contextlib.closing(sqlite3.connect(self.file)) as source,
            contextlib.closing(sqlite3.connect(file)) as target,
        ):
            source.backup(target)

    def lock(self) -> bool:
        """Keep every writer out; False when one is at work just now."""
        connection = sqlite3.connect(self.file, timeout=0.2, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            connection.close()
            return False
        self._lock = connection
        return True

    def unlock(self) -> None:
        if self._lock is not None:
            self._lock.rollback()
            self._lock.close()
            self._lock = None


class Volume:
    """A small file system in memory, so that it can be filled without harm to anybody."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._filler = place / "filler"

    @classmethod
    def may_be_mounted(cls, folder: Path) -> bool:
        """Whether this user may mount one: tried, because containers differ."""
        if sys.platform != "linux" or os.geteuid() != 0:
            return False
        trial = cls(folder / "trial")
        mounted = trial.mount()
        trial.unmount()
        trial.place.rmdir()
        return mounted

    def mount(self) -> bool:
        self.place.mkdir(parents=True, exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", f"size={VOLUME_SIZE}", "chaos", str(self.place)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def unmount(self) -> None:
        """Lazily: whoever was killed a moment ago may still be let go of by the kernel."""
        if os.path.ismount(self.place):
            subprocess.run(["umount", "-l", str(self.place)], capture_output=True, check=True)

    def fill(self) -> None:
        with self._filler.open("wb", buffering=0) as filler:
            for size in (1 << 20, 1 << 16, 1 << 12, 1):
                try:
                    while True:
                        filler.write(b"\0" * size)
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise

    def free(self) -> None:
        self._filler.unlink(missing_ok=True)
