"""What a page may take by the browser's proxy: time, bytes, connections; and that nothing outlives it."""

import contextlib
import gc
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from crawler.capabilities.browser.proxy import Admission, GuardProxy, ProxyLimits
from crawler.http.guard import Guard
from tests.capabilities.browser.visiting import (
    LIMITS,
    PATIENCE,
    SITE,
    Canary,
    ask,
    asked,
    read_all,
    read_head,
    request,
    status,
    tunnel,
    wait_for,
)
from tests.http.server import Reply, Server, Then, page

# Limits


def short(**changes: Any) -> ProxyLimits:
    return ProxyLimits(
        **{"max_bytes": 10**9, "max_connections": 9, "connect_seconds": 5, "idle_seconds": 0.2, **changes}
    )


def test_a_server_that_says_nothing_is_a_timeout(proxy: GuardProxy) -> None:
    with Server({"/": Reply(b"", Then.STALL)}) as server, proxy.admit(SITE, short()) as admission:
        assert status(ask(proxy, request(f"GET http://site.test:{server.port}/", admission))) == 504


def test_a_tunnel_that_nothing_passes_ends(proxy: GuardProxy) -> None:
    with (
        Server({}) as server,
        proxy.admit(SITE, short()) as admission,
        tunnel(proxy, admission, f"site.test:{server.port}") as sock,
    ):
        assert read_all(sock) == b""


def test_a_tunnel_is_not_idle_while_a_server_drips(proxy: GuardProxy) -> None:
    with (
        Server({"/": Reply(page().data, Then.DRIP)}) as server,
        proxy.admit(SITE, short(idle_seconds=1)) as admission,
        tunnel(proxy, admission, f"site.test:{server.port}") as sock,
    ):
        sock.sendall(b"GET / HTTP/1.1\r\n\r\n")
        read_head(sock)
        until = time.monotonic() + 1.2
        while time.monotonic() < until:
            assert sock.recv(1)  # one in 0.02 seconds


def test_a_page_has_so_many_connections_and_no_more(proxy: GuardProxy) -> None:
    site = {"/": page(then=Then.CLOSE)}
    with Server(site) as server, proxy.admit(SITE, short(max_connections=1, idle_seconds=9)) as admission:
        line = f"GET http://site.test:{server.port}/"
        with tunnel(proxy, admission, f"site.test:{server.port}"):
            assert status(ask(proxy, request(line, admission))) == 503
        wait_for(lambda: status(ask(proxy, request(line, admission))) == 200)


def test_all_connections_of_a_page_that_loads_too_much_are_cut(proxy: GuardProxy, admission: Admission) -> None:
    large = Reply(page("x", content_length="").data, Then.DRIP, b"x" * 20_000)
    with Server({"/": page(), "/large": large}) as server, proxy.admit(SITE, short(max_bytes=100_000)) as greedy:
        target = f"site.test:{server.port}"
        with tunnel(proxy, greedy, target) as quiet, tunnel(proxy, admission, target) as of_another_page:
            body = ask(proxy, request(f"GET http://{target}/large", greedy))
            assert read_all(quiet) == b""
            assert 50_000 < len(body) <= 100_000
            assert greedy.limit_reached == "more than 100000 bytes received"
            assert status(ask(proxy, request(f"CONNECT {target}", greedy))) == 503
            of_another_page.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert read_head(of_another_page).startswith(b"HTTP/1.1 200 OK")
    assert admission.limit_reached == ""


def test_a_client_that_does_not_read_stops_the_server(proxy: GuardProxy) -> None:
    flood = Reply(page("x", content_length="").data, Then.DRIP, b"x" * 4_000_000)
    with (
        Server({"/": flood}) as server,
        proxy.admit(SITE, short(idle_seconds=0.5)) as admission,
        tunnel(proxy, admission, f"site.test:{server.port}") as sock,
    ):
        sock.sendall(b"GET / HTTP/1.1\r\n\r\n")
        taken = 0
        while taken != admission.bytes_received or not taken:
            taken = admission.bytes_received
            threading.Event().wait(0.2)
        assert taken < 12_000_000  # what systems keep for two connections; the server would have sent on and on


# The end of a page


def test_the_connections_of_a_page_end_with_it(proxy: GuardProxy, admission: Admission) -> None:
    with Server({"/": page("<p>still")}) as server:
        target = f"site.test:{server.port}"
        with proxy.admit(SITE, LIMITS) as ending, tunnel(proxy, admission, target) as kept:
            with tunnel(proxy, ending, target) as first, tunnel(proxy, ending, target) as second:
                ending.close()
                assert (read_all(first), read_all(second)) == (b"", b"")
            kept.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert read_head(kept).startswith(b"HTTP/1.1 200 OK")


def test_no_connection_is_begun_for_a_page_that_has_ended(
    proxy: GuardProxy, canary: Canary, others: set[threading.Thread]
) -> None:
    looked_up, over = threading.Event(), threading.Event()

    def slow(host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
        looked_up.set()
        over.wait(5)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    with (
        proxy.admit(Guard(("*",), resolver=slow), LIMITS) as admission,
        asked(proxy, request(f"CONNECT slow.test:{canary.port}", admission)) as sock,
    ):
        looked_up.wait(5)
        admission.close()
        assert read_all(sock) == b""
        over.set()
    proxy.close()
    wait_for(lambda: not any("guard-proxy" in thread.name for thread in set(threading.enumerate()) - others))


def test_the_proxy_leaves_nothing_running() -> None:
    before = set(threading.enumerate())
    with Server({}) as server:
        with GuardProxy() as proxy:
            admission = proxy.admit(SITE, LIMITS)
            with tunnel(proxy, admission, f"site.test:{server.port}") as sock, asked(proxy, b"CONN") as unfinished:
                proxy.close()
                assert (read_all(sock), read_all(unfinished)) == (b"", b"")
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", proxy.port), 1)
        admission.close()
    wait_for(lambda: set(threading.enumerate()) <= before)


def test_a_connection_that_comes_as_the_proxy_closes_is_closed() -> None:
    """It is accepted or refused. One that is left open holds its client up, and its file descriptor for good."""
    for _ in range(20):
        with GuardProxy() as proxy, asked(proxy, b"GET / HTTP/1.1\r\n\r\n") as first:
            read_all(first)
            late = [socket.create_connection(("127.0.0.1", proxy.port), PATIENCE) for _ in range(2)]
            proxy.close()
        for sock in late:
            with sock, contextlib.suppress(ConnectionResetError):
                assert read_all(sock) == b""
    gc.collect()  # a socket that nobody closed fails the test here


def test_a_proxy_may_close_before_it_has_begun() -> None:
    for _ in range(20):
        GuardProxy().close()


# One connection at a time


@pytest.mark.parametrize("line", ["CONNECT site.test:{}", "GET http://site.test:{}/"])
def test_the_next_connection_to_a_host_waits_for_the_first_to_end(proxy: GuardProxy, line: str) -> None:
    with Server({"/": page()}) as server:
        target = f"site.test:{server.port}"
        with proxy.admit(SITE, LIMITS, hosts_one_by_one=frozenset({target})) as admission:
            with tunnel(proxy, admission, target):
                waiting = socket.create_connection(("127.0.0.1", proxy.port), 10)
                waiting.sendall(request(line.format(server.port), admission))
                waiting.settimeout(0.1)
                with pytest.raises(TimeoutError):
                    waiting.recv(1)
                assert admission.connections == 1
            waiting.settimeout(10)
            with waiting:
                assert read_head(waiting).startswith(b"HTTP/1.1 200")
    assert admission.connections == 2


def test_the_ports_of_a_host_share_its_connection(proxy: GuardProxy) -> None:
    with Server({}) as server, Server({}) as other:
        one, another = f"site.test:{server.port}", f"site.test:{other.port}"
        with proxy.admit(SITE, LIMITS, hosts_one_by_one=frozenset({one, another})) as admission:
            with tunnel(proxy, admission, one), asked(proxy, request(f"CONNECT {another}", admission)) as waiting:
                waiting.settimeout(0.1)
                with pytest.raises(TimeoutError):
                    waiting.recv(1)
                assert admission.connections == 1
            with tunnel(proxy, admission, another):
                assert admission.connections == 2


def test_other_hosts_need_not_wait(proxy: GuardProxy) -> None:
    with (
        Server({}) as server,
        proxy.admit(SITE, LIMITS, hosts_one_by_one=frozenset({"site.test:1"})) as admission,
        tunnel(proxy, admission, f"site.test:{server.port}"),
        tunnel(proxy, admission, f"site.test:{server.port}"),
    ):
        assert admission.connections == 2


def test_who_gives_up_waiting_for_a_host_has_no_connection_to_it(proxy: GuardProxy) -> None:
    with Server({}) as server:
        target = f"site.test:{server.port}"
        with proxy.admit(SITE, LIMITS, hosts_one_by_one=frozenset({target})) as admission:
            with tunnel(proxy, admission, target), asked(proxy, request(f"CONNECT {target}", admission)):
                wait_for(lambda: len(admission.tasks) == 2)
            with tunnel(proxy, admission, target):
                assert admission.connections == 2


def test_a_connection_that_rests_gives_way(proxy: GuardProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.capabilities.browser.admission.REST_SECONDS", 0.1)
    with Server({"/": page("<p>hello")}) as server:
        target = f"site.test:{server.port}"
        with (
            proxy.admit(SITE, LIMITS, hosts_one_by_one=frozenset({target})) as admission,
            tunnel(proxy, admission, target) as first,
        ):
            first.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert read_head(first).startswith(b"HTTP/1.1 200 OK")
            with tunnel(proxy, admission, target):
                assert read_all(first) == b"<p>hello"


def test_a_connection_that_waits_for_its_server_does_not_give_way(
    proxy: GuardProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.capabilities.browser.admission.REST_SECONDS", 0.01)
    with Server({"/": Reply(b"", Then.STALL)}) as server, ThreadPoolExecutor(1) as beside:
        target = f"site.test:{server.port}"
        with (
            proxy.admit(SITE, short(idle_seconds=0.4), hosts_one_by_one=frozenset({target})) as admission,
            tunnel(proxy, admission, target) as first,
        ):
            first.sendall(b"GET / HTTP/1.1\r\n\r\n")
            answer = beside.submit(ask, proxy, request(f"CONNECT {target}", admission))
            while not answer.done():
                first.sendall(b"more of a request")
                threading.Event().wait(0.02)
    assert status(answer.result()) == 504
