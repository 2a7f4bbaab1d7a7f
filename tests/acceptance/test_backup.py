"""A backup is made while a crawl runs, and restored later, as docs/deployment.md says: the crawl goes on from it, and
is exact. The same if Redis was not emptied, although it knows more by then than the database."""

import json
import sqlite3
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit
from uuid import UUID

import pytest

from crawler.core.protocol.counters import adds_up
from tests.acceptance.test_killed import assert_complete, slow_site
from tests.acceptance.test_stock_workers import EXPECTED
from tests.postgresql import PostgresStack
from tests.site import Answer, Reply, Request, Site, page
from tests.stack import PATIENCE, Stack
from tools.bench.services import postgresql_programs

pytestmark = pytest.mark.long

WORKERS = 2
HOOK = "/hook"
FIRST_REQUESTS = 30  # of some ninety


class Backup(Protocol):
    """How the database of a stack is copied while it is in use, and put back when nothing uses it."""

    def make(self) -> None: ...
    def restore(self) -> None: ...


class SqliteBackup:
    """As `.backup` and `.restore` of the program sqlite3 do it."""

    def __init__(self, stack: Stack) -> None:
        self._database, self._file = stack.database, stack.folder / "backup.sqlite3"

    def make(self) -> None:
        self._copy(self._database, self._file)

    def restore(self) -> None:
        self._copy(self._file, self._database)

    def _copy(self, source: Path, target: Path) -> None:
        with closing(sqlite3.connect(source)) as source_db, closing(sqlite3.connect(target)) as target_db:
            source_db.backup(target_db)


class PostgresBackup:
    """The commands of docs/deployment.md, for a database on a server of the tests' own."""

    def __init__(self, stack: PostgresStack) -> None:
        url = urlsplit(stack.url)
        self._server = ["--host", str(url.hostname), "--port", str(url.port), "--username", str(url.username)]
        self._name, self._file = url.path.strip("/"), stack.folder / "crawler.dump"

    def make(self) -> None:
        self._run("pg_dump", "--format=custom", f"--file={self._file}", self._name)

    def restore(self) -> None:
        self._run("dropdb", self._name)
        self._run("createdb", self._name)
        self._run("pg_restore", f"--dbname={self._name}", str(self._file))

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run([postgresql_programs() / program, *self._server, *arguments], check=True, timeout=60)


class PausingSite(Site):
    """Responds to the first requests, and to the others once it goes on: however long a backup takes, it is of a crawl
    in its middle."""

    def __init__(self, pages: Mapping[str, Answer]) -> None:
        self.goes_on = threading.Event()
        super().__init__(pages)

    def answer(self, request: Request) -> Reply:
        reply = super().answer(request)
        if len(self.requests) > FIRST_REQUESTS:
            self.goes_on.wait(PATIENCE)
        return reply


@pytest.fixture
def site() -> Iterator[PausingSite]:
    with slow_site(after=0.1).serving() as slow, PausingSite({**slow.pages, HOOK: page()}).serving() as site:
        yield site
        site.goes_on.set()


@pytest.fixture
def own_database(postgres_stack: PostgresStack, tmp_path: Path) -> Iterator[PostgresStack]:
    """A database that may be dropped."""
    with postgres_stack.connect() as connection:
        connection.execute("DROP DATABASE IF EXISTS rehearsal WITH (FORCE)")
        connection.execute("CREATE DATABASE rehearsal")
    folder = tmp_path / "rehearsal"
    folder.mkdir()
    stack = PostgresStack(folder, postgres_stack.redis_url, postgres_stack.url.rpartition("/")[0] + "/rehearsal")
    try:
        yield stack
    finally:
        stack.end()


@pytest.mark.parametrize("empties_redis", [False, True], ids=["Redis as it was", "Redis emptied"])
@pytest.mark.parametrize("is_finished", [False, True], ids=["in the middle", "finished meanwhile"])
def test_a_crawl_goes_on_from_a_copy_of_sqlite(
    stack: Stack, site: PausingSite, empties_redis: bool, is_finished: bool
) -> None:
    rehearse(stack, site, SqliteBackup(stack), empties_redis=empties_redis, is_finished=is_finished)


@pytest.mark.parametrize("empties_redis", [False, True], ids=["Redis as it was", "Redis emptied"])
@pytest.mark.parametrize("is_finished", [False, True], ids=["in the middle", "finished meanwhile"])
def test_a_crawl_goes_on_from_a_dump_of_postgresql(
    own_database: PostgresStack, site: PausingSite, empties_redis: bool, is_finished: bool
) -> None:
    backup = PostgresBackup(own_database)
    rehearse(own_database, site, backup, empties_redis=empties_redis, is_finished=is_finished)


def rehearse(stack: Stack, site: PausingSite, backup: Backup, *, empties_redis: bool, is_finished: bool) -> None:
    crawl = begun(stack, site, backup)
    if is_finished:
        stack.wait_until_finished(crawl)
        stack.wait_for(lambda: len(told(site)) == 1)
    else:
        copied = len(site.requests)
        stack.wait_for(lambda: len(site.requests) > copied + 25)
    stop(stack)
    backup.restore()
    if empties_redis:
        stack.redis.flushall()
    earlier = told(site)
    closed = {url for url, row in stack.pages(crawl).items() if row["status"] == 1}
    assert 0 < len(closed) < EXPECTED["discovered"] - 25
    site.requests.clear()
    start_workers(stack)
    receipt = stack.wait_until_finished(crawl)
    assert_complete(stack, receipt)
    assert adds_up(receipt)
    pages = stack.pages(crawl)
    assert len(pages) == EXPECTED["discovered"]
    assert {row["status"] for row in pages.values()} == {1}
    assert closed.isdisjoint(f"{site.url}{request.path}" for request in site.requests)  # what the copy has is not asked
    stack.wait_for(lambda: len(told(site)) > 0)
    (delivery,) = stack.rows("SELECT id FROM crawler_delivery")
    assert {UUID(post["id"]) for post in [*earlier, *told(site)]} == {UUID(str(delivery["id"]))}
    stack.wait_for(lambda: not stack.left_over(), 10)


def begun(stack: Stack, site: PausingSite, backup: Backup) -> UUID:
    """A crawl of which a part is in the backup, and which goes on."""
    start_workers(stack)
    crawl = stack.start(f"{site.url}/", notify_webhooks=[f"{site.url}{HOOK}"])
    stack.wait_for(lambda: len([row for row in stack.pages(crawl).values() if row["status"] == 1]) > 10)
    backup.make()
    site.goes_on.set()
    return crawl


def start_workers(stack: Stack) -> None:
    for _ in range(WORKERS):
        stack.start_worker()


def stop(stack: Stack) -> None:
    for child in stack.children:
        child.terminate()
    for child in stack.children:
        child.wait(20)
    stack.children.clear()


def told(site: Site) -> list[dict[str, Any]]:
    """What the webhook was sent."""
    return [json.loads(request.body) for request in site.requests if request.path == HOOK]
