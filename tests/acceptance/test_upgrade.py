"""An upgrade as it happens on PostgreSQL: the tables are migrated while workers of the earlier version crawl, which are
then replaced one after the other. ALTER TABLE and they wait for each other's locks, and no page is lost for that."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from uuid import UUID

import pytest
import redis

from crawler.core.protocol.counters import adds_up
from tests.acceptance.test_earlier_version import Command, earlier, start_workers
from tests.acceptance.test_stock_workers import EXPECTED, small_site
from tests.postgresql import PostgresStack
from tests.site import Site
from tests.stack import OWN_WORKER, PATIENCE, STOCK_WORKER

__all__ = ["earlier"]  # a fixture

pytestmark = pytest.mark.long

GAVE_WAY = "gave way: another connection to the database has locked"
MIGRATION_WAITS = """
    SELECT pid FROM pg_locks
    WHERE relation = 'crawler_page'::regclass AND mode = 'AccessExclusiveLock' AND NOT granted
"""
DELAY_S = 0.3  # so that some 90 pages last for longer than `migrate`, however fast the machine is
START = """
from crawler.core.crawl.options import CrawlOptions
from crawler.crawls.start import start_crawl
print(start_crawl(["{}"], CrawlOptions.from_plain({{'delay': {}}}), allow_private=True).id)
"""


class StackToUpgrade(PostgresStack):
    """Its tables are those of an earlier version, in a database of its own."""

    def __init__(self, folder: Path, redis_url: str, database_url: str, root: Path) -> None:
        self.root = root
        super().__init__(folder, redis_url, database_url)

    def make_database(self) -> None:
        self.manage("migrate", "--verbosity", "0")

    def manage(self, *arguments: str) -> str:
        """What a command of the earlier version prints."""
        return self.run("python", "manage.py", *arguments, root=self.root).stdout

    def start_earlier(self, site: Site) -> UUID:
        return UUID(self.manage("shell", "-c", START.format(f"{site.url}/", DELAY_S)).split()[-1])

    @contextmanager
    def pages_being_read(self) -> Iterator[None]:
        """A report or an export reads the table of pages, which ALTER TABLE waits for."""
        with self.connect(autocommit=False) as reader:
            reader.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            reader.execute("SELECT id FROM crawler_page LIMIT 1")
            yield


@pytest.fixture
def to_upgrade(tmp_path: Path, redis_url: str, postgresql_url: str, earlier: Path) -> Iterator[StackToUpgrade]:
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
    server = PostgresStack.__new__(PostgresStack)
    server.url = postgresql_url
    with server.connect() as connection:
        connection.execute("CREATE DATABASE upgraded")
    url = urlsplit(postgresql_url)._replace(path="/upgraded").geturl()
    stack = None
    try:
        stack = StackToUpgrade(tmp_path, redis_url, url, earlier)
        yield stack
    finally:
        if stack is not None:
            stack.end()
        with server.connect() as connection:
            connection.execute("DROP DATABASE upgraded WITH (FORCE)")


@pytest.fixture
def site() -> Iterator[Site]:
    with small_site().serving() as site:
        yield site


@pytest.mark.parametrize("command", [OWN_WORKER, STOCK_WORKER], ids=["the project's own", "stock"])
def test_tables_change_in_mid_crawl_and_workers_after_it(
    to_upgrade: StackToUpgrade, site: Site, command: Command
) -> None:
    stack = to_upgrade
    workers = start_workers(stack, command, stack.root, stack.root)
    crawl = stack.start_earlier(site)
    stack.wait_for(lambda: len(site.requests) > 5)

    with stack.pages_being_read():
        migrate = stack.spawn("python", "manage.py", "migrate", "--noinput")
        stack.wait_for(lambda: bool(stack.rows(MIGRATION_WAITS)))
        stack.wait_for(lambda: GAVE_WAY in stack.log())
    assert migrate.wait(PATIENCE) == 0, stack.log()[-3000:]
    assert stack.crawl(crawl)["state"] == "running"

    for worker in workers:
        requests = len(site.requests)
        stack.wait_for(lambda requests=requests: len(site.requests) > requests)  # type: ignore[misc]
        worker.terminate()
        worker.wait(20)
        stack.spawn(*command)
    receipt = stack.wait_until_finished(crawl)
    assert {name: receipt[name] for name in EXPECTED} == EXPECTED
    assert adds_up(receipt)
    assert {path: times for path, times in site.hits.items() if times > 1} == {"/busy": 2}
    assert {row["deaths"] for row in stack.pages(crawl).values()} == {0}
    assert len(stack.rows("SELECT id FROM crawler_notice")) == 1
    assert stack.rows("SELECT what FROM crawler_disagreement") == []
