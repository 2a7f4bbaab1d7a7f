"""The server of the simulated web answers as its world says, and writes down the moment each request arrived."""

import http.client
import socket
import time
from collections.abc import Iterator

import pytest

from tests.sim.factories import US, star
from tests.sim.serving import Serving, free_port, serving
from tests.sim.world import Answer, Health, Host, Page, Robots, World

LATENCY = 0.05
WELL, HANGING, REFUSING = range(3)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    pages = Page("/a", links=((0, 1),)), Page("/limited", Answer.LIMITED, retry_after=3), Page("/flaky", Answer.FLAKY)
    hosts = (
        Host("127.12.0.1", pages, latency=LATENCY, robots=Robots.LATE, closed_to="/no/"),
        star(HANGING, 1, health=Health.HANGING),
        star(REFUSING, 1, health=Health.REFUSING),
    )
    with serving(World(hosts, free_port()), tmp_path_factory.mktemp("web")) as served:
        yield served


@pytest.fixture
def web(shared: Serving) -> Serving:
    shared.forget()
    return shared


def statuses(web: Serving, *paths: str) -> list[int]:
    """Ask the well host for these, one after the other over one connection."""
    connection = http.client.HTTPConnection(web.world.hosts[WELL].address, web.world.port, timeout=10)
    said = []
    for path in paths:
        connection.request("GET", path, headers={"User-Agent": US})
        answer = connection.getresponse()
        answer.read()
        said.append(answer.status)
    connection.close()
    return said


def test_it_answers_as_the_world_says_and_remembers_what_was_asked(web: Serving) -> None:
    paths = ["/robots.txt", "/robots.txt", "/a", "/flaky", "/flaky", "/nowhere"]
    assert statuses(web, *paths) == [503, 200, 200, 500, 200, 404]
    requests = web.log().requests
    assert [request.path for request in requests] == paths
    assert [request.status for request in requests] == [503, 200, 200, 500, 200, 404]
    assert {request.agent for request in requests} == {US}
    assert len({request.connection for request in requests}) == 1


def test_it_thinks_before_it_answers_but_not_before_it_sends_us_away(web: Serving) -> None:
    statuses(web, "/a", "/limited")
    page, limited = web.log().requests
    assert page.until - page.at >= LATENCY
    assert limited.until - limited.at < LATENCY
    assert limited.retry_after == 3


def test_a_request_is_stamped_when_it_arrives_and_not_when_it_is_read(web: Serving) -> None:
    """The stamp lies between the moments before and behind the call that sends it, on the clock of all processes."""
    statuses(web, "/a")  # the kernel makes no stamps before it is asked to
    host = web.world.hosts[WELL]
    with socket.create_connection((host.address, web.world.port)) as sock:
        for _ in range(20):
            before = time.monotonic()
            sock.sendall(f"GET /a HTTP/1.1\r\nUser-Agent: {US}\r\n\r\n".encode())
            behind = time.monotonic()
            assert b"200 OK" in sock.recv(4096)
            at = web.log().requests[-1].at
            assert before - 0.005 <= at <= behind + 0.005


def test_a_hanging_host_takes_the_request_and_says_nothing(web: Serving) -> None:
    host = web.world.hosts[HANGING]
    with socket.create_connection((host.address, web.world.port), timeout=0.3) as sock:
        sock.sendall(b"GET /a HTTP/1.1\r\n\r\n")
        with pytest.raises(TimeoutError):
            sock.recv(1)
        (request,) = web.log().requests
        assert request.status == 0
        assert request.until == float("inf")


def test_when_a_visitor_hangs_up_that_is_written_down(web: Serving) -> None:
    host = web.world.hosts[HANGING]
    with socket.create_connection((host.address, web.world.port)) as sock:
        sock.sendall(b"GET /a HTTP/1.1\r\n\r\n")
        time.sleep(0.05)
    deadline = time.monotonic() + 10
    while (log := web.log()).requests[-1].until == float("inf") and time.monotonic() < deadline:
        time.sleep(0.01)
    assert log.requests[-1].until < time.monotonic()
    assert log.connections[-1].closed < time.monotonic()
