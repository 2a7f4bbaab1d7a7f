"""A database of an earlier version is brought up to date, with sensible values for the crawls in it."""

import json
import re
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.db import connections, migrations
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import NOT_PROVIDED

from crawler.core.errors import NotUpgradable
from crawler.launch.services import apply_migrations
from crawler.storage.database import is_behind, migration_files
from tests.postgresql import PostgresStack
from tests.stack import OWN_WORKER, Stack

RECORDED = Path(__file__).parent / "data" / "tables"


# Upgrades from the tables that earlier versions made.

Rows = dict[str, list[dict[str, Any]]]

FIRST_ID, SECOND_ID, OTHER_ID = "0" * 31 + "1", "0" * 31 + "2", "0" * 31 + "3"
SAID = "2026-11-21 10:00:00+00:00"
KEY = bytes(16)

OF_0006: Rows = {
    "auth_user": [
        {
            "id": 1,
            "username": "ann",
            "password": "!",
            "first_name": "",
            "last_name": "",
            "email": "",
            "date_joined": SAID,
        }
        | {"date_joined": SAID, "is_superuser": False, "is_staff": False, "is_active": True}
    ],
    "crawler_schedule": [
        {"id": OTHER_ID, "start_urls": "[]", "options": "{}", "sealed": "", "rule": "every 6h", "enabled": True}
        | {"created_at": SAID, "next_at": SAID, "last_error": "", "owner_id": 1}
    ],
    "crawler_crawl": [
        {"id": id_, "state": state, "start_urls": '["https://example.com/"]', "options": '{"max_pages": 4}'}
        | {"created_at": SAID, "finished_at": SAID, "discovered": 5, "outcomes": '{"2xx": 4, "limit": 1}'}
        | {"statuses": "{}", "requests": 4, "bytes": 9, "retries": 0, "samples": "[]", "owner_id": 1, "round": 1}
        | {"round_began_at": SAID, "priorities": "[]", "sealed": "", "source": "", "source_report": "{}"}
        | {"previous_id": previous, "schedule_id": OTHER_ID}
        for id_, state, previous in ((FIRST_ID, "finished", None), (SECOND_ID, "paused", FIRST_ID))
    ],
    "crawler_page": [
        {"id": 7, "key": KEY, "url": "https://example.com/", "status": 1, "depth": 0, "hops": 0, "attempts": 1}
        | {"due_at": 0.0, "outcome": "limit", "content_type": "", "title": "t", "redirect_to": "", "bytes": 0}
        | {"elapsed_ms": 0, "error": "beyond the limit of 4 pages", "crawl_id": FIRST_ID, "deaths": 0, "died_with": ""}
        | {"given_up": False, "directives": "", "in_sitemap": False, "kind": "page", "lastmod": "", "linked": True}
        | {"not_followed": 0, "priority": 5, "rel": "", "reused": False}
    ],
    "crawler_pagelinks": [{"page_id": 7, "keys": KEY, "packed": b"p", "crawl_id": FIRST_ID}],
    "crawler_trap": [
        {"id": 3, "key": KEY, "reason": "r", "pattern": "/*", "pages": 1, "quarantined": 0, "left_out": 0}
        | {"released": False, "crawl_id": FIRST_ID, "seen_values": "{}"}
    ],
    "crawler_notice": [
        {
            "id": OTHER_ID,
            "event": "crawl.finished",
            "receipt": "{}",
            "created_at": SAID,
            "crawl_id": FIRST_ID,
            "round": 1,
        }
    ],
    "crawler_delivery": [
        {"id": OTHER_ID, "transport": "webhook", "address": "a", "state": "pending", "attempts": 0, "due_at": SAID}
        | {"error": "", "notice_id": OTHER_ID}
    ],
}
"""Two crawls of one account, and what belongs to them, without the columns that may be NULL."""

ADDED: Rows = {
    "crawler_schedule": [{"group_controls": False}],
    "crawler_crawl": [
        {"group_controls": False, "keep": True, "recent": "{}", "idle_seconds": 3.0, "limits": '{"pages": 9}'}
    ],
    "crawler_notice": [{"gathering": False, "number": 0, "pages": "[]"}],
    "crawler_delivery": [{"again": False, "answer": "", "created_at": SAID}],
}
"""What each row has besides since 0020."""

OF_0020: Rows = {table: [row | ADDED.get(table, [{}])[0] for row in rows] for table, rows in OF_0006.items()} | {
    "crawler_pagefacts": [
        {"page_id": 7, "headers": "", "first_byte_ms": 1, "description": "", "h1": "", "canonical": "", "canonicals": 0}
        | {"digest": KEY, "sketch": b"", "insecure": "[]", "fields": "{}", "kept": "{}", "notes": "{}"}
        | {"crawl_id": FIRST_ID}
    ],
    "crawler_auditentry": [
        {
            "id": 1,
            "at": SAID,
            "act": "a",
            "actor": "",
            "via": "web",
            "address": "",
            "kind": "k",
            "key": "k",
            "name": "n",
        }
    ],
}

VERSIONS = {"0006": OF_0006, "0020": OF_0020}


class Earlier(NamedTuple):
    """A database of an earlier version."""

    stack: Stack
    rows: Rows
    new: frozenset[tuple[str, ...]]  # what a new database has, as `shape` says it


OF_EITHER = [("sqlite", "0020"), ("postgresql", "0020")]
LONG = [pytest.param(database, "0006", marks=pytest.mark.long) for database in ("sqlite", "postgresql")]


@pytest.fixture
def version(request: pytest.FixtureRequest) -> str:
    """The last migration it knew."""
    return str(request.param)


@pytest.fixture
def earlier(request: pytest.FixtureRequest, version: str) -> Iterator[Earlier]:
    """With the recorded tables of that version in the place of today's, and with rows in them."""
    if request.param == "sqlite":
        stack = request.getfixturevalue("stack")
        yield made_earlier(stack, request.param, version)
        return
    postgres = request.getfixturevalue("postgres_stack")
    with postgres.connect() as admin:
        admin.execute("DROP DATABASE IF EXISTS earlier")
        admin.execute(f'CREATE DATABASE earlier TEMPLATE "{admin.info.dbname}"')
    url = re.sub(r"/\w+(?=\?|$)", "/earlier", postgres.url)
    yield made_earlier(PostgresStack(postgres.folder, postgres.redis_url, url), request.param, version)
    with postgres.connect() as admin:
        admin.execute("DROP DATABASE earlier WITH (FORCE)")


def made_earlier(stack: Stack, vendor: str, version: str) -> Earlier:
    new = stack.within(shape)
    statements = (RECORDED / f"{vendor}_{version}.sql").read_text()
    stack.within(lambda: replace_tables(statements))
    stack.within(lambda: insert(VERSIONS[version]))
    return Earlier(stack, VERSIONS[version], new)


def replace_tables(statements: str) -> None:
    database = connections["default"]
    cascade = " CASCADE" if database.vendor == "postgresql" else ""
    with database.constraint_checks_disabled(), database.cursor() as cursor:
        for table in database.introspection.table_names(cursor):
            if table.startswith("crawler_"):
                cursor.execute(f'DROP TABLE "{table}"{cascade}')
        cursor.execute("DELETE FROM django_migrations WHERE app = 'crawler'")
        for statement in statements.splitlines():
            if not statement.startswith("--"):
                cursor.execute(statement)


def insert(rows: Rows) -> None:
    with connections["default"].cursor() as cursor:
        for table, several in rows.items():
            for row in several:
                names, places = ", ".join(f'"{name}"' for name in row), ", ".join(["%s"] * len(row))
                cursor.execute(f'INSERT INTO "{table}" ({names}) VALUES ({places})', list(row.values()))  # noqa: S608


def shape() -> frozenset[tuple[str, ...]]:
    """Columns, indexes and constraints of the database. Their order says nothing: it is that in which they came."""
    of_vendor = {"sqlite": shape_of_sqlite, "postgresql": shape_of_postgresql}
    return frozenset(of_vendor[connections["default"].vendor]())


def shape_of_sqlite() -> Iterator[tuple[str, ...]]:
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT tbl_name, type, sql FROM sqlite_master WHERE sql IS NOT NULL")
        for table, kind, statement in cursor.fetchall():
            if kind != "table":
                yield table, statement
                continue
            # A comma within parentheses does not end a column.
            definitions = re.sub(r'^CREATE TABLE "?\w+"?\s*\(|\)$', "", statement)
            yield from ((table, part.strip()) for part in re.split(r",\s*(?![^(]*\))", definitions))


def shape_of_postgresql() -> Iterator[tuple[str, ...]]:
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name, udt_name, character_maximum_length::text, is_nullable, column_default,"
            " is_identity FROM information_schema.columns WHERE table_schema = 'public'"
        )
        yield from cursor.fetchall()
        cursor.execute("SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public'")
        yield from cursor.fetchall()
        cursor.execute(
            "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint"
            " WHERE connamespace = 'public'::regnamespace"
        )
        yield from cursor.fetchall()


def plain(value: Any) -> Any:
    """A value as both databases would give it."""
    return bytes(value) if isinstance(value, memoryview) else value


def left_of(rows: Rows) -> Rows:
    """Those of the rows that the database has now, with these columns."""
    found = Rows()
    with connections["default"].cursor() as cursor:
        for table, several in rows.items():
            cursor.execute(f'SELECT count(*) FROM "{table}"')  # noqa: S608
            assert cursor.fetchone() == (len(several),), table
            for row in several:
                key = next(name for name in ("id", "page_id") if name in row)
                names = ", ".join(f'"{name}"' for name in row)
                cursor.execute(f'SELECT {names} FROM "{table}" WHERE "{key}" = %s', [row[key]])  # noqa: S608
                found.setdefault(table, []).append(dict(zip(row, map(plain, cursor.fetchone()), strict=True)))
    return found


@pytest.mark.parametrize(("earlier", "version"), [*OF_EITHER, *LONG], indirect=True)
def test_an_earlier_database_is_behind_until_it_has_the_tables_of_a_new_one_and_its_rows(
    earlier: Earlier, version: str
) -> None:
    stack = earlier.stack
    before = stack.within(lambda: left_of(earlier.rows))
    assert version == "0006" or stack.within(lambda: is_behind(connections["default"]))
    if version == "0006":
        stack.run("python", "manage.py", "migrate", "--verbosity", "0")
    else:
        stack.within(migrate_to)
    assert stack.within(shape) == earlier.new
    assert stack.within(lambda: left_of(earlier.rows)) == before
    assert not stack.within(lambda: is_behind(connections["default"]))
    if version == "0006":
        crawls_know_their_limits_and_since_when_they_are_paused(stack)


def crawls_know_their_limits_and_since_when_they_are_paused(stack: Stack) -> None:
    first, second = stack.rows("SELECT limits, paused_at FROM crawler_crawl ORDER BY id")
    limits = [json.loads(row["limits"]) if isinstance(row["limits"], str) else row["limits"] for row in (first, second)]
    assert limits == [{"pages": 1}, {"pages": 1}]
    assert first["paused_at"] is None
    assert second["paused_at"] is not None


# Processes of the version before may work while a migration runs, and afterwards.

ADDITIVE = (
    migrations.CreateModel,
    migrations.AddField,
    migrations.AddIndex,
    migrations.RemoveIndex,
    migrations.RunPython,
    migrations.SeparateDatabaseAndState,  # of the state alone
)
LAST_BEFORE_THE_RULE = "0020"


def test_migrations_leave_the_tables_of_the_version_before_usable() -> None:
    """It names its columns when it inserts a row, so a new one needs a default in the database. What is no longer used
    is removed a version later, by a migration that is then named here."""
    loader = MigrationLoader(None)
    for (app, name), migration in loader.disk_migrations.items():
        if app != "crawler" or name[:4] <= LAST_BEFORE_THE_RULE:
            continue
        for operation in migration.operations:
            assert isinstance(operation, ADDITIVE), f"{name}: {operation}"
            if isinstance(operation, migrations.SeparateDatabaseAndState):
                assert not operation.database_operations, f"{name}: {operation}"
            if isinstance(operation, migrations.AddField):
                field = operation.field
                assert field.null or field.db_default is not NOT_PROVIDED, f"{name}: {operation}"


LOCKS = """
    SELECT relation::regclass::text AS name, granted FROM pg_locks
    WHERE relation IS NOT NULL AND pid <> pg_backend_pid() AND relation::regclass::text = ANY(%s)
        AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
"""


@pytest.mark.long
@pytest.mark.parametrize(("earlier", "version"), [("postgresql", "0020")], indirect=True)
def test_a_migration_that_waits_for_a_tick_has_locked_nothing_that_the_tick_may_need(earlier: Earlier) -> None:
    """Else each would wait for the other. A tick locks its crawl's row before anything else."""
    stack = earlier.stack
    assert isinstance(stack, PostgresStack)
    names = sorted(name for app, name in MigrationLoader(None).disk_migrations if app == "crawler" and name > "0021")
    tables = [row["name"] for row in stack.rows("SELECT relname AS name FROM pg_class WHERE relname ~ '^crawler_'")]
    waited = list[str]()
    with ThreadPoolExecutor(1) as pool:
        for name in names:
            with stack.connect(autocommit=False) as tick, stack.connect() as onlooker:
                tick.execute("UPDATE crawler_crawl SET discovered = discovered")
                migrated = pool.submit(stack.within, partial(migrate_to, name))
                locks = list[dict[str, Any]]()
                while not migrated.done() and all(lock["granted"] for lock in locks):
                    time.sleep(0.02)
                    locks = [lock for lock in onlooker.execute(LOCKS, [tables]) if lock["name"] in tables]
                if any(not lock["granted"] for lock in locks):
                    waited.append(name)
                    assert [lock["name"] for lock in locks if lock["granted"]] == [], name
                tick.rollback()
            migrated.result(60)
    assert waited, "no migration changes the table of crawls"


def migrate_to(name: str | None = None) -> None:
    """To the migration of ours whose name begins so; None = the last."""
    connection = connections["default"]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = 0")  # as in `manage.py migrate`
    executor = MigrationExecutor(connection)
    loader = executor.loader
    last = loader.graph.leaf_nodes("crawler")
    executor.migrate([("crawler", loader.get_migration_by_prefix("crawler", name).name)] if name else last)


def test_the_files_of_migrations_are_those_that_django_finds() -> None:
    assert migration_files() == set(MigrationLoader(None).disk_migrations)


@pytest.mark.django_db
def test_the_tables_of_a_later_version_are_not_behind() -> None:
    MigrationRecorder(connections["default"]).record_applied("crawler", "9999_of_a_later_version")
    assert not is_behind(connections["default"])


# Tables between those of 0006 and of 0020.


@pytest.fixture
def between(request: pytest.FixtureRequest, stack: Stack) -> Stack:
    """A database that says of itself that 0003, or a migration that is given, was its last; its tables are not looked
    at."""
    with closing(sqlite3.connect(stack.database)) as database, database:
        database.execute(
            "DELETE FROM django_migrations WHERE app = 'crawler' AND (name > ? OR name LIKE '%squashed%')",
            [f"{getattr(request, 'param', '0003')}~"],
        )
    return stack


@pytest.mark.long
def test_migrate_says_which_version_can_upgrade_them_and_changes_nothing(between: Stack) -> None:
    before = between.rows("SELECT * FROM django_migrations")
    ended = between.run("python", "manage.py", "migrate", check=False)
    assert ended.returncode == 1
    *_, sentence = ended.stderr.splitlines()
    assert "which this version cannot upgrade: check out commit 48ccb13, run `python manage.py migrate`" in sentence
    assert between.rows("SELECT * FROM django_migrations") == before


def test_so_does_a_worker(between: Stack) -> None:
    between.env["CRAWLER_STARTUP_TIMEOUT"] = "0"
    ended = between.run(*OWN_WORKER, check=False)
    assert ended.returncode == 1
    assert "which this version cannot upgrade: check out commit 48ccb13" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("between", ["0003", "0013"], indirect=True)
def test_a_start_says_it_as_well(between: Stack) -> None:
    def start() -> None:
        with pytest.raises(NotUpgradable, match="check out commit 48ccb13"):
            apply_migrations()

    between.within(start)
