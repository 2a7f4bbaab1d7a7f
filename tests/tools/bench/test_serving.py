"""The server of the sites, asked as a crawler asks it."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.stack import ROOT
from tools.bench.crowd import Crowd, Health, address, path
from tools.bench.generated import Site
from tools.bench.services import free_port
from tools.bench.serving import Seen
from tools.bench.sites import written


@contextmanager
def serving(*words: str) -> Iterator[int]:
    command = [sys.executable, "-m", "tools.bench.serving", *words]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.terminate()


def asked(connection: http.client.HTTPConnection, path: str, method: str = "GET") -> tuple[int, bytes]:
    connection.request(method, path)
    response = connection.getresponse()
    return response.status, response.read()


def test_the_generated_site_is_served_over_one_connection() -> None:
    site = Site(50)
    with serving("site", "--pages", "50") as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        assert asked(connection, "/") == (200, site.html(0))
        kept = connection.sock
        assert asked(connection, site.path(49)) == (200, site.html(49))
        assert asked(connection, site.path(49), "HEAD") == (200, b"")
        assert asked(connection, "/robots.txt")[0] == 404
        assert connection.sock is kept
        connection.close()


def test_a_slow_site_tells_what_it_saw_between_the_first_request_and_the_last_answer() -> None:
    command = [sys.executable, "-m", "tools.bench.serving", "site", "--pages", "5", "--latency", "0.1"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        connections = [http.client.HTTPConnection("127.0.0.1", port, timeout=10) for _ in range(2)]
        for connection in connections:
            connection.request("GET", "/")
        assert [connection.getresponse().read() for connection in connections] == [Site(5).html(0)] * 2
        assert asked(connections[0], "/")[0] == 200
        process.terminate()
        seen = Seen(**json.loads(process.stdout.read()))
    for connection in connections:
        connection.close()
    assert (seen.requests, seen.waiting, seen.most_waiting) == (3, 0, 2)
    assert 0.2 <= seen.last - seen.first < 5


def test_a_folder_is_served_as_a_site(tmp_path: Path) -> None:
    site = Site(3)
    written(site, tmp_path)
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "index.html").write_bytes(b"inside")
    with serving("folder", "--folder", str(tmp_path)) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        assert asked(connection, "/") == (200, site.html(0))
        assert asked(connection, site.path(2) + "?query") == (200, site.html(2))
        assert asked(connection, "/a%20b/") == (200, b"inside")
        assert asked(connection, "/a%20b")[0] == 301
        connection.close()


def test_each_host_of_the_list_is_as_well_as_its_seed_says() -> None:
    crowd, port = Crowd(urls=400, hosts=200), free_port()
    hosts = {health: [n for n in range(crowd.hosts) if crowd.health(n) is health] for health in Health}
    quickest = min(hosts[Health.WELL], key=lambda host: crowd.latency(host, 1))
    with serving("crowd", "--pages", "400", "--hosts", "200", "--port", str(port)):
        connection = http.client.HTTPConnection(address(quickest), port, timeout=10)
        assert asked(connection, path(1))[0] == crowd.status(quickest, 1)
        connection.close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((address(hosts[Health.REFUSING][0]), port), timeout=5)
        with socket.create_connection((address(hosts[Health.SILENT][0]), port), timeout=0.2) as silent:
            silent.sendall(b"GET / HTTP/1.1\r\n\r\n")
            with pytest.raises(TimeoutError):
                silent.recv(1)
