"""Bodies of requests are refused before they are read: in the web process as it ships, and rule by rule."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from crawler.core.access.body_limits import ANONYMOUS_BYTES, body_limit
from crawler.core.access.permissions import Scope
from tests.api.calling import a_token
from tests.factories import a_person
from tests.web_process import WebProcess, web_process

SIZE = 60_000_000
SENT = 1_000_000  # of it
PART = b'--edge\r\nContent-Disposition: form-data; name="upload"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\n'
MULTIPART = "multipart/form-data; boundary=edge"


@pytest.fixture(scope="module")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("temporary")


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory, redis_url: str, temporary: Path) -> Iterator[WebProcess]:
    settings = {"TMPDIR": str(temporary), "CRAWLER_UPLOAD_MB": "100", "CRAWLER_LOGIN_TRIES": "0"}
    with web_process(tmp_path_factory.mktemp("web"), redis_url, **settings) as web:
        yield web


def status_of_half_an_upload(web: WebProcess, path: str, *headers: str, size: int = SIZE) -> int:
    """The status of the response to a request that has sent a part of its body and keeps the rest."""
    head = [
        f"POST {path} HTTP/1.1",
        "Host: localhost",
        f"Content-Type: {MULTIPART}",
        f"Content-Length: {size}",
        *headers,
    ]
    with web.open("\r\n".join(head).encode() + b"\r\n\r\n" + PART) as client:
        client.settimeout(3)
        with suppress(ConnectionError):  # it was refused meanwhile
            client.sendall(b"x" * SENT)
        try:
            return int(client.recv(1000).split()[1])
        except TimeoutError:
            pytest.fail("the process waits for the body")


def uploads(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if "upload" in file.name]


@pytest.mark.parametrize(
    ("path", "status"), [("/login/", 413), ("/crawls/", 413), ("/api/v1/crawls/list", 401), ("/nothing/", 404)]
)
def test_a_stranger_stores_nothing(web: WebProcess, temporary: Path, path: str, status: int) -> None:
    assert status_of_half_an_upload(web, path) == status
    assert uploads(temporary) == []


def test_an_unknown_token_stores_nothing(web: WebProcess, temporary: Path) -> None:
    assert status_of_half_an_upload(web, "/api/v1/crawls/list", "Authorization: Bearer crawler_x") == 401
    assert uploads(temporary) == []


@pytest.mark.parametrize(
    ("scope", "path", "size", "status"),
    [
        (Scope.CRAWLS_READ, "/api/v1/crawls/list", SIZE, 403),
        (Scope.CRAWLS_WRITE, "/api/v1/crawls/list", 100_000_001, 413),
        (Scope.CRAWLS_WRITE, "/api/v1/crawls", SIZE, 413),
    ],
)
def test_a_token_stores_only_what_it_may(
    web: WebProcess, temporary: Path, scope: Scope, path: str, size: int, status: int
) -> None:
    token = web.stack.within(lambda: a_token(User.objects.filter(username="ann").first() or a_person("ann"), scope))
    headers = (f"Authorization: Bearer {token}", "Idempotency-Key: one")
    assert status_of_half_an_upload(web, path, *headers, size=size) == status
    assert uploads(temporary) == []


def test_a_refused_client_that_sends_everything_reads_the_response(web: WebProcess) -> None:
    head = f"POST /login/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: {MULTIPART}\r\nContent-Length: 3000000\r\n\r\n"
    with web.open(head.encode() + PART) as client:
        client.sendall(b"x" * (3_000_000 - len(PART)))
        received = b""
        while piece := client.recv(65536):
            received += piece
    assert received.startswith(b"HTTP/1.1 413")
    assert b"from a client that is not logged in" in received


def test_a_user_sends_a_list_and_nothing_large_elsewhere(as_ann: Client) -> None:
    body = PART + b"x" * 3_000_000 + b"\r\n--edge--\r\n"
    assert as_ann.post("/crawls/", body, content_type=MULTIPART).status_code == 400  # of the form
    response = as_ann.post("/account/notifications/add", body, content_type=MULTIPART)
    assert response.status_code == 413
    assert "takes at most 2,560 KiB" in response.content.decode()


@pytest.mark.parametrize("path", ["/api/v1/crawls", "/api/v1/nothing"])
def test_below_the_api_it_is_a_problem(as_ann: Client, path: str) -> None:
    response = as_ann.post(path, "x" * 3_000_000, content_type="application/json")
    assert response["Content-Type"] == "application/problem+json"
    assert response.status_code in {413, 404}


@pytest.mark.parametrize(
    ("is_known", "takes_file", "limit"),
    [(False, True, ANONYMOUS_BYTES), (False, False, ANONYMOUS_BYTES), (True, False, 5), (True, True, 7)],
)
def test_the_limit_of_a_body(is_known: bool, takes_file: bool, limit: int) -> None:
    assert body_limit(is_known=is_known, takes_file=takes_file, form_bytes=5, upload_bytes=7) == limit


def test_a_length_that_is_no_number_is_no_body(client: Client) -> None:
    assert client.post("/login/", b"", content_type="text/plain", CONTENT_LENGTH="x").status_code != 413
