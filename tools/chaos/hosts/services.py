"""PostgreSQL and Redis, each on a host of its own, as docs/deployment.md sets them up: TCP with passwords.

The harness itself asks them over sockets of the file system, which go on working while their hosts are cut off.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import redis

from crawler.frontier.keys import AUTOSCALERS
from crawler.frontier.workload import shown_figure
from crawler.launch.process_group import Children
from tests.stack import ROOT
from tools.chaos.hosts.host import Host
from tools.chaos.hosts.network import NETWORK, Unavailable
from tools.chaos.redis_server import RedisServer

DATABASE_PASSWORD, REDIS_PASSWORD = "password-1", "password-2"
T = TypeVar("T")

PATIENCE = 60.0  # seconds a server has to answer after its start
USER = "postgres"  # PostgreSQL does not run as root

AS_USER = ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--init-groups")

_WITNESSES = """
CREATE TABLE chaos_page (id bigserial, crawl uuid, url text, old int, new int,
    at float DEFAULT extract(epoch FROM clock_timestamp()));
CREATE TABLE chaos_crawl (id bigserial, crawl uuid, old text, new text, open int, pages int,
    at float DEFAULT extract(epoch FROM clock_timestamp()));
CREATE FUNCTION chaos_page_seen() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO chaos_page (crawl, url, old, new) VALUES (
        coalesce(NEW.crawl_id, OLD.crawl_id), coalesce(NEW.url, OLD.url), coalesce(OLD.status, 0), NEW.status);
    RETURN NULL;
END $$;
CREATE FUNCTION chaos_crawl_seen() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO chaos_crawl (crawl, old, new, open, pages) SELECT NEW.id, OLD.state, NEW.state,
        count(*) FILTER (WHERE status = 0), count(*) FROM crawler_page WHERE crawl_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER chaos_page_born AFTER INSERT ON crawler_page FOR EACH ROW WHEN (NEW.status <> 0)
    EXECUTE FUNCTION chaos_page_seen();
CREATE TRIGGER chaos_page_changed AFTER UPDATE OF status ON crawler_page FOR EACH ROW WHEN (OLD.status <> NEW.status)
    EXECUTE FUNCTION chaos_page_seen();
CREATE TRIGGER chaos_page_gone AFTER DELETE ON crawler_page FOR EACH ROW EXECUTE FUNCTION chaos_page_seen();
CREATE TRIGGER chaos_crawl_changed AFTER UPDATE OF state ON crawler_crawl FOR EACH ROW WHEN (OLD.state <> NEW.state)
    EXECUTE FUNCTION chaos_crawl_seen();
"""
"""The same tables as on one machine. Triggers write in the transaction they witness."""


def environment_of(postgresql: str, redis_url: str, data: Path) -> dict[str, str]:
    """What docs/deployment.md puts into /etc/crawler.env; containers have their own of some."""
    return {
        "DJANGO_SETTINGS_MODULE": "crawler.settings.production",
        "SECRET_KEY": "secret-1-" * 8,
        "CRAWLER_WEBHOOK_SECRET": "secret-2",
        "CRAWLER_METRICS_TOKEN": "secret-3",
        "ALLOWED_HOSTS": "*",
        "CRAWLER_BASE_URL": "https://crawler.example.com",
        "DATABASE_URL": postgresql,
        "REDIS_URL": redis_url,
        "RQ_REDIS_URL": redis_url,
        "CRAWLER_DATA_DIR": str(data),
        "CRAWLER_CONTACT": "https://example.com/about-our-crawler",
        "CRAWLER_LOG_FORMAT": "json",
    }


def programs() -> Path:
    """The folder of PostgreSQL's programs; Debian keeps them off the PATH. Raises Unavailable."""
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise Unavailable("there is no PostgreSQL here: install postgresql")


class PostgreSQL:
    """`folder` holds its data and its socket."""

    def __init__(self, children: Children, folder: Path, host: Host | None) -> None:
        self._children, self._folder, self._host, self._programs = children, folder, host, programs()
        self._process: subprocess.Popen[bytes] | None = None
        self.data = folder / "postgresql"
        self.url = f"postgres://crawler:{DATABASE_PASSWORD}@{host.address if host else ''}:5432/crawler"
        self.local_url = f"postgres://crawler:{DATABASE_PASSWORD}@/{folder}/crawler"

    def start(self) -> None:
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        where = self._host.address if self._host else ""
        settings = {"listen_addresses": where, "port": "5432", "unix_socket_directories": str(self._folder)}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        into = ["nsenter", f"--net=/proc/{self._host.pid}/ns/net"] if self._host else []
        with (self._folder / "postgresql.log").open("ab") as log:
            self._process = self._children.start(
                [*into, *AS_USER, str(self._programs / "postgres"), "-D", str(self.data), *options],
                output=log,
                directory=self.data,
            )
        self._wait()

    def _wait(self) -> None:
        deadline = time.monotonic() + PATIENCE
        question = [str(self._programs / "pg_isready"), "-q", "-h", str(self._folder), "-p", "5432", "-U", "crawler"]
        while subprocess.run(question, check=False, capture_output=True).returncode:
            if time.monotonic() > deadline or self._process is None or self._process.poll() is not None:
                raise RuntimeError(f"PostgreSQL did not start; see {self._folder / 'postgresql.log'}")
            time.sleep(0.05)

    def stop(self) -> None:
        """At once, without a word to its clients and without writing anything down."""
        if self._process is not None and self._process.poll() is None:
            os.kill(self._process.pid, signal.SIGQUIT)
            self._process.wait()

    @contextmanager
    def asked(self) -> Iterator[Any]:
        """A connection of the harness."""
        import psycopg  # its driver is not among the packages of the crawler itself
        from psycopg.rows import dict_row

        with psycopg.connect(
            host=str(self._folder), port=5432, user="crawler", dbname="crawler", autocommit=True, row_factory=dict_row
        ) as connection:
            yield connection

    def rows(self, query: str, *values: Any) -> list[dict[str, Any]]:
        """What a query finds; an empty list while the server is down."""
        import psycopg

        try:
            with self.asked() as connection:
                return list(connection.execute(query.replace("?", "%s"), values))
        except psycopg.OperationalError:
            return []


def made_database(children: Children, folder: Path, environment: Mapping[str, str]) -> Path:
    """The data folder of a server that holds an empty database of the crawler, with its witnesses: a template."""
    folder.mkdir(mode=0o755)
    server = PostgreSQL(children, folder, None)
    shutil.chown(folder, USER)
    _as_postgres("initdb", "-D", str(server.data), "-U", USER, "--auth=trust", "--encoding=UTF8", "--no-sync")
    rules = f"local all all trust\nhost crawler crawler {NETWORK}.0/24 scram-sha-256\n"
    (server.data / "pg_hba.conf").write_text(rules)
    with (server.data / "postgresql.conf").open("a") as settings:
        settings.write("\nfsync = off\n")  # processes are killed here, and no disk
    server.start()
    for statement in (
        f"CREATE ROLE crawler LOGIN PASSWORD '{DATABASE_PASSWORD}'",
        "CREATE DATABASE crawler OWNER crawler",
    ):
        _as_postgres("psql", "-q", "-h", str(folder), "-U", USER, "-v", "ON_ERROR_STOP=1", "-c", statement, "postgres")
    variables = {**os.environ, **environment, "DATABASE_URL": server.local_url}
    migrate = [sys.executable, "-P", "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(migrate, cwd=ROOT, env=variables, check=True)
    with server.asked() as connection:
        connection.execute(_WITNESSES)
    _as_postgres("pg_ctl", "stop", "-s", "-m", "fast", "-D", str(server.data))
    return server.data


def _as_postgres(program: str, *arguments: str) -> None:
    subprocess.run([*AS_USER, str(programs() / program), *arguments], cwd="/", check=True, capture_output=True)


def copy_database(template: Path, folder: Path) -> None:
    subprocess.run(["cp", "-a", str(template), str(folder / "postgresql")], check=True)
    shutil.chown(folder, USER)


class Redis(RedisServer):
    """On a host of its own and with a password."""

    def __init__(self, children: Children, folder: Path, log: Path, host: Host) -> None:
        super().__init__(children, folder / "redis", log)
        self._host, self._socket = host, folder / "redis.sock"
        self.url = f"redis://:{REDIS_PASSWORD}@{host.address}:6379/0"
        self.local_url = f"unix://:{REDIS_PASSWORD}@{self._socket}?db=0"
        self.client.close()
        self.client = redis.Redis.from_url(self.local_url, socket_timeout=5)

    def settings(self) -> dict[str, str]:
        return {
            **super().settings(),
            "port": "6379",
            "bind": self._host.address,
            "requirepass": REDIS_PASSWORD,
            "maxmemory-policy": "noeviction",
            "unixsocket": str(self._socket),
        }

    def program(self) -> Sequence[str | Path]:
        return ["nsenter", f"--net=/proc/{self._host.pid}/ns/net", *super().program()]

    def worker_count(self) -> int:
        """Workers that RQ knows to listen to the queue of fetch jobs."""
        return self._asked(lambda: int(self.client.scard("rq:workers:fetch"))) or 0

    def autoscaler_count(self) -> int:
        """Autoscalers that have told each other that they run."""
        return self._asked(lambda: int(self.client.hlen(AUTOSCALERS))) or 0

    def wanted(self) -> int | None:
        """How many workers would be useful, as was found last; None when nothing has asked lately."""
        found = self._asked(lambda: shown_figure(self.client))
        return found.steady.wanted if found else None

    def _asked(self, question: Callable[[], T]) -> T | None:
        """None while it is down."""
        try:
            return question()
        except redis.RedisError:
            return None
