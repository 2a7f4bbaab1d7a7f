"""HEAD, streams and bad addresses over a real web server."""

import json
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any

import pytest

from crawler.api.routes.progress import MAX_STREAMS
from tests.site import Site
from tests.stack import Stack


class Connection:
    """One connection that is kept."""

    def __init__(self, address: str, token: str) -> None:
        self._http = HTTPConnection(address.removeprefix("http://"), timeout=20)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, str, bytes]:
        self._http.request(method, path, None if body is None else json.dumps(body), self._headers)
        answer = self._http.getresponse()
        return answer.status, answer.headers["Content-Type"], answer.read()

    def close(self) -> None:
        self._http.close()


@pytest.fixture
def connection(server: tuple[Stack, str]) -> Iterator[Connection]:
    made = Connection(server[1], server[0].env["TOKEN"])
    yield made
    made.close()


@pytest.fixture
def crawl(server: tuple[Stack, str], connection: Connection, small_site: Site) -> str:
    """The address of a crawl that is over."""
    stack, _ = server
    _, _, begun = connection.ask("POST", "/api/v1/crawls", {"start_urls": [f"{small_site.url}/"]})
    path = f"/api/v1/crawls/{json.loads(begun)['id']}"
    stack.wait_for(lambda: json.loads(connection.ask("GET", path)[2])["state"] == "finished")
    return path


def test_head_and_get_take_turns_on_one_connection(connection: Connection, crawl: str) -> None:
    for path in ("", "/exports/jsonl", "/exports/parquet", "/exports/xlsx", "/reports", "/events"):
        assert connection.ask("HEAD", crawl + path)[:2] == connection.ask("GET", crawl + path)[:2]
        assert connection.ask("HEAD", crawl + path)[0] == 200


def test_a_stream_that_is_only_looked_at_keeps_no_place(connection: Connection, crawl: str) -> None:
    for _ in range(2 * MAX_STREAMS):
        assert connection.ask("HEAD", f"{crawl}/events")[:2] == (200, "text/event-stream")
    assert connection.ask("GET", f"{crawl}/events")[2].startswith(b"retry: 1000\n")


@pytest.mark.parametrize("path", ["/api/%", "/api/v1/%ff%fe", "/api/v2/%c3%28", "/api/v1/crawls%00", "/api/v1/..%2f.."])
def test_an_address_with_a_bad_escape_is_a_problem(connection: Connection, path: str) -> None:
    status, kind, body = connection.ask("GET", path)
    assert (status, kind) == (json.loads(body)["status"], "application/problem+json")
    assert status in {400, 404}
