"""The witnesses in the database see every change of a page, and only what was committed."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from tools.chaos.database import Database

_TABLES = """
CREATE TABLE crawler_page (id INTEGER PRIMARY KEY, crawl_id TEXT, url TEXT, status INTEGER);
CREATE TABLE crawler_crawl (id TEXT PRIMARY KEY, state TEXT);
INSERT INTO crawler_crawl VALUES ('c', 'running');
INSERT INTO crawler_page VALUES (1, 'c', 'one', 0), (2, 'c', 'two', 0);
"""


@pytest.fixture
def database(tmp_path: Path) -> Database:
    database = Database(tmp_path / "db.sqlite3")
    write(database, _TABLES)
    database.install_witnesses()
    return database


def write(database: Database, script: str) -> None:
    with contextlib.closing(sqlite3.connect(database.file)) as connection:
        connection.executescript(script)


def seen(database: Database) -> list[tuple[str, int, int | None]]:
    return [(row["url"], row["old"], row["new"]) for row in database.rows("SELECT * FROM chaos_page ORDER BY rowid")]


def test_each_change_of_a_status_is_recorded(database: Database) -> None:
    write(database, "UPDATE crawler_page SET status = 1 WHERE id = 1")
    write(database, "UPDATE crawler_page SET status = 1, url = 'one' WHERE id = 1")  # changes nothing
    write(database, "UPDATE crawler_page SET status = 0 WHERE id = 1")
    write(database, "INSERT INTO crawler_page VALUES (3, 'c', 'three', 1)")
    write(database, "DELETE FROM crawler_page WHERE id = 2")
    assert seen(database) == [("one", 0, 1), ("one", 1, 0), ("three", 0, 1), ("two", 0, None)]


def test_what_was_rolled_back_was_not_seen(database: Database) -> None:
    write(database, "BEGIN; UPDATE crawler_page SET status = 1; ROLLBACK")
    assert seen(database) == []


def test_the_end_is_recorded_with_the_pages_open_then(database: Database) -> None:
    write(database, "UPDATE crawler_page SET status = 1 WHERE id = 1; UPDATE crawler_crawl SET state = 'finished'")
    (end,) = database.rows("SELECT * FROM chaos_crawl")
    assert (end["old"], end["new"], end["open"], end["pages"]) == ("running", "finished", 1, 2)


def test_a_locked_database_refuses_writers_until_it_is_unlocked(database: Database) -> None:
    assert database.lock()
    with contextlib.closing(sqlite3.connect(database.file, timeout=0)) as connection:
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            connection.execute("UPDATE crawler_page SET status = 1")
        database.unlock()
        connection.execute("UPDATE crawler_page SET status = 1")
