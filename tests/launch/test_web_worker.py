"""The web process against clients that send slowly, send nothing, or do not read: real sockets, as the Procfile starts
it."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection

import pytest

from crawler.accounts.slow_calls import MAX_CALLS
from crawler.core.access.permissions import Scope
from crawler.core.access.request_reading import BODY_TIMEOUT_S, HEAD_TIMEOUT_S
from crawler.launch.web_worker import LINGER_S, SEND_TIMEOUT_S
from tests.api.calling import a_token
from tests.factories import a_person
from tests.site import Reply, Site
from tests.web_process import LOOPBACK, WebProcess, dribble_until_closed, web_process

HALF_HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: a"
HALF_FORM = b"POST /login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000\r\n\r\nusername="
HALF_UPLOAD = b"POST /login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n\r\nusername="
PROMISED_S = 1.0


@pytest.fixture(scope="module")
def slow_site() -> Iterator[Site]:
    with Site({"/": Reply("<h1>x</h1>", after=4.0), "/robots.txt": Reply("", 404)}).serving() as site:
        yield site


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory, redis_url: str, slow_site: Site) -> Iterator[WebProcess]:
    with web_process(tmp_path_factory.mktemp("web"), redis_url, CRAWLER_PRIVATE_HOSTS=slow_site.host) as web:
        web.seconds_of("/readyz")
        yield web


def fastest(web: WebProcess, path: str) -> float:
    """Of three, since other tests run on the same machine."""
    return min(web.seconds_of(path) for _ in range(3))


@pytest.mark.parametrize("path", ["/healthz", pytest.param("/readyz", marks=pytest.mark.long)])
@pytest.mark.parametrize("sent", [b"", HALF_HEAD, HALF_FORM, HALF_UPLOAD], ids=["nothing", "head", "form", "upload"])
def test_health_checks_respond_under_200_half_sent_requests(web: WebProcess, sent: bytes, path: str) -> None:
    with web.held(200, sent):
        assert fastest(web, path) < PROMISED_S


def test_pages_respond_under_200_half_sent_requests(web: WebProcess) -> None:
    with web.held(200, HALF_HEAD):
        assert fastest(web, "/login/") < 5 * PROMISED_S


@pytest.mark.long
def test_health_checks_respond_under_50_slow_previews(web: WebProcess, slow_site: Site) -> None:
    tokens = web.stack.within(lambda: [a_token(a_person(f"ann{number}"), *Scope) for number in range(50)])

    def preview(token: str) -> int:
        connection = HTTPConnection(LOOPBACK, web.port, timeout=60)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        body = f'{{"try_url": "{slow_site.url}/", "fields": [{{"name": "a", "selector": "h1"}}]}}'
        connection.request("POST", "/api/v1/extraction/preview", body, headers)
        response = connection.getresponse()
        response.read()
        connection.close()
        return response.status

    with ThreadPoolExecutor(50) as clients:
        calls = [clients.submit(preview, token) for token in tokens]
        time.sleep(1.0)
        assert fastest(web, "/healthz") < PROMISED_S
        assert fastest(web, "/readyz") < PROMISED_S
        statuses = [call.result() for call in calls]
    assert statuses.count(429) >= 50 - 2 * MAX_CALLS
    assert set(statuses) == {200, 429}


def test_a_request_that_arrives_byte_by_byte_is_answered(web: WebProcess) -> None:
    with web.open() as client:
        for byte in b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n":
            client.sendall(bytes([byte]))
        assert client.recv(4096).startswith(b"HTTP/1.1 200")


def test_requests_that_arrive_together_are_answered_in_turn(web: WebProcess) -> None:
    one = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with web.open(one + one + one[:20]) as client:
        time.sleep(0.3)
        client.sendall(one[20:])
        received = b""
        while received.count(b"HTTP/1.1 200") < 3:
            received += client.recv(4096) or pytest.fail(f"closed after {received!r}")


def test_a_head_without_an_end_is_refused(web: WebProcess) -> None:
    with web.open(HALF_HEAD + b"a" * 70_000) as client:
        assert client.recv(4096).startswith(b"HTTP/1.1 431")


def test_a_client_that_does_not_close_does_not_stop_the_others(web: WebProcess) -> None:
    with web.held(20, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"):
        assert fastest(web, "/healthz") < PROMISED_S


@pytest.mark.long
def test_what_is_half_sent_ends_at_its_deadline(web: WebProcess) -> None:
    with (
        web.open(HALF_HEAD) as head,
        web.open(HALF_FORM) as form,
        web.open() as nothing,
        ThreadPoolExecutor(2) as clients,
    ):
        of_head = clients.submit(dribble_until_closed, head, HEAD_TIMEOUT_S + LINGER_S + 5)
        of_form = clients.submit(dribble_until_closed, form, BODY_TIMEOUT_S + LINGER_S + 5)
        nothing.settimeout(HEAD_TIMEOUT_S + 5)
        assert nothing.recv(100) == b""
        assert of_head.result().startswith(b"HTTP/1.1 408")
        assert of_form.result().startswith(b"HTTP/1.1 408")


@pytest.mark.long
def test_a_client_that_does_not_read_loses_its_thread(web: WebProcess) -> None:
    asked = b"GET /static/ninja/swagger-ui-bundle.js HTTP/1.1\r\nHost: localhost\r\n\r\n"

    def client() -> socket.socket:
        unread = socket.socket()
        unread.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        unread.connect((LOOPBACK, web.port))
        unread.sendall(asked)
        return unread

    held = [client() for _ in range(8)]
    time.sleep(0.5)
    assert fastest(web, "/healthz") < PROMISED_S
    deadline = time.monotonic() + 2 * SEND_TIMEOUT_S
    while True:
        try:
            web.seconds_of("/login/")
            break
        except TimeoutError:
            assert time.monotonic() < deadline
    for each in held:
        each.close()


@pytest.mark.long
def test_it_stops_at_once_although_connections_are_open(
    redis_url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    waits = ("--graceful-timeout", "120")  # else a machine under load could not tell "at once" from its end
    with web_process(tmp_path_factory.mktemp("stopping"), redis_url, *waits) as web, web.held(20, b""):
        web.process.terminate()
        assert web.process.wait(60) == 0
