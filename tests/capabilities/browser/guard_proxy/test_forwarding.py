"""What the browser's proxy passes on, and what it says of a server that fails."""

import socket
import threading
from typing import Any

import pytest

from crawler.capabilities.browser.proxy import Admission, GuardProxy, ProxyLimits
from crawler.core.urls.addresses import Proxy
from crawler.http.connector import Gateway
from crawler.http.guard import Guard
from tests.capabilities.browser.visiting import (
    LIMITS,
    SITE,
    ask,
    asked,
    basic,
    read_all,
    read_head,
    request,
    status,
    tunnel,
)
from tests.http.proxy import ProxyServer
from tests.http.secure import as_site_test, trusting_the_test
from tests.http.server import Reply, Server, Then, chunked, hanging_up, page
from tests.http.socks_server import SocksServer

ANY_ADDRESS = Guard(("*",))


# What passes


def test_a_tunnel_passes_tls_both_ways(proxy: GuardProxy, admission: Admission) -> None:
    with (
        Server({"/a": page("<p>a")}, tls=as_site_test()) as server,
        tunnel(proxy, admission, f"site.test:{server.port}") as sock,
        trusting_the_test().wrap_socket(sock, server_hostname="site.test", suppress_ragged_eofs=True) as secure,
    ):
        secure.sendall(b"GET /a HTTP/1.1\r\n\r\n")
        assert b"200 OK" in secure.recv(65536)
    assert (server.paths(), admission.connections, admission.refused) == (["/a"], 1, [])
    assert min(admission.bytes_sent, admission.bytes_received) > 500


def test_a_tunnel_passes_whatever_is_said_without_tls(proxy: GuardProxy, admission: Admission) -> None:
    with (
        Server({"/": page("<p>hello")}) as server,
        tunnel(proxy, admission, f"SITE.test.:{server.port}") as sock,  # the same host to the guard
    ):
        for _ in range(3):
            sock.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert read_head(sock).startswith(b"HTTP/1.1 200 OK")
            assert sock.recv(8, socket.MSG_WAITALL) == b"<p>hello"
    assert server.connections == 1


def test_a_request_is_forwarded_without_what_belongs_to_the_proxy(proxy: GuardProxy, admission: Admission) -> None:
    fields = [
        "Host: other.test", "Proxy-Connection: keep-alive", "Connection: keep-alive, X-Hop", "Keep-Alive: timeout=5",
        "TE: trailers", "Upgrade: websocket", "X-Hop: 1", "Cookie: a=b",
    ]  # fmt: skip
    with Server({"/a?b=%2f": page("<p>a", then=Then.CLOSE)}) as server:
        answer = ask(proxy, request(f"GET http://site.test:{server.port}/a?b=%2f", admission, *fields))
    assert status(answer) == 200
    assert answer.endswith(b"<p>a")
    assert server.requests == [
        f"GET /a?b=%2f HTTP/1.1\nHost: site.test:{server.port}\nCookie: a=b\nConnection: close",
    ]


def test_a_body_is_forwarded(proxy: GuardProxy, admission: Admission) -> None:
    body = bytes(range(256)) * 1000
    with Server({"/": page("thanks", then=Then.CLOSE)}) as server:
        head = request(f"POST http://site.test:{server.port}", admission, f"Content-Length: {len(body)}")
        assert ask(proxy, head + body).endswith(b"thanks")
    assert server.bodies == [body]
    assert admission.bytes_sent > len(body)


def test_of_several_requests_on_a_connection_the_first_is_forwarded(proxy: GuardProxy, admission: Admission) -> None:
    with Server({"/1": page("one"), "/2": page("two")}) as server:
        ask(proxy, b"".join(request(f"GET http://site.test:{server.port}/{n}", admission) for n in (1, 2)))
    assert server.paths() in ([], ["/1"])


def test_a_response_is_returned_for_a_connection_that_ends(proxy: GuardProxy, admission: Admission) -> None:
    reply = chunked(b"one", b"two", connection="keep-alive, X-Hop", keep_alive="timeout=9", x_hop="1", set_cookie="a=b")
    with (
        Server({"/": reply}) as server,
        asked(proxy, request(f"GET http://site.test:{server.port}/", admission)) as sock,
    ):
        head = read_head(sock)
        assert sock.recv(21, socket.MSG_WAITALL) == b"3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"
    assert head.lower().split(b"\r\n") == [
        b"http/1.1 200 ok", b"content-type: text/html", b"transfer-encoding: chunked", b"set-cookie: a=b",
        b"connection: close", b"", b"",
    ]  # fmt: skip


def test_interim_responses_are_returned(proxy: GuardProxy, admission: Admission) -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"
    with Server({"/": Reply(hints + page("<p>then").data, Then.CLOSE)}) as server:
        answer = ask(proxy, request(f"GET http://site.test:{server.port}/", admission))
    assert answer.startswith(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n")
    assert answer.endswith(b"<p>then")


# What fails


def test_a_name_that_does_not_exist_is_a_bad_gateway(proxy: GuardProxy) -> None:
    def nothing(host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with proxy.admit(Guard(resolver=nothing), LIMITS) as admission:
        answer = ask(proxy, request("CONNECT missing.test:443", admission))
    assert (status(answer), admission.refused) == (502, [])
    assert answer.endswith(b"the host name missing.test does not resolve: Name or service not known\n")


def test_slow_name_servers_are_a_timeout(proxy: GuardProxy) -> None:
    over = threading.Event()

    def slow(host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
        over.wait(5)
        return []

    with proxy.admit(Guard(resolver=slow, lookup_seconds=0.05), LIMITS) as admission:
        assert status(ask(proxy, request("CONNECT slow.test:443", admission))) == 504
    over.set()


def test_a_host_that_takes_no_connection_in_time_is_a_timeout(proxy: GuardProxy) -> None:
    limits = ProxyLimits(max_bytes=1000, max_connections=2, connect_seconds=0.1, idle_seconds=5)
    with socket.socket() as full, proxy.admit(SITE, limits) as admission:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)), socket.socket() as second:
            second.setblocking(False)
            second.connect_ex(("127.0.0.1", port))  # the queue of this system may take one more than it is told
            assert status(ask(proxy, request(f"CONNECT site.test:{port}", admission))) == 504


def test_a_closed_port_is_a_bad_gateway(proxy: GuardProxy, admission: Admission) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        answer = ask(proxy, request(f"CONNECT site.test:{closed.getsockname()[1]}", admission))
    assert (status(answer), admission.connections) == (502, 0)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b"", Then.CLOSE),
        Reply(b"HTTP/1.1 200 OK\r\nContent-Le", Then.CLOSE),
        Reply(b"SSH-2.0-OpenSSH\r\n\r\n", Then.CLOSE),
        Reply(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000 + b"\r\n\r\n", Then.CLOSE),
        page("<p>who are you?", "407 Proxy Authentication Required", proxy_authenticate='Basic realm="x"'),
        Reply(b"HTTP/1.1 101 Switching Protocols\r\n\r\n", Then.STALL),
    ],
)
def test_what_is_no_response_is_a_bad_gateway(proxy: GuardProxy, admission: Admission, reply: Reply) -> None:
    with Server({"/": reply}) as server:
        answer = ask(proxy, request(f"GET http://site.test:{server.port}/", admission))
    assert status(answer) == 502
    assert b"roxy-Auth" not in answer


def test_a_server_that_hangs_up_ends_its_tunnel(proxy: GuardProxy, admission: Admission) -> None:
    with hanging_up(Then.CLOSE) as port, tunnel(proxy, admission, f"site.test:{port}") as sock:
        sock.sendall(b"hello")
        assert read_all(sock) == b""


# The crawl's own proxy


@pytest.mark.parametrize("line", ["CONNECT site.test:{}", "GET http://site.test:{}/"])
def test_connections_go_through_the_crawls_own_proxy(proxy: GuardProxy, line: str) -> None:
    with Server({"/": page()}) as server, ProxyServer(authorization=basic("user", "pw")) as crawls:
        gateway = Gateway(Proxy.parse(f"http://user:pw@127.0.0.1:{crawls.port}"), ANY_ADDRESS)
        with proxy.admit(SITE, LIMITS, gateway=gateway) as admission:
            with asked(proxy, request(line.format(server.port), admission)) as sock:
                assert read_head(sock).startswith(b"HTTP/1.1 200")
            assert status(ask(proxy, request(line.format(server.port).replace("site", "other"), admission))) == 403
    assert crawls.targets() == [line.format(server.port)]
    assert crawls.heads[0].count("Proxy-Authorization") == 1
    assert admission.password not in crawls.heads[0]


def test_connections_go_through_the_crawls_own_socks_proxy(proxy: GuardProxy) -> None:
    with Server({"/": page()}) as server, SocksServer() as crawls:
        gateway = Gateway(Proxy.parse(f"socks5://127.0.0.1:{crawls.port}"), ANY_ADDRESS)
        with proxy.admit(SITE, LIMITS, gateway=gateway) as admission:
            lines = [f"CONNECT site.test:{server.port}", f"GET http://site.test:{server.port}/"]
            for line in lines:
                with asked(proxy, request(line, admission)) as sock:
                    assert read_head(sock).startswith(b"HTTP/1.1 200")
    assert crawls.targets == [f"127.0.0.1:{server.port}"] * 2


@pytest.mark.parametrize("line", ["CONNECT site.test:443", "GET http://site.test/"])
def test_a_password_that_the_crawls_own_proxy_refuses_is_a_bad_gateway(proxy: GuardProxy, line: str) -> None:
    with ProxyServer(authorization="other") as crawls:
        gateway = Gateway(Proxy.parse(f"http://user:pw@127.0.0.1:{crawls.port}"), ANY_ADDRESS)
        with proxy.admit(SITE, LIMITS, gateway=gateway) as admission:
            answer = ask(proxy, request(line, admission))
    assert status(answer) == 502
    assert answer.endswith(b"the proxy does not accept the user and password (407)\n")
