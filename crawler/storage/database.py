"""Whether the tables fit this version or can be upgraded, and the limits of PostgreSQL sessions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any
from uuid import UUID

from django.apps import apps
from django.core import checks
from django.core.management import CommandError
from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.db import Error as DatabaseError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.db.backends.utils import CursorWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.models.signals import post_migrate, pre_migrate

from crawler.core.errors import NotUpgradable
from crawler.core.protocol.diagnosis import SilentLock

APP = "crawler"
LAST_BEFORE_SQUASH = "48ccb13"  # the commit that has each replaced migration as a file of its own, and all of them


def is_behind(connection: BaseDatabaseWrapper) -> bool:
    """Whether there are migrations to apply. Raises NotUpgradable, and the database's errors."""
    if migration_files() <= MigrationRecorder(connection).applied_migrations().keys():
        return False  # decided without importing them, which each start of a process would pay for
    from django.db.migrations.executor import MigrationExecutor  # seldom needed, and slow to import

    executor = MigrationExecutor(connection)
    _refuse_partly_replaced(executor.loader)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def migration_files() -> set[tuple[str, str]]:
    """App and name of each migration that Django would find."""
    packages = {app.label: MigrationLoader.migrations_module(app.label)[0] for app in apps.get_app_configs()}
    specs = {label: find_spec(name) for label, name in packages.items() if name}
    folders = {label: spec.submodule_search_locations or () for label, spec in specs.items() if spec}
    return {
        (label, module.name)
        for label, folder in folders.items()
        for module in iter_modules(folder)
        if not module.ispkg and module.name[0] not in "_~"
    }


@contextmanager
def read_snapshot() -> Iterator[None]:
    """All queries of this block see the database at one time, and wait for no writer. Within a transaction that is open
    already they see what that sees."""
    if connection.in_atomic_block:
        yield
        return
    if connection.vendor == "postgresql":
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield
        return
    usual = connection.transaction_mode  # type: ignore[attr-defined]  # of SQLite: it would lock out writers
    connection.transaction_mode = "DEFERRED"  # type: ignore[attr-defined]
    try:
        with transaction.atomic():
            connection.transaction_mode = usual  # type: ignore[attr-defined]
            yield
    finally:
        connection.transaction_mode = usual  # type: ignore[attr-defined]


def watch() -> None:
    """Give each database an id, and make `manage.py migrate` end with an explanation, before it changes anything, when
    it cannot upgrade. It runs this check first; later it would complain of migrations that follow on ones it does not
    know."""
    checks.register(_refuse, checks.Tags.database)
    post_migrate.connect(_name_database, sender=apps.get_app_config(APP), dispatch_uid="crawler.storage.database.id")


def _name_database(using: str = DEFAULT_DB_ALIAS, **_: Any) -> None:
    """After `migrate`, and after `flush`, which deletes it: give the database an id, once."""
    with suppress(DatabaseError):  # migrated to an earlier version, which has no such table
        apps.get_model(APP, "Installation").objects.using(using).get_or_create(number=1)


def _refuse_partly_replaced(loader: MigrationLoader) -> None:
    """Django skips a squashed migration of which only some parts were applied, because it expects the files of the
    others, which are gone."""
    for (app, _), squashed in loader.replacements.items():
        applied = [name for name in squashed.replaces if name in loader.applied_migrations]
        if app == APP and 0 < len(applied) < len(squashed.replaces):
            raise NotUpgradable(applied[-1][1], LAST_BEFORE_SQUASH)


def _refuse(app_configs: Any, databases: Sequence[str] | None = None, **_: Any) -> list[checks.CheckMessage]:
    """Raises CommandError, of which users see one line."""
    for name in databases or ():
        try:
            _refuse_partly_replaced(MigrationLoader(connections[name]))
        except NotUpgradable as error:
            raise CommandError(str(error)) from None
    return []


# Limits of PostgreSQL sessions, so that a machine that disappears does not block the others.
#
# PostgreSQL keeps the transaction and the row locks of a silent client until TCP gives up after 15 minutes to 2 hours.
# So each session has limits, a tick that meets a lock is deferred, and the holder of the lock on a crawl's row can be
# found. `crawler.settings.environment` has the client side of a connection.

VENDOR = "postgresql"
LOCK_NOT_AVAILABLE, DEADLOCK = "55P03", "40P01"  # SQLSTATE

LIMITS = {
    "lock_timeout": "3s",  # longest wait of a statement for a lock
    "idle_in_transaction_session_timeout": "10s",  # longest wait of a transaction for its client
    "tcp_keepalives_idle": "5",  # seconds; then the server probes a silent client three times
    "tcp_keepalives_interval": "3",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "10s",  # longest wait for an acknowledgement
}
"""Of each session. SET, and not sent in the startup packet (libpq's `options`), which PgBouncer refuses."""

UNLIMITED = dict.fromkeys(("lock_timeout", "idle_in_transaction_session_timeout"), "0")
"""While tables are changed: a migration may wait for locks, and may compute between two statements."""

_UNSET = """
    SELECT quote_ident(current_user), name FROM pg_settings WHERE name = ANY(%s) AND setting = '0' ORDER BY name
"""

_SILENT_LOCK = """
    SELECT host(holder.client_addr),
           extract(epoch FROM clock_timestamp() - holder.state_change)::float8,
           (SELECT setting::float8 / 1000 FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout')
    FROM crawler_crawl AS crawl JOIN pg_stat_activity AS holder ON holder.backend_xid = crawl.xmax
    WHERE crawl.id = %s AND holder.state LIKE 'idle in transaction%%'
"""


def apply_session_limits() -> None:
    """Apply these limits to every new connection to PostgreSQL."""
    connection_created.connect(_set_limits, dispatch_uid="crawler.storage.database")
    pre_migrate.connect(_lift_limits, dispatch_uid="crawler.storage.database")
    post_migrate.connect(_restore_limits, dispatch_uid="crawler.storage.database")


def is_pooled_by_transaction(connection: BaseDatabaseWrapper) -> bool:
    """Whether a pooler gives each transaction another session (`pool_mode=transaction` in DATABASE_URL). What a session
    SETs would be that of other processes then, so the database role must have the limits."""
    return connection.vendor == VENDOR and bool(connection.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS"))


def missing_limits(connection: BaseDatabaseWrapper) -> list[str]:
    """The statements that give the role the limits it lacks, if sessions are pooled by transaction."""
    if not is_pooled_by_transaction(connection):
        return []
    with connection.cursor() as cursor:
        cursor.execute(_UNSET, [list(UNLIMITED)])
        return [f"ALTER ROLE {role} SET {name} = '{LIMITS[name]}'" for role, name in cursor.fetchall()]


def streaming_cursor(connection: BaseDatabaseWrapper) -> CursorWrapper:
    """A cursor for many rows, which are read from the server some at a time; all at once if sessions are pooled by
    transaction, because they are read outside of one."""
    return connection.cursor() if is_pooled_by_transaction(connection) else connection.chunked_cursor()


def is_lock_timeout(error: BaseException) -> bool:
    """Whether this error means that another transaction held a lock for longer than `lock_timeout`, or that each of two
    waited for the other, and this one was ended."""
    cause = error.__cause__
    sqlstate = getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None)
    return sqlstate in (LOCK_NOT_AVAILABLE, DEADLOCK)


def silent_lock(crawl: UUID) -> SilentLock | None:
    """The idle transaction that has locked the crawl's row, if any. A row's `xmax` is the transaction that locked it,
    unless it was locked behind a savepoint: then it is not found."""
    if connection.vendor != VENDOR:
        return None
    with connection.cursor() as cursor:
        cursor.execute(_SILENT_LOCK, [crawl])
        found = cursor.fetchone()
    if found is None:
        return None
    client, silent_for, limit = found
    return SilentLock(client or "", silent_for, limit - silent_for if limit else None)


def _set_limits(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """A limit named in DATABASE_URL (`?options=-c%20lock_timeout=5s`) takes precedence."""
    named = _named(str(connection.settings_dict["OPTIONS"].get("options", "")))
    _set(connection, {name: value for name, value in LIMITS.items() if name not in named})


def _named(options: str) -> set[str]:
    """The settings that libpq's `options` sets: "-c name=value", "-cname=value" or "--name=value"."""
    names = [word.partition("=")[0] for word in options.split() if "=" in word]
    return {name.removeprefix("--").removeprefix("-c").replace("-", "_") for name in names}


def _set(connection: BaseDatabaseWrapper, values: dict[str, str]) -> None:
    if connection.vendor != VENDOR or is_pooled_by_transaction(connection) or not values:
        return
    with connection.cursor() as cursor:
        calls = ", ".join(["set_config(%s, %s, false)"] * len(values))
        cursor.execute(f"SELECT {calls}", [part for pair in values.items() for part in pair])


def lock_crawls(apps: Any, schema_editor: Any) -> None:
    """The first operation of a migration that changes several tables, one of them that of crawls or referring to it. A
    tick locks its crawl's row before others, so a migration that has locked pages and then waits for crawls might wait
    for a tick that waits for pages; PostgreSQL would end one of the two."""
    if schema_editor.connection.vendor == VENDOR:
        schema_editor.execute("LOCK TABLE crawler_crawl IN ACCESS EXCLUSIVE MODE")


def _lift_limits(using: str, **_: Any) -> None:
    _set(connections[using], UNLIMITED)


def _restore_limits(using: str, **_: Any) -> None:
    _set_limits(connections[using])
