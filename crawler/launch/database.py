"""Brings the database's tables up to date before anything uses them."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.management import call_command
from django.db import Error, connection

from crawler import conf
from crawler.core.errors import ServiceDown
from crawler.storage.upgrade import is_behind


def bring_up_to_date() -> None:
    """Apply the migrations that were not applied yet. Raises ServiceDown when the database does not answer, and
    NotUpgradable.

    Two commands that start at once take turns; the second finds nothing left to do.
    """
    try:
        if not is_behind(connection):
            return
        with _alone(conf.data_dir() / "migrate.lock"):
            if is_behind(connection):
                call_command("migrate", interactive=False, verbosity=0)
    except Error as error:
        raise ServiceDown(f"The database does not answer ({_first_line(error)}). Check DATABASE_URL.") from None
    finally:
        connection.close()


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
