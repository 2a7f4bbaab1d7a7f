"""What `doctor` looks at: what is installed, reachable, writable, too old, and what to do about it."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import msgspec
from django.core.checks import Tags, run_checks
from django.db import DEFAULT_DB_ALIAS, connections
from django.db import Error as DatabaseError
from redis import RedisError, ResponseError

from crawler import clock, conf, extras, version
from crawler.command_names import as_typed
from crawler.core.errors import CrawlerError, first_line
from crawler.core.html import scanned_page
from crawler.core.installation.redis_url import without_secrets
from crawler.core.protocol.lanes import lanes
from crawler.queueing import queues
from crawler.queueing.installation import OtherInstallation, verify
from crawler.queueing.startup import CLOCKS_TO_DO, brief_connection, skew_text, trouble_of
from crawler.queueing.workers import worker_count
from crawler.redis_client import RedisClient, check_server

TIMEOUT_S = 3.0
LEAST_FREE = 1_000_000_000  # bytes of the data folder's disk
KEEPS_ALL = "noeviction"


class Level(StrEnum):
    """How a finding stands."""

    OK = "ok"
    NOTE = "note"  # it works without
    WARNING = "warning"  # it works, and not as it should
    ERROR = "error"  # no crawl can be done


class Finding(msgspec.Struct, frozen=True):
    """What one look found."""

    about: str
    level: Level
    text: str
    to_do: str = ""


def findings() -> Iterator[Finding]:
    """Each as soon as it is known."""
    yield Finding("version", Level.OK, f"{version.described()}, Python {platform.python_version()}, {_system()}")
    yield _reader()
    yield from _data_folder()
    yield from _database()
    yield from _redis()
    yield from _clocks()
    yield from _settings()
    yield from (_extra(extra) for extra in extras.EXTRAS)


def _system() -> str:
    return f"{platform.system()} {platform.machine()}"


def _reader() -> Finding:
    if scanned_page.is_available():
        return Finding("page reader", Level.OK, "compiled")
    to_do = as_typed(
        "Install a C compiler and Python's headers, then run bin/up once more: pages take half as much CPU."
    )
    return Finding("page reader", Level.NOTE, "in Python: no compiled one was built", to_do)


def _data_folder() -> Iterator[Finding]:
    folder = conf.data_dir()
    if not os.access(folder, os.W_OK):
        to_do = "Make it writable, or set CRAWLER_DATA_DIR to another folder."
        yield Finding("data folder", Level.ERROR, f"{folder} is not writable", to_do)
        return
    free = shutil.disk_usage(folder).free
    text = f"{folder}, {free / 1e9:,.1f} GB free"
    if free < LEAST_FREE:
        yield Finding("data folder", Level.WARNING, text, "Free some space: crawls pause when the disk is full.")
    else:
        yield Finding("data folder", Level.OK, text)


def _database() -> Iterator[Finding]:
    with brief_connection() as database:
        name = connections.settings[DEFAULT_DB_ALIAS]["NAME"]
        shown = f"{database.display_name} {name}"
        if trouble := trouble_of(database):
            to_do = as_typed(
                "Check DATABASE_URL and that the server runs; create the tables with python manage.py migrate."
            )
            yield Finding("database", Level.ERROR, f"{shown}: {trouble}", to_do)
            return
        numbers = ".".join(map(str, database.get_database_version()))
        yield Finding("database", Level.OK, f"{database.display_name} {numbers}, {name}; all migrations are applied")


def _redis() -> Iterator[Finding]:
    url = conf.redis_url()
    shown = without_secrets(url)
    if (path := _socket_of(url)) and not path.exists():
        text = f"the embedded server is not running ({path})"
        yield Finding("Redis", Level.NOTE, text, as_typed("bin/up and bin/crawl start it."))
        return
    try:
        with RedisClient.from_url(url, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S) as redis:
            info = check_server(redis, url)
            verify(redis, url)
            policy = _eviction(redis)
    except OtherInstallation as error:
        yield Finding(
            "Redis", Level.ERROR, f"{shown}: {first_line(error)}", "Give each installation its own database number."
        )
        return
    except (RedisError, CrawlerError, OSError, ValueError) as error:
        to_do = "Check REDIS_URL and that the server runs."
        yield Finding("Redis", Level.ERROR, f"{shown}: {first_line(error)}", to_do)
        return
    yield Finding("Redis", Level.OK, f"{info.get('redis_version', '')}, {shown}")
    if policy != KEEPS_ALL:
        to_do = "Set maxmemory-policy noeviction: work is repeated when a key is evicted."
        yield Finding("Redis", Level.WARNING, f"it evicts keys when it is full ({policy})", to_do)
    yield from _workers()


def _eviction(redis: RedisClient) -> str:
    """What the server does when it is full; KEEPS_ALL as well if its user may not ask."""
    try:
        return str(redis.info("memory").get("maxmemory_policy", KEEPS_ALL))
    except ResponseError:
        return KEEPS_ALL


def _socket_of(url: str) -> Path | None:
    return Path(url.removeprefix("unix://").partition("?")[0]) if url.startswith("unix://") else None


def _workers() -> Iterator[Finding]:
    """Those of the queues that have any, and of the queue that each crawl needs."""
    numbers = {name: worker_count(name) for name in (queues.CRAWL, *(lane.queue for lane in lanes()))}
    listening = [f"{name}: {number}" for name, number in numbers.items() if number]
    if all(numbers[name] for name in (queues.CRAWL, queues.FETCH)):
        yield Finding("workers", Level.OK, ", ".join(listening))
    else:
        text = f"no worker listens to {queues.CRAWL} and {queues.FETCH}"
        yield Finding("workers", Level.WARNING, text, as_typed("Start some: bin/worker -n 2"))


def _clocks() -> Iterator[Finding]:
    try:
        with brief_connection() as database:
            skew = clock.measure(database)
    except (DatabaseError, RedisError, OSError):
        return  # another finding says why
    if said := skew_text(skew):
        yield Finding("clocks", Level.WARNING, said.rstrip("."), CLOCKS_TO_DO)
    elif skew.known:
        yield Finding("clocks", Level.OK, "this machine's clock agrees with " + " and ".join(map(_titled, skew.known)))


def _titled(service: str) -> str:
    return {"redis": "Redis's", "database": "the database's"}[service]


def _settings() -> Iterator[Finding]:
    """The checks of a server that others can reach."""
    if not _is_public():
        return
    for trouble in run_checks(tags=[Tags.security], include_deployment_checks=True):
        yield Finding("settings", Level.WARNING, trouble.msg.rstrip("."), trouble.hint or "")


def _is_public() -> bool:
    return os.environ.get("DJANGO_SETTINGS_MODULE", "").endswith("production")


def _extra(extra: extras.Extra) -> Finding:
    if extra.is_installed:
        return Finding(extra.name, Level.OK, "installed")
    purpose = f"{extra.purpose[0].lower()}{extra.purpose[1:]}" if extra.purpose[1].islower() else extra.purpose
    return Finding(extra.name, Level.NOTE, f"not installed; {purpose} it", extra.install_line())
