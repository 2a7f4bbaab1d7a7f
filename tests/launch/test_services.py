"""Which Redis is used, and the message if it cannot be."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crawler.core.errors import ServiceDown
from crawler.launch.embedded_redis import RedisServer, SocketState, probe
from crawler.launch.services import ensure_redis
from crawler.settings.environment import embedded_socket
from tests.conftest import free_port


def test_the_url_of_the_user_comes_first(tmp_path: Path, redis_url: str) -> None:
    with ensure_redis(tmp_path, redis_url) as server:
        assert server == RedisServer(redis_url, owned=False)
    assert list(tmp_path.iterdir()) == []


def test_without_one_the_server_of_the_data_folder_is_started(tmp_path: Path) -> None:
    with ensure_redis(tmp_path, None) as server:
        assert (server.url, server.owned) == (f"unix://{embedded_socket(tmp_path)}", True)
    assert probe(embedded_socket(tmp_path)) is SocketState.NOTHING


def test_a_url_without_a_server_is_named_without_its_password(tmp_path: Path) -> None:
    port = free_port()
    with pytest.raises(ServiceDown, match=f"The Redis at redis://127.0.0.1:{port}/0 does not respond") as caught:
        ensure_redis(tmp_path, f"redis://:secret@127.0.0.1:{port}/0")
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_server_that_is_too_old_is_named_with_its_version(tmp_path: Path) -> None:
    info = b"# Server\r\nredis_version:5.0.14\r\n"
    with (
        answering(b"+PONG\r\n", INFO=b"$%d\r\n%s\r\n" % (len(info), info)) as port,
        pytest.raises(ServiceDown, match=r"is version 5\.0\.14; 6\.0 or newer is needed"),
    ):
        ensure_redis(tmp_path, f"redis://127.0.0.1:{port}/0")


@contextmanager
def answering(usual: bytes, **to_commands: bytes) -> Iterator[int]:
    """A port of a server that gives this response to each command, and to those that are named one of their own."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        end = threading.Event()

        def talk(connection: socket.socket) -> None:
            with connection, connection.makefile("rb") as heard:
                while count := heard.readline():
                    words = [heard.read(int(heard.readline()[1:]) + 2)[:-2] for _ in range(int(count[1:]))]
                    connection.sendall(to_commands.get(words[0].decode(), usual))

        def serve() -> None:
            while not end.is_set():
                talk(listener.accept()[0])

        thread = threading.Thread(target=serve)
        thread.start()
        yield int(listener.getsockname()[1])
        end.set()
        socket.create_connection(listener.getsockname()).close()
        thread.join()
