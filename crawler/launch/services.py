"""Finds the Redis of an installation, and applies database migrations."""

from __future__ import annotations

from pathlib import Path

import redis
from django.core.management import call_command
from django.db import Error, connection

from crawler import conf
from crawler.core.errors import ServiceDown, first_line
from crawler.core.installation.redis_url import without_secrets
from crawler.launch.embedded_redis import STARTUP_TIMEOUT_S, RedisServer, use_embedded
from crawler.launch.install import locked
from crawler.queueing.installation import OtherInstallation, take_over, verify
from crawler.redis_client import RedisClient, check_server
from crawler.storage.database import is_behind


def ensure_redis(data_dir: Path, given: str | None, *, timeout: float = STARTUP_TIMEOUT_S) -> RedisServer:
    """A Redis that answers and is new enough: that of the URL that the user has `given`, else the embedded one of this
    data folder. Raises ServiceDown with a hint. The database has its tables."""
    return checked(RedisServer(given, owned=False) if given else use_embedded(data_dir, timeout=timeout))


def checked(server: RedisServer) -> RedisServer:
    """The server, if it answers and is new enough. Raises ServiceDown with a hint. The database has its tables."""
    try:
        _check(server)
    except BaseException:
        server.close()
        raise
    return server


def _check(server: RedisServer) -> None:
    """Raise ServiceDown unless the server answers, can be used, and belongs to this installation."""
    url, claim = server.url, take_over if server.is_new else verify
    try:
        # Protocol 2, which a server that is too old understands too, so that its version can be read.
        with RedisClient.from_url(url, protocol=2, socket_timeout=5, socket_connect_timeout=5) as client:
            client.ping()
            check_server(client, url)
            claim(client, url)
    except OtherInstallation:
        raise
    except (redis.RedisError, ValueError, OSError) as error:
        raise ServiceDown(
            f"The Redis at {without_secrets(url)} does not respond ({error}). Check REDIS_URL and that the server runs."
        ) from None


def apply_migrations() -> None:
    """Apply pending migrations. Raises ServiceDown if the database does not answer, and NotUpgradable.

    A lock lets only one of several starting commands migrate; the others then find nothing to do.
    """
    try:
        if not is_behind(connection):
            return
        with locked(conf.data_dir() / "migrate.lock"):
            if is_behind(connection):
                call_command("migrate", interactive=False, verbosity=0)
    except Error as error:
        raise ServiceDown(f"The database does not respond ({first_line(error)}). Check DATABASE_URL.") from None
    finally:
        connection.close()
