"""A crawl over each kind of Redis that docs/redis.md names: with TLS, with an ACL user, with Sentinel, whose primary is
killed, and Valkey."""

import os
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import redis

from crawler import clock
from crawler.launch.rq_dashboard import connect
from crawler.web import monitoring
from tests.acceptance.test_killed import assert_complete
from tests.acceptance.test_stock_workers import EXPECTED, small_site
from tests.conftest import free_port
from tests.http.certificates import Authority, identity
from tests.redis_servers import Installation, answers, serving, wait_until
from tests.site import Reply, Site
from tests.stack import OWN_WORKER, ROOT, STOCK_WORKER, Stack

DOCUMENT = (ROOT / "docs" / "redis.md").read_text()
POOL = ("rq", "worker-pool", "-w", "crawler.worker.Worker", "crawl", "fetch", "-n", "2")
RQWORKER = ("python", "manage.py", "rqworker", "crawl", "fetch")
CLOCK = ("python", "manage.py", "clock")


@contextmanager
def stack_over(folder: Path, url: str) -> Iterator[Stack]:
    stack = Stack(folder, url)
    try:
        yield stack
    finally:
        stack.end()


def assert_finished_by(stack: Stack, *command: str) -> None:
    """One worker, started by this command, does a crawl; the clock, the web pages and the dashboard reach Redis."""
    stack.spawn(*CLOCK)
    stack.spawn(*command)
    with small_site().serving() as site:
        receipt = stack.wait_until_finished(stack.start(f"{site.url}/"))
    assert {name: receipt[name] for name in EXPECTED} == EXPECTED
    assert not stack.within(monitoring._redis_trouble)
    assert abs(stack.within(clock.redis_time) - time.time()) < 5
    with connect(stack.redis_url)[1] as dashboard:
        assert dashboard.ping()


@pytest.fixture(scope="module")
def tls_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that demands certificates of its clients."""
    folder, port = tmp_path_factory.mktemp("tls"), free_port()
    authority = Authority.made("redis-authority")
    trusted = folder / "ca.pem"
    trusted.write_text(authority.pem)
    own, client = (identity(authority, name, folder) for name in ("localhost", "crawler"))
    lines = [
        f"tls-port {port}",
        f"tls-cert-file {own}",
        f"tls-key-file {own}",
        f"tls-ca-cert-file {trusted}",
        "save ''",
    ]
    url = f"rediss://localhost:{port}/0?ssl_ca_certs={trusted}&ssl_certfile={client}&ssl_keyfile={client}"
    with serving(folder / "server", *lines) as process, connect(url)[1] as redis_client:
        try:
            wait_until(lambda: process.poll() is not None or redis_client.ping())
        except AssertionError:
            pytest.skip("this Redis server does not answer over TLS; Debian's redis-server does")
        if process.poll() is not None:
            pytest.skip("this Redis server was built without TLS; Debian's redis-server has it")
        yield url


@pytest.mark.long
@pytest.mark.parametrize("command", [OWN_WORKER, STOCK_WORKER, RQWORKER, POOL], ids=" ".join)
def test_tls_with_certificates_of_both_sides(tls_url: str, tmp_path: Path, command: tuple[str, ...]) -> None:
    with stack_over(tmp_path, tls_url) as stack:
        stack.redis.flushall()
        assert_finished_by(stack, *command)


def documented_user() -> str:
    [line] = [line.strip() for line in DOCUMENT.splitlines() if line.startswith("    user crawler ")]
    return line


@pytest.mark.long
@pytest.mark.parametrize("command", [OWN_WORKER, STOCK_WORKER, RQWORKER], ids=" ".join)
def test_the_documented_user_may_do_all_that_is_needed(tmp_path: Path, command: tuple[str, ...]) -> None:
    port = free_port()
    users = [documented_user(), "user admin on >all ~* &* +@all", "user default off"]
    with serving(tmp_path / "redis", *users, "save ''", port=port):
        with redis.Redis(port=port, username="admin", password="all") as admin:
            wait_until(admin.ping)
            with stack_over(tmp_path, f"redis://crawler:PASSWORD@127.0.0.1:{port}/0") as stack:
                assert_finished_by(stack, *command)
                stack.run("python", "manage.py", "scale")
            # Before Redis 7 also CLIENT SETINFO, which redis-py tries and can do without.
            assert {entry["object"] for entry in admin.acl_log()} <= {"client"}
        for refused in (["flushall"], ["config", "get", "*"], ["get", "other"], ["keys", "*"], ["shutdown"]):
            with (
                redis.Redis(port=port, username="crawler", password="PASSWORD") as user,
                pytest.raises(redis.exceptions.NoPermissionError),
            ):
                user.execute_command(*refused)


@pytest.fixture
def valkey_port(tmp_path: Path) -> Iterator[int]:
    """Of a Valkey, also where the other tests run on Redis."""
    program = shutil.which("valkey-server")
    if program is None:
        pytest.skip("there is no valkey-server on PATH")
    port = free_port()
    with serving(tmp_path / "valkey", "save ''", port=port, program=program):
        wait_until(answers(port))
        with redis.Redis(port=port) as client:
            assert client.info("server")["server_name"] == "valkey"
        yield port


@pytest.mark.long
@pytest.mark.parametrize("command", [OWN_WORKER, STOCK_WORKER, RQWORKER, POOL], ids=" ".join)
def test_valkey_does_as_well(valkey_port: int, tmp_path: Path, command: tuple[str, ...]) -> None:
    with stack_over(tmp_path, f"redis://127.0.0.1:{valkey_port}/0") as stack:
        assert_finished_by(stack, *command)
        stack.wait_for(lambda: not stack.left_over(), 10)


def thoughtful_site() -> Site:
    """The small site, slow enough for a failover in its middle."""
    site = small_site()
    for path, answer in list(site.pages.items()):
        if isinstance(answer, str):
            site.pages[path] = Reply(answer, after=0.4)
        elif isinstance(answer, Reply) and path != "/robots.txt":
            site.pages[path] = replace(answer, after=0.4)
    return site


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    with Installation(tmp_path / "redis").serving() as installation:
        yield installation


@pytest.mark.long
@pytest.mark.parametrize("command", [OWN_WORKER, POOL, RQWORKER], ids=" ".join)
@pytest.mark.parametrize("lags", [False, True], ids=["a replica that is up to date", "a replica that lags"])
def test_a_crawl_goes_on_with_the_new_primary(
    installation: Installation, tmp_path: Path, command: tuple[str, ...], lags: bool
) -> None:
    _primary, replica = installation.ports
    with stack_over(tmp_path, installation.url) as stack, thoughtful_site().serving() as site:
        stack.spawn(*command)
        stack.spawn(*CLOCK)
        crawl = stack.start(f"{site.url}/")
        stack.wait_for(lambda: len(site.requests) > 10)
        if lags:
            with redis.Redis(port=replica) as client:
                client.replicaof("127.0.0.1", free_port())  # it gets none of the next writes
            stack.wait_for(lambda: len(site.requests) > 25)
        os.kill(installation.processes[0].pid, signal.SIGKILL)
        killed = time.monotonic()
        wait_until(lambda: installation.is_primary(replica), 60)
        elected = time.monotonic() - killed
        if command == RQWORKER:  # RQ's own may end with its connection; then its supervisor starts it again
            stack.spawn(*command)
        receipt = stack.wait_until_finished(crawl, 120)
        assert_complete(stack, receipt)
        times = [killed, *sorted(request.at for request in site.requests if request.at > killed)]
        stop = max((later - earlier for earlier, later in pairwise(times)), default=0.0)
        print(f"elected after {elected:.1f} s, longest time without a request {stop:.1f} s")
        assert stop < elected + 30
        assert not stack.within(monitoring._redis_trouble)
        with connect(stack.redis_url)[1] as dashboard:
            assert dashboard.ping()
