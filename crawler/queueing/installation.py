"""Whose Redis it is: the database's id is stamped into it, and a process with another database refuses it.

Redis holds what belongs to one database. Workers that took the jobs of another installation would find no such crawls
and drop them. The first process that meets a Redis without a stamp sets it, also after Redis was emptied.
"""

from __future__ import annotations

import logging
import shlex
import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar
from urllib.parse import parse_qs, unquote
from uuid import UUID
from weakref import WeakKeyDictionary

from django.apps import apps
from django.db import Error as DatabaseError
from redis import ConnectionPool, Redis, RedisError
from rq import Retry, get_current_job
from rq.command import send_shutdown_command

from crawler import conf
from crawler.core.errors import ServiceDown
from crawler.core.installation.redis_url import parse_sentinel, without_secrets
from crawler.frontier.keys import INSTALLATION
from crawler.queueing import processes

CHECK_EVERY_S = 10.0
HAND_BACK_PAUSE_S = 1.0  # before a job of another installation is handed back, so that its own workers can take it
HAND_BACKS = 1_000_000  # of one job

P = ParamSpec("P")
R = TypeVar("R")

log = logging.getLogger(__name__)


class OtherInstallation(ServiceDown, RedisError):
    """This Redis belongs to another installation. It is no better than one that does not answer."""


_check_at: WeakKeyDictionary[ConnectionPool, float] = WeakKeyDictionary()  # by the monotonic clock
known = list[UUID]()


def own_id() -> UUID | None:
    """The id of this database; None while it does not answer or lacks the table."""
    if not known:
        try:
            known.extend(apps.get_model("crawler", "Installation").objects.values_list("database_id", flat=True))
        except DatabaseError:
            return None
    return known[0] if known else None


def forget_checks() -> None:
    """Have the next call of `verify` ask the server."""
    _check_at.clear()


def verify(redis: Redis, url: str, *, at_once: bool = False) -> None:
    """Raise OtherInstallation if the server has the stamp of another database, and set ours if it has none. Frequent
    calls are cheap: one in CHECK_EVERY_S asks the server, unless `at_once`. Raises RedisError."""
    pool, moment = redis.connection_pool, time.monotonic()
    if not at_once and moment < _check_at.get(pool, 0.0):
        return
    own = own_id()
    if own is None:
        return
    _check_at[pool] = moment + CHECK_EVERY_S
    with redis.pipeline() as pipe:
        pipe.setnx(INSTALLATION, str(own))
        pipe.get(INSTALLATION)
        stamp = pipe.execute()[1].decode()
    if stamp != str(own):
        del _check_at[pool]  # ask again at the next call
        raise OtherInstallation(other_installation(url))


def other_installation(url: str) -> str:
    """The message for a server that has another installation's data."""
    shown = without_secrets(url)
    scheme, _, rest = shown.partition("://")
    if scheme == "unix":
        number, own = parse_qs(url.partition("?")[2]).get("db", ["0"])[0], f"{shown}?db="
        empty = f"redis-cli -s {shlex.quote(unquote(rest))} -n {number} flushdb"
    else:
        place, _, path = rest.partition("/")
        number = path.rpartition("/")[2] if parse_sentinel(url) else path
        password = ":PASSWORD@" if "@" in url.partition("?")[0] else ""
        own = f"{scheme}://{password}{rest[: len(rest) - len(number)] if number else place + '/'}"
        empty = f"redis-cli -n {number or 0} flushdb"
    following = int(number) + 1 if number.isdecimal() else 1
    return (
        f"The Redis at {shown} belongs to another installation of the crawler, with another database. Use a separate "
        f"server or database number, such as REDIS_URL={own}{following}, or, if the other is gone, empty it there: "
        f"{empty}"
    )


def take_over(redis: Redis, url: str) -> None:
    """Of an embedded server that was just started, and so has no other users: if its data is another database's, such
    as one that was deleted, it is emptied. Raises RedisError."""
    try:
        verify(redis, url, at_once=True)
    except OtherInstallation:
        log.warning("Redis contained the data of another database and was emptied; crawls continue from this database.")
        redis.flushdb()
        verify(redis, url, at_once=True)


def of_this_installation(job: Callable[P, R]) -> Callable[P, R | Retry]:
    """A job that is run only if the Redis it came from has our stamp. Else it is handed back to its queue, and its
    worker ends: it was started for the wrong Redis."""

    @wraps(job)
    def run(*args: P.args, **named: P.kwargs) -> R | Retry:
        current = get_current_job()
        if current is None or current.connection is None:
            return job(*args, **named)
        try:
            verify(current.connection, conf.redis_url())
        except OtherInstallation as error:
            log.error("This worker ends. %s", error)
            if current.worker_name:
                send_shutdown_command(current.connection, current.worker_name)
            time.sleep(HAND_BACK_PAUSE_S)
            return Retry(max=HAND_BACKS)
        with processes.job(job.__name__, args):
            return job(*args, **named)

    return run
