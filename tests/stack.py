"""The whole thing in a test: a Redis, a database file, and real worker processes, apart from everything else here."""

import atexit
import fcntl
import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from django.db import connections
from django.db.backends.sqlite3.base import DatabaseWrapper
from django.test.utils import override_settings

from crawler.core.installation.deployment import GRACE_SETTING, SHORT_GRACE_SECONDS
from crawler.redis_client import CONNECTION_CLASS, RedisClient
from crawler.settings import environment
from tests.forking import ForkedWorker, Forker

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 60.0  # seconds after which a crawl that should have finished is stuck
OWN_WORKER = ("rq", "worker", "-w", "crawler.worker.Worker", "crawl", "fetch")
DATABASE_ID = UUID("7e57da7a-0000-4000-8000-000000000001")
"""Of every database of the tests, because they share a Redis."""
STOCK_WORKER = ("rq", "worker", "crawl", "fetch")

T = TypeVar("T")


class Stack:
    """Commands run in the project's folder with `env`; everything they keep lies in `folder`. A database that is there
    already is used as it is. With a `forker` it forks its workers, unless its `env` was changed."""

    def __init__(self, folder: Path, redis_url: str, forker: Forker | None = None, **settings: str) -> None:
        self.folder, self.redis_url, self.forker = folder, redis_url, forker
        self.redis = RedisClient.from_url(redis_url)
        self.env = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("DJANGO_", "RQ_", "PYTEST_"))},
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "CRAWLER_DATA_DIR": str(folder),
            "DATABASE_URL": f"sqlite:///{folder / 'db.sqlite3'}",
            "REDIS_URL": redis_url,
            "RQ_REDIS_URL": redis_url,  # what a bare `rq worker` reads
            "RQ_CONNECTION_CLASS": CONNECTION_CLASS,  # as for a Redis with sentinels
            "PYTHONWARNINGS": "default",
            GRACE_SETTING: f"{SHORT_GRACE_SECONDS:g}",  # many tests end while a page is under way
            **settings,
        }
        self.children: list[subprocess.Popen[bytes] | ForkedWorker] = []
        self.make_database()

    def make_database(self) -> None:
        if not self.database.exists():
            self.database.write_bytes(new_database())

    @property
    def database(self) -> Path:
        return self.folder / "db.sqlite3"

    def empty(self) -> None:
        """Redis, the database, the log and the mails are as they were in the beginning, also for processes that have
        them open."""
        self.redis.flushall()
        (self.folder / "processes.log").write_bytes(b"")
        shutil.rmtree(self.folder / "mail", ignore_errors=True)
        with tempfile.NamedTemporaryFile() as file:
            file.write(new_database())
            file.flush()
            with closing(sqlite3.connect(file.name)) as new, closing(sqlite3.connect(self.database, timeout=20)) as old:
                new.backup(old)

    def run(self, *command: str, check: bool = True, root: Path = ROOT) -> subprocess.CompletedProcess[str]:
        """Run a command to its end. `root`: as of `spawn`."""
        return subprocess.run(
            command, cwd=root, env=self._env_of(root), check=check, capture_output=True, text=True, timeout=120
        )

    def spawn(self, *command: str, root: Path = ROOT) -> subprocess.Popen[bytes]:
        """Start a process in a group of its own; it is ended with the stack. `root`: of the project, or of another
        version of it."""
        with (self.folder / "processes.log").open("ab") as log:
            child = subprocess.Popen(
                command,
                cwd=root,
                env=self._env_of(root),
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self.children.append(child)
        return child

    def _env_of(self, root: Path) -> dict[str, str]:
        """`bin/test` names this project in PYTHONPATH, which goes before the folder that `rq` adds."""
        return {**self.env, "PYTHONPATH": str(root)}

    def start_worker(self) -> subprocess.Popen[bytes] | ForkedWorker:
        """One of the project's. What matters is what it does, and not how it starts."""
        return self._start(*OWN_WORKER)

    def start_stock_worker(self) -> subprocess.Popen[bytes] | ForkedWorker:
        """RQ's own. Forked, it has loaded already what the work-horse of each of its jobs would load anew;
        `tests/acceptance/test_stock_workers.py` has one that has not."""
        return self._start(*STOCK_WORKER)

    def _start(self, *command: str) -> subprocess.Popen[bytes] | ForkedWorker:
        if self.forker is None or self.forker.env != self.env:
            return self.spawn(*command)
        worker = self.forker.fork(self.folder / "processes.log", *command)
        self.children.append(worker)
        return worker

    def within(self, work: Callable[[], T]) -> T:
        """Do in this process what a process of the stack would do, with its database, its Redis and its secret: without
        the second that Python takes to begin. In a thread, because a Playwright in this one would stop Django there."""

        def in_thread() -> T:
            connections["default"] = connection = self.connection_of()
            try:
                return work()
            finally:
                connection.close()

        secret = environment.kept_secret(self.folder / "secret_key")
        queues = {name: {"URL": self.redis_url} for name in ("crawl", "fetch", "render", "scrapy")}
        with (
            override_settings(REDIS_URL=self.redis_url, RQ_QUEUES=queues, SECRET_KEY=secret),
            ThreadPoolExecutor(1) as thread,
        ):
            return thread.submit(in_thread).result()

    def command(self, *words: str) -> str:
        """What `manage.py` prints on these words, without a process of its own."""
        from django.conf import settings  # the same as below
        from django.core.management import call_command

        content = {**settings.STORAGES["content"], "OPTIONS": {"location": str(self.folder / "content")}}
        with (
            override_settings(STORAGES={**settings.STORAGES, "content": content}),
            redirect_stdout(io.StringIO()) as printed,
        ):
            self.within(lambda: call_command(*words, stdout=printed))
        return printed.getvalue()

    def connection_of(self) -> Any:
        """One of Django's to the database of the stack."""
        return _Connection({**connections.settings["default"], "NAME": str(self.database.resolve())}, "default")

    def start(self, *urls: str, allow_private: bool = True, login_fields: Sequence[str] = (), **options: Any) -> UUID:
        """Start a crawl as the web page does, and leave it alone: nothing here wakes it later. It may go to every
        address, or only to those that the settings allow. `login_fields`: "name=value" of a form."""
        # Models can be imported when Django is set up, which whoever imports this may do later.
        from crawler.core.access.credentials import parse
        from crawler.core.options.catalogue import CrawlOptions
        from crawler.crawls.start import start_crawl
        from crawler.encryption import seal

        told = CrawlOptions.from_plain(options)

        def begin() -> UUID:
            sealed = seal(parse(login_fields=login_fields)) if login_fields else ""
            return start_crawl(urls, told, allow_private=allow_private, sealed=sealed).id

        return self.within(begin)

    def rows(self, query: str, *values: Any) -> list[dict[str, Any]]:
        with sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, timeout=20) as database:
            database.row_factory = sqlite3.Row
            found = [dict(row) for row in database.execute(query, values)]
        database.close()
        return found

    def crawl(self, crawl: UUID) -> dict[str, Any]:
        return self.rows("SELECT * FROM crawler_crawl WHERE id = ?", crawl.hex)[0]

    def pages(self, crawl: UUID) -> dict[str, dict[str, Any]]:
        return {row["url"]: row for row in self.rows("SELECT * FROM crawler_page WHERE crawl_id = ?", crawl.hex)}

    def wait_for(self, what: Callable[[], bool], patience: float = PATIENCE) -> None:
        deadline = time.monotonic() + patience
        while not what():
            assert time.monotonic() < deadline, f"it did not happen:\n{self.log()[-6000:]}"
            time.sleep(0.05)

    def wait_until_finished(self, crawl: UUID, patience: float = PATIENCE) -> dict[str, Any]:
        """The receipt of the crawl once it is finished."""
        self.wait_for(lambda: self.crawl(crawl)["state"] == "finished", patience)
        return self.receipt(crawl)

    def receipt(self, crawl: UUID) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(
            self.rows("SELECT receipt FROM crawler_notice WHERE crawl_id = ?", crawl.hex)[0]["receipt"]
        )
        return told

    def left_over(self) -> Sequence[str]:
        """This project's keys in Redis that belong to a crawl."""
        return [key.decode() for key in self.redis.keys("crawler:????????-*")]

    def log(self) -> str:
        return (self.folder / "processes.log").read_text(errors="replace")

    def end(self) -> None:
        for child in self.children:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGTERM)
        for child in self.children:
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait(10)
        self.redis.close()


class _Connection(DatabaseWrapper):
    """To the database of a stack. pytest-django keeps tests from theirs by replacing what this overrides."""

    def ensure_connection(self) -> None:
        if self.connection is None:
            self.connect()


@cache
def new_database() -> bytes:
    """The file of a database with all its tables; made once for a whole run, by whichever of its processes is first."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    folder = Path(tempfile.gettempdir()) / f"crawler-tests-{run}"
    folder.mkdir(mode=0o700, exist_ok=True)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # the others have read it by then, or make it again
    file = folder / "db.sqlite3"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            _migrated(folder / "new").rename(file)
        return file.read_bytes()


def _migrated(folder: Path) -> Path:
    variables = {**os.environ, "CRAWLER_DATA_DIR": str(folder), "DATABASE_URL": f"sqlite:///{folder}/db.sqlite3"}
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0", "--skip-checks"]
    subprocess.run(command, cwd=ROOT, env=variables, check=True, timeout=120)
    with closing(sqlite3.connect(folder / "db.sqlite3")) as database, database:
        database.execute("UPDATE crawler_installation SET database_id = ?", [DATABASE_ID.hex])
    return folder / "db.sqlite3"
