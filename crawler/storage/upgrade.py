"""Whether the tables are those of this version, and which tables this version cannot upgrade."""

from __future__ import annotations

from typing import Any

from django.core.management import CommandError
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.models.signals import pre_migrate

from crawler.core.errors import NotUpgradable

APP = "crawler"
LAST_BEFORE_SQUASH = "48ccb13"  # the commit that has each replaced migration as a file of its own, and all of them


def is_behind(connection: BaseDatabaseWrapper) -> bool:
    """Whether there are migrations to apply. Raises NotUpgradable, and the database's errors."""
    executor = MigrationExecutor(connection)
    _refuse_partly_replaced(executor.loader)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def watch() -> None:
    """From now on `manage.py migrate` ends with a sentence, before it changes anything, where it cannot upgrade."""
    pre_migrate.connect(_refuse, dispatch_uid="crawler.storage.upgrade")


def _refuse_partly_replaced(loader: MigrationLoader) -> None:
    """Django leaves out a squashed migration of which only some were applied, and finds nothing to do: it takes the
    files of the others for granted, which are gone."""
    for (app, _), squashed in loader.replacements.items():
        applied = [name for name in squashed.replaces if name in loader.applied_migrations]
        if app == APP and 0 < len(applied) < len(squashed.replaces):
            raise NotUpgradable(applied[-1][1], LAST_BEFORE_SQUASH)


def _refuse(app_config: Any, using: str, **_: Any) -> None:
    if app_config.label != APP:
        return
    try:
        _refuse_partly_replaced(MigrationLoader(connections[using]))
    except NotUpgradable as error:
        raise CommandError(str(error)) from None
