"""A PostgreSQL server of the tests' own, and a stack over it. Where there is no server, its tests are skipped."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import connections

from crawler.settings import environment
from tests.stack import DATABASE_ID, Stack
from tools.bench.services import Unavailable, own_postgresql


def serve_postgresql() -> Iterator[str]:
    """The address of a new, empty database, as long as the generator lives."""
    if find_spec("psycopg") is None:
        pytest.skip('PostgreSQL\'s driver is missing: pip install "psycopg[binary]"')
    with ExitStack() as server:
        folder = server.enter_context(tempfile.TemporaryDirectory(prefix="crawler-postgresql-"))
        try:
            url = server.enter_context(own_postgresql(Path(folder)))
        except Unavailable as error:
            pytest.skip(str(error))
        yield url


class PostgresStack(Stack):
    """A stack whose database is on a PostgreSQL server."""

    def __init__(self, folder: Path, redis_url: str, database_url: str) -> None:
        self.url = database_url
        super().__init__(folder, redis_url, DATABASE_URL=database_url)

    def make_database(self) -> None:
        if self.rows("SELECT to_regclass('crawler_crawl') AS found") == [{"found": None}]:
            self.run("python", "manage.py", "migrate", "--verbosity", "0", "--skip-checks")
        with self.connect() as connection:
            connection.execute("TRUNCATE crawler_crawl CASCADE")
            connection.execute("UPDATE crawler_installation SET database_id = %s", [DATABASE_ID])

    def connect(self, **options: Any) -> Any:
        """A connection of the test's own (psycopg), each of whose statements is a transaction unless `options` say
        otherwise."""
        import psycopg  # is not there on every machine
        from psycopg.rows import dict_row

        return psycopg.connect(self.url, **{"autocommit": True, "row_factory": dict_row, **options})

    def rows(self, query: str, *values: Any) -> list[dict[str, Any]]:
        with self.connect() as connection:
            found: list[dict[str, Any]] = connection.execute(query.replace("?", "%s"), values).fetchall()
            return found

    def receipt(self, crawl: UUID) -> dict[str, Any]:
        told: dict[str, Any] = self.rows("SELECT receipt FROM crawler_notice WHERE crawl_id = ?", crawl.hex)[0][
            "receipt"
        ]
        return told

    def connection_of(self) -> Any:
        from django.db.backends.postgresql.base import DatabaseWrapper  # wants the driver

        class Connection(DatabaseWrapper):  # type: ignore[misc, unused-ignore]
            """pytest-django keeps tests from theirs by replacing what this overrides."""

            def ensure_connection(self) -> None:
                if self.connection is None:
                    self.connect()

        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DATABASE_URL", self.url)
            config = environment.database(self.database)
        return Connection({**connections.settings["default"], "OPTIONS": {}, **config}, "default")


@contextmanager
def row_locked(stack: PostgresStack, crawl: UUID) -> Iterator[Any]:
    """Somebody holds the lock on the crawl's row, says nothing, and is not ended by PostgreSQL: their connection."""
    with stack.connect(autocommit=False) as other:
        other.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        other.execute("SELECT id FROM crawler_crawl WHERE id = %s FOR UPDATE", [crawl.hex])
        yield other
