"""Who may use the browser's proxy, which addresses it connects to, and what is no request."""

import pytest

from crawler.capabilities.browser import proxy_relay
from crawler.capabilities.browser.admission import MAX_REFUSED
from crawler.capabilities.browser.proxy import Admission, GuardProxy
from crawler.http.guard import Guard
from tests.capabilities.browser.visiting import (
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
)
from tests.core.urls.test_addresses import NOT_PUBLIC
from tests.http.names import Names
from tests.http.server import Server, Then, page
from tests.http.test_guard import SPELLINGS, here
from tests.launch.conftest import eventually

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
    assert admission.refused[0] == f"127.0.0.1:{canary.port}: " + ("127.0.0.1 is a private address (Loopback)")


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
            assert eventually(lambda: server.connections == 1)  # of a tunnel without a request nothing else tells
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
