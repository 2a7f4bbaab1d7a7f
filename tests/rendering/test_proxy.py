"""The browser's proxy: who may use it, what it passes on, what it refuses."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from crawler.browser import proxy_relay
from crawler.browser.admission import MAX_REFUSED
from crawler.browser.proxy import Admission, GuardProxy, ProxyLimits
from crawler.core.urls.addresses import Proxy
from crawler.http.client import HttpFetcher
from crawler.http.connector import Gateway
from crawler.http.guard import Guard
from tests.core.urls.test_addresses import NOT_PUBLIC
from tests.http import http2
from tests.http.names import Names
from tests.http.proxy import ProxyServer
from tests.http.secure import EVERY_NAME, as_site_test, trusting_the_test
from tests.http.server import Reply, Server, Then, chunked, hanging_up, page
from tests.http.socks_server import SocksServer
from tests.http.test_guard import SPELLINGS, here
from tests.rendering.visiting import (
    LIMITS,
    SITE,
    Canary,
    ask,
    asked,
    basic,
    read_all,
    read_head,
    request,
    status,
    tunnel,
    wait_for,
)

ANY_ADDRESS = Guard(("*",))


@pytest.fixture
def others() -> set[threading.Thread]:
    """Those that run already: another test may have started the proxy of this process."""
    return set(threading.enumerate())


@pytest.fixture
def proxy(others: set[threading.Thread]) -> Iterator[GuardProxy]:
    with GuardProxy() as running:
        yield running


@pytest.fixture
def admission(proxy: GuardProxy) -> Iterator[Admission]:
    with proxy.admit(SITE, LIMITS) as admitted:
        yield admitted


@pytest.fixture
def canary() -> Iterator[Canary]:
    with Canary() as listening:
        yield listening
        assert listening.knocks() == []


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


@pytest.mark.parametrize("client", ["builtin", "curl"])
def test_our_own_clients_come_through_it(proxy: GuardProxy, admission: Admission, settings: Any, client: str) -> None:
    settings.CRAWLER_HTTP_CLIENT = client
    ours = Gateway(Proxy("127.0.0.1", proxy.port, admission.username, admission.password), ANY_ADDRESS)
    with (
        Server({"/": page("<p>plain")}) as plain,
        Server({"/": page("<p>secure")}, tls=as_site_test()) as secure,
        HttpFetcher(EVERY_NAME, "Tester/1", gateway=ours, trust=trusting_the_test) as fetcher,
    ):
        urls = [f"http://site.test:{plain.port}/", f"https://site.test:{secure.port}/"] * 2
        assert [fetcher.get(url).body for url in urls] == [b"<p>plain", b"<p>secure"] * 2


def test_http2_passes_a_tunnel(proxy: GuardProxy, admission: Admission, settings: Any) -> None:
    settings.CRAWLER_HTTP_CLIENT = "curl"
    ours = Gateway(Proxy("127.0.0.1", proxy.port, admission.username, admission.password), ANY_ADDRESS)
    with (
        http2.Server({"/": http2.Answer(body=b"<p>two")}, as_site_test()) as server,
        HttpFetcher(EVERY_NAME, "Tester/1", gateway=ours, trust=trusting_the_test) as fetcher,
    ):
        assert fetcher.get(f"https://site.test:{server.port}/").body == b"<p>two"
    assert server.protocols == ["h2"]


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


# Who may use it


@pytest.mark.parametrize("line", ["CONNECT site.test:PORT", "GET http://site.test:PORT/", "nonsense"])
@pytest.mark.parametrize(
    "fields",
    [
        [],
        ["Proxy-Authorization: "],
        ["Proxy-Authorization: Basic ==="],
        ["Proxy-Authorization: Basic \xff"],
        ["Proxy-Authorization: Basic Og=="],  # empty user, empty password
        ["Proxy-Authorization: KNOWN x"],
        ["Proxy-Authorization: USER:"],
        ["Proxy-Authorization: USER:wrong"],
        ["Proxy-Authorization: wrong:PASSWORD"],
        ["Proxy-Authorization: KNOWN", "Proxy-Authorization: KNOWN"],
        ["Authorization: KNOWN"],
    ],
)
def test_without_the_password_of_a_page_it_is_asked_for(
    proxy: GuardProxy, admission: Admission, canary: Canary, line: str, fields: list[str]
) -> None:
    user, password = admission.username, admission.password
    known = [
        field.replace("KNOWN", basic(user, password))
        .replace("USER:wrong", basic(user, "0" * 64))
        .replace("USER:", basic(user, ""))
        .replace("wrong:PASSWORD", basic("0" * 32, password))
        for field in fields
    ]
    head = "".join(f"{text}\r\n" for text in (f"{line.replace('PORT', str(canary.port))} HTTP/1.1", *known, ""))
    answer = ask(proxy, head.encode("latin-1"))
    assert status(answer) == 407
    assert b'\r\nProxy-Authenticate: Basic realm="crawler"\r\n' in answer
    assert admission.refused == []


def test_a_closed_admission_has_no_password(proxy: GuardProxy, canary: Canary) -> None:
    with proxy.admit(SITE, LIMITS) as closed:
        pass
    assert status(ask(proxy, request(f"CONNECT site.test:{canary.port}", closed))) == 407


def test_a_paused_admission_is_of_use_again_when_another_page_begins(proxy: GuardProxy) -> None:
    with Server({"/": page("x", then=Then.CLOSE)}) as server, proxy.admit(SITE, LIMITS) as admission:
        asked_for = request(f"GET http://site.test:{server.port}/", admission)
        ask(proxy, asked_for)
        assert admission.connections == 1
        admission.pause()
        assert status(ask(proxy, asked_for)) == 503
        admission.begin()
        assert (admission.connections, admission.bytes_received) == (0, 0)
        assert status(ask(proxy, asked_for)) == 200


def test_pausing_an_admission_cuts_its_connections(proxy: GuardProxy) -> None:
    with (
        Server({}) as server,
        proxy.admit(SITE, LIMITS) as admission,
        tunnel(proxy, admission, f"site.test:{server.port}") as sock,
    ):
        admission.pause()
        assert read_all(sock) == b""


def test_it_says_itself_that_a_password_is_right(proxy: GuardProxy, admission: Admission) -> None:
    line = f"GET {proxy.url}"
    assert (status(ask(proxy, request(line, admission))), admission.refused) == (200, [])
    assert status(ask(proxy, f"{line} HTTP/1.1\r\n\r\n".encode())) == 407


# Addresses


HOSTS = [*SPELLINGS, *(f"[{address}]" if ":" in address else address for address in NOT_PUBLIC)]


@pytest.mark.parametrize("line", ["CONNECT {}:{}", "GET http://{}:{}/", "POST http://{}:{}/"])
def test_no_spelling_of_a_private_address_is_connected_to(proxy: GuardProxy, canary: Canary, line: str) -> None:
    with proxy.admit(Guard(resolver=here), LIMITS) as admission:
        for host in HOSTS:
            answer = ask(proxy, request(line.format(host, canary.port), admission))
            assert status(answer) in (400, 403), host
    assert admission.connections == 0
    assert len(admission.refused) > 60
    assert admission.refused[0] == f"127.0.0.1:{canary.port}: " + (
        '127.0.0.1 is a private address (Loopback); allow it under "Private networks", with --allow-private '
        "or by CRAWLER_PRIVATE_HOSTS"
    )


@pytest.mark.parametrize("host", ["10.0.0.1", "169.254.169.254", "[::ffff:10.0.0.1]", "2130706433", "internal.test"])
def test_a_refused_address_is_said_and_noted(proxy: GuardProxy, host: str) -> None:
    with proxy.admit(Guard(resolver=Names("10.0.0.1")), LIMITS) as admission:
        answer = ask(proxy, request(f"CONNECT {host}:443", admission))
    assert status(answer) == 403
    assert len(admission.refused) == 1
    assert b"is a private address" in answer


def test_so_many_refused_addresses_are_remembered(proxy: GuardProxy) -> None:
    with proxy.admit(Guard(), LIMITS) as admission:
        for number in range(MAX_REFUSED + 5):
            ask(proxy, request(f"CONNECT 10.0.0.{number}:80", admission))
    assert len(admission.refused) == MAX_REFUSED


def test_a_port_that_is_not_allowed_is_refused(proxy: GuardProxy) -> None:
    with proxy.admit(Guard(resolver=Names("1.1.1.1")), LIMITS) as admission:
        assert [status(ask(proxy, request(f"CONNECT x.test:{port}", admission))) for port in (25, 6379)] == [403, 403]
    assert [line.split(":")[1] for line in admission.refused] == ["25", "6379"]


@pytest.mark.parametrize("line", ["CONNECT site.test:{}", "GET http://site.test:{}/"])
def test_the_checked_address_is_the_one_connected_to(proxy: GuardProxy, line: str) -> None:
    names = Names("127.0.0.1", "127.0.0.2")  # whoever looks again is led astray
    with (
        Server({"/": page()}) as server,
        proxy.admit(Guard(("127.0.0.1",), resolver=names), LIMITS) as admission,
    ):
        with asked(proxy, request(line.format(server.port), admission)) as sock:
            assert read_head(sock).startswith(b"HTTP/1.1 200")
        assert names.asked == ["site.test"]
        assert status(ask(proxy, request(line.format(server.port), admission))) == 403
    assert server.connections == 1


def test_one_private_address_among_several_refuses_the_host(proxy: GuardProxy, canary: Canary) -> None:
    with proxy.admit(Guard(resolver=Names("1.1.1.1 127.0.0.1")), LIMITS) as admission:
        assert status(ask(proxy, request("CONNECT x.test:443", admission))) == 403


def test_each_page_has_its_own_guard(proxy: GuardProxy, admission: Admission) -> None:
    with Server({"/": page(then=Then.CLOSE)}) as server, proxy.admit(Guard(resolver=here), LIMITS) as other:
        line = f"GET http://site.test:{server.port}/"
        assert [status(ask(proxy, request(line, page_of))) for page_of in (other, admission)] == [403, 200]
    assert (len(other.refused), len(admission.refused)) == (1, 0)


def test_a_resolver_of_the_proxy_replaces_those_of_the_guards() -> None:
    with GuardProxy(resolver=Names("10.0.0.1")) as proxy, proxy.admit(SITE, LIMITS) as admission:
        assert status(ask(proxy, request("CONNECT other.test:80", admission))) == 403


# What is no request


@pytest.mark.parametrize(
    "line",
    [
        "CONNECT site.test",
        "CONNECT site.test:",
        "CONNECT site.test:0x50",
        "CONNECT site.test:65536",
        "CONNECT user@site.test:443",
        "CONNECT user:password@site.test:443",
        "CONNECT http://site.test:443",
        "CONNECT http://site.test:443/",
        "CONNECT site.test:443/",
        "CONNECT site.test:443?x",
        "CONNECT ::1:443",
        "CONNECT [::1",
        "CONNECT [fe80::1%25lo]:443",
        "CONNECT [site.test]:443",
        "CONNECT site%2etest:443",
        "CONNECT a..b c:443",
        "CONNECT :443",
        "CONNECT *:443x",
        "GET /",
        "GET *",
        "GET site.test",
        "GET https://site.test/",
        "GET ftp://site.test/",
        "GET ws://site.test/",
        "GET http:///",
        "GET http://user@site.test/",
        "GET http://site.test:80:80/",
        "GET http://site.test#x",
        "GET http://site.test/caf\xe9",
        "GET  http://site.test/",
        "G(T http://site.test/",
    ],
)
def test_anything_else_is_no_request(proxy: GuardProxy, line: str) -> None:
    with proxy.admit(Guard(resolver=Names("127.0.0.1")), LIMITS) as admission:
        answer = ask(proxy, request(line, admission))
    assert status(answer) == 400
    assert answer.split(b"\r\n\r\n")[1].count(b"\n") == 1
    assert admission.refused == []


@pytest.mark.parametrize(
    "fields",
    [
        ["Transfer-Encoding: chunked"],
        ["Content-Length: 1", "Content-Length: 2"],
        ["Content-Length: -1"],
        ["Content-Length: 1, 1"],
        ["X : y"],
        ["no colon"],
        ["X: y\rX-Hidden: z"],
        ["X: y\0"],
        [" folded"],
    ],
)
def test_headers_that_could_be_read_in_two_ways_are_not_forwarded(
    proxy: GuardProxy, admission: Admission, fields: list[str]
) -> None:
    with Server({"/": page()}) as server:
        assert status(ask(proxy, request(f"GET http://site.test:{server.port}/", admission, *fields))) == 400
    assert server.connections == 0


def test_a_head_has_an_end(proxy: GuardProxy, admission: Admission) -> None:
    line = "CONNECT site.test:443"
    assert status(ask(proxy, request(line, admission, f"X: {'x' * 70_000}"))) == 431
    assert status(ask(proxy, request(line, admission, *["X: xxxxxxx"] * 7000))) == 431


def test_a_client_that_does_not_finish_its_head_is_left(
    proxy: GuardProxy, admission: Admission, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy_relay, "HEAD_SECONDS", 0.05)
    assert ask(proxy, b"CONNECT site.test:443 HTTP/1.1\r\n") == b""


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
    monkeypatch.setattr("crawler.browser.admission.REST_SECONDS", 0.1)
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
    monkeypatch.setattr("crawler.browser.admission.REST_SECONDS", 0.01)
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
