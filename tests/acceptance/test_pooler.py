"""Processes reach PostgreSQL through PgBouncer, which gives each transaction another connection to the server."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.db import connection

from crawler.queueing import startup
from crawler.storage.database import LIMITS, UNLIMITED
from tests.acceptance.test_stock_workers import EXPECTED, small_site
from tests.postgresql import PostgresStack
from tools.bench.services import free_port

SERVER_CONNECTIONS = 2  # fewer than processes
WORKERS = 4
OTHERS = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"


@contextmanager
def pooled(stack: PostgresStack) -> Iterator[None]:
    """From here on the stack's processes name PgBouncer in place of the server."""
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin")
    if program is None:
        pytest.skip("PgBouncer is missing: apt-get install pgbouncer")
    server, port = urlsplit(stack.url), free_port()
    settings = {
        "listen_addr": "127.0.0.1",
        "listen_port": port,
        "unix_socket_dir": "",
        "auth_type": "any",
        "pool_mode": "transaction",
        "default_pool_size": SERVER_CONNECTIONS,
    }
    with tempfile.TemporaryDirectory(prefix="crawler-pgbouncer-") as name:
        folder, file = Path(name), Path(name) / "pgbouncer.ini"
        databases = f"* = host={server.hostname} port={server.port} user={server.username}"
        lines = [f"{setting} = {value}" for setting, value in settings.items()]
        file.write_text("\n".join(["[databases]", databases, "[pgbouncer]", *lines, ""]))
        folder.chmod(0o755)
        user = "nobody" if os.geteuid() == 0 else None  # it refuses to run as root
        process = subprocess.Popen([program, str(file)], user=user, stderr=subprocess.DEVNULL)
        url = f"postgres://{server.username}@127.0.0.1:{port}{server.path}"
        try:
            stack.wait_for(lambda: answers(url), 10)
            stack.env["DATABASE_URL"] = f"{url}?pool_mode=transaction"
            yield
        finally:
            process.terminate()
            process.wait(10)


def answers(url: str) -> bool:
    import psycopg  # is not there on every machine

    try:
        with psycopg.connect(url):
            return True
    except psycopg.OperationalError:
        return False


@pytest.fixture
def role_has_limits(postgres_stack: PostgresStack) -> Iterator[None]:
    with postgres_stack.connect() as own:
        for name in UNLIMITED:
            own.execute(f"ALTER ROLE CURRENT_USER SET {name} = '{LIMITS[name]}'")
    yield
    with postgres_stack.connect() as own:
        own.execute("ALTER ROLE CURRENT_USER RESET ALL")


def test_a_process_does_not_start_when_the_role_lacks_limits_and_says_how_to_set_them(
    postgres_stack: PostgresStack,
) -> None:
    with pooled(postgres_stack):
        postgres_stack.url = postgres_stack.env["DATABASE_URL"]
        trouble = postgres_stack.within(lambda: startup.trouble_of(connection)) or ""
    for name in UNLIMITED:
        assert f"ALTER ROLE bench SET {name} = '{LIMITS[name]}'" in trouble


@pytest.mark.long
@pytest.mark.usefixtures("role_has_limits")
@pytest.mark.parametrize("start", [PostgresStack.start_worker, PostgresStack.start_stock_worker], ids=["own", "stock"])
def test_a_crawl_is_exact(postgres_stack: PostgresStack, start: Callable[[PostgresStack], object]) -> None:
    stack = postgres_stack
    with pooled(stack), small_site().serving() as site:
        for _ in range(WORKERS):
            start(stack)
        crawl = stack.start(f"{site.url}/", near_duplicates=True, revisit=True)
        receipt = stack.wait_until_finished(crawl)
        stack.wait_for(lambda: len(stack.rows(OTHERS)) <= SERVER_CONNECTIONS, 5)
    assert {name: receipt[name] for name in EXPECTED} == EXPECTED
    assert stack.rows("SELECT what FROM crawler_disagreement") == []
