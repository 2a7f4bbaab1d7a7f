"""Waits for Redis and the database at the start of a process; they may be started later.

Each failed attempt is a line on stderr. After CRAWLER_STARTUP_TIMEOUT seconds a worker exits with code 1 and a message;
the web server and the clock, which tolerate outages of both, start without them.
"""

from __future__ import annotations

import math
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NoReturn

import msgspec
from django.db import DEFAULT_DB_ALIAS, connections
from django.db import Error as DatabaseError
from django.db.backends.base.base import BaseDatabaseWrapper
from redis import RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from crawler import clock, conf
from crawler.command_names import as_typed
from crawler.core.errors import NotUpgradable, ServiceDown
from crawler.core.installation.deployment import MAX_SKEW_S, Skew
from crawler.core.installation.redis_url import without_secrets
from crawler.core.text.sanitize import one_line
from crawler.queueing import alive
from crawler.queueing.installation import OtherInstallation, verify
from crawler.redis_client import RedisClient, check_server
from crawler.storage.database import is_behind, missing_limits

RETRY_INTERVAL_S = 1.0
CONNECT_TIMEOUT_S = 2  # of one attempt to connect to Redis

NOT_MIGRATED = as_typed("its migrations are not applied: python manage.py migrate")


class Service(msgspec.Struct, frozen=True):
    """A service that a process needs."""

    name: str  # and where it is, without its password
    trouble: Callable[[], str | None]  # why it cannot be used now; None = it can
    to_do: str  # what the operator can do when it never comes

    @property
    def title(self) -> str:
        """The name as a sentence begins with it."""
        return self.name[0].upper() + self.name[1:]


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def wait_or_exit(*redis_urls: str) -> None:
    """Return when both are ready; after the timeout exit with code 1 and a message."""
    try:
        _wait(redis_urls)
    except ServiceDown as error:
        sys.exit(str(error))


def wait_or_go_on(what: str) -> None:
    """Return when both are ready, or after the timeout: `what` then starts without them. Exits with code 1 and a
    message if Redis belongs to another installation."""
    try:
        _wait(())
    except OtherInstallation as error:
        sys.exit(str(error))
    except ServiceDown as error:
        _say(f"{error} {what} without waiting longer.")


def wait_for(
    services: Sequence[Service],
    seconds: float,
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
    say: Callable[[str], None] = _say,
) -> None:
    """Try the services one after the other, each until it is ready. Raises ServiceDown after `seconds` in total; with 0
    each is tried once."""
    deadline = clock() + seconds
    for service in services:
        attempt = 1
        while (trouble := service.trouble()) is not None:
            alive.note()
            left = deadline - clock()
            if left <= 0:
                raise ServiceDown(f"{service.title} is not ready after {seconds:g} s: {trouble}. {service.to_do}")
            say(f"Waiting for {service.name} (attempt {attempt}, {math.ceil(left)} s left): {trouble}")
            sleep(min(RETRY_INTERVAL_S, left))
            attempt += 1
        if attempt > 1:
            say(f"{service.title} is ready.")


def _wait(redis_urls: Sequence[str]) -> None:
    urls = dict.fromkeys([*redis_urls, conf.redis_url()])  # each once
    with _exit_on_signals():
        wait_for([*map(_redis, urls), _database()], conf.startup_timeout())
        for url in urls:
            _refuse_other(url)
        with brief_connection() as database:
            if sentence := skew_text(clock.measure(database)):
                _say(f"{sentence} {CLOCKS_TO_DO}")


CLOCKS_TO_DO = "Keep the clocks of all machines right by NTP, with chrony or systemd-timesyncd: see docs/deployment.md."


def skew_text(skew: Skew) -> str:
    """Which clock is off, and by how much; "" if none is. If two agree, the third is off."""
    redis, database = skew.redis, skew.database
    if redis is not None and database is not None and _is_off(redis) and abs(redis - database) <= MAX_SKEW_S:
        return f"This machine's clock is {_by(redis)} the clocks of Redis and the database."
    if database is not None and redis is not None and _is_off(redis) != _is_off(database):
        if _is_off(redis):
            return f"Redis's clock is {_by(-redis)} the clocks of this machine and the database."
        return f"The database's clock is {_by(-database)} the clocks of this machine and Redis."
    named = {"Redis's": redis, "the database's": database}
    off = [f"{_by(seconds)} {name}" for name, seconds in named.items() if seconds is not None and _is_off(seconds)]
    return f"This machine's clock is {' and '.join(off)}." if off else ""


def _is_off(seconds: float) -> bool:
    return abs(seconds) > MAX_SKEW_S


def _by(seconds: float) -> str:
    return f"{abs(seconds):.1f} s {'ahead of' if seconds > 0 else 'behind'}"


def _refuse_other(url: str) -> None:
    """Raises OtherInstallation. A Redis that has just gone is no reason to wait again."""
    with _client(url) as redis:
        try:
            verify(redis, url)
        except OtherInstallation:
            raise
        except RedisError:
            return


def _redis(url: str) -> Service:
    return Service(
        f"Redis at {without_secrets(url)}",
        partial(_redis_trouble, url),
        "Check that it runs and that REDIS_URL names it (CRAWLER_STARTUP_TIMEOUT sets how long to wait).",
    )


def _redis_trouble(url: str) -> str | None:
    """Raises ServiceDown for a server that waiting cannot make usable."""
    try:
        with _client(url) as redis:
            redis.ping()
            check_server(redis, url)
    except (RedisError, OSError, ValueError) as error:
        return _reason(error)
    return None


def _client(url: str) -> RedisClient:
    return RedisClient.from_url(
        url,
        socket_connect_timeout=CONNECT_TIMEOUT_S,
        socket_timeout=CONNECT_TIMEOUT_S,
        retry=Retry(NoBackoff(), 0),  # each attempt of ours is one attempt
    )


def _database() -> Service:
    config = connections.settings[DEFAULT_DB_ALIAS]
    where = ":".join(str(part) for part in (config["HOST"], config["PORT"]) if part)
    return Service(
        f"the database {config['NAME']}" + (f" at {where}" if where else ""),
        _database_trouble,
        "Check that it runs and that DATABASE_URL names it (CRAWLER_STARTUP_TIMEOUT sets how long to wait).",
    )


def _database_trouble() -> str | None:
    with brief_connection() as connection:
        return trouble_of(connection)


def trouble_of(database: BaseDatabaseWrapper) -> str | None:
    """Why the database cannot be used now; None if it can."""
    try:
        if missing := missing_limits(database):
            return f"its role lacks timeouts, which cannot be set through a pooler: {'; '.join(missing)}"
        return NOT_MIGRATED if is_behind(database) else None
    except (DatabaseError, NotUpgradable) as error:
        return _reason(error)


@contextmanager
def brief_connection() -> Iterator[BaseDatabaseWrapper]:
    """A temporary connection to the database. It is opened by the first statement, which waits CONNECT_TIMEOUT_S at
    most for a PostgreSQL that does not respond."""
    connection = connections.create_connection(DEFAULT_DB_ALIAS)
    try:
        yield connection
    finally:
        connection.close()


def _reason(error: Exception) -> str:
    """The system's message for a failed connection, else the first line of the error."""
    cause = error.__context__
    message = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(error)
    return one_line((message.strip().splitlines() or [type(error).__name__])[0].rstrip("."))


@contextmanager
def _exit_on_signals() -> Iterator[None]:
    """A signal while waiting ends the process at once, with exit code 0 like RQ's workers."""

    def end(number: int, frame: object) -> NoReturn:
        raise SystemExit(0)

    former = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
