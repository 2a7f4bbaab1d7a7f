"""TLS: error texts, time limits, and complete bodies."""

import contextlib
import os
import socket
import ssl
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.http.client import HttpFetcher
from crawler.http.fetcher import FetchResult, Limits
from tests.http.certificates import DAY, NOW, Authority, self_signed
from tests.http.differences import over
from tests.http.flooding import TicketFlood
from tests.http.secure import EVERY_NAME, as_site_test, trusting_the_test
from tests.http.server import Reply, Server, Then, chunked, dripping, page

AUTHORITY = Authority.made("Authority of the tests")
STRANGER = Authority.made("An authority nobody knows")


def asked(port: int, limits: Limits | None = None, host: str = "site.test") -> FetchResult:
    with HttpFetcher(EVERY_NAME, "Tester/1", limits, trust=AUTHORITY.trusted) as fetcher:
        return fetcher.get(f"https://{host}:{port}/")


def expired(folder: Path) -> ssl.SSLContext:
    return AUTHORITY.server(folder, begins=NOW - 3 * DAY, ends=NOW - DAY)


def early(folder: Path) -> ssl.SSLContext:
    return AUTHORITY.server(folder, begins=NOW + DAY, ends=NOW + 3 * DAY)


def of_another_host(folder: Path) -> ssl.SSLContext:
    return AUTHORITY.server(folder, "other.test")


def of_a_stranger(folder: Path) -> ssl.SSLContext:
    return STRANGER.server(folder)


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def old(folder: Path) -> ssl.SSLContext:
    context = AUTHORITY.server(folder)
    context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    return context


def choosy(folder: Path) -> ssl.SSLContext:
    context = AUTHORITY.server(folder)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("ECDHE-ECDSA-AES256-CCM8")
    return context


WRONG_CERTIFICATES = [
    (expired, "its certificate has expired"),
    (early, "its certificate is not valid yet"),
    (of_another_host, "certificate is not valid for 'site.test'"),
    (self_signed, "its certificate is self-signed"),
    (of_a_stranger, "its certificate is from an authority that is not trusted here"),
]


def for_members(folder: Path) -> ssl.SSLContext:
    context = AUTHORITY.server(folder)
    context.verify_mode = ssl.CERT_REQUIRED
    return context


def without_the_name(folder: Path) -> ssl.SSLContext:
    context = AUTHORITY.server(folder)
    context.sni_callback = lambda *_: ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
    return context


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
@pytest.mark.parametrize(
    ("server_of", "said"),
    [
        *WRONG_CERTIFICATES,
        (old, "the server does not support TLS 1.2 or later"),
        (choosy, "the server supports none of the offered ciphers"),
        (for_members, "the server requires a client certificate"),
        (without_the_name, "the server has no site with this name"),
    ],
)
def test_it_says_what_is_wrong_with_tls(tmp_path: Path, server_of: Callable[[Path], ssl.SSLContext], said: str) -> None:
    with Server({"/": page()}, tls=server_of(tmp_path)) as server:
        fetched = asked(server.port)
    assert (fetched.outcome, fetched.http_status) == (Outcome.TLS, None)
    assert said in fetched.error


def test_a_name_may_end_in_a_dot_and_no_certificate_does(tmp_path: Path) -> None:
    with Server({"/": page()}, tls=AUTHORITY.server(tmp_path)) as server:
        fetched = asked(server.port, host="site.test.")
    assert (fetched.outcome, fetched.body) == (Outcome.SUCCESS, b"<p>hello")


@pytest.mark.parametrize(
    "greeting", [b"220 mail.test\r\n", b"SSH-2.0-x\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0" * 9]
)
def test_it_says_that_a_server_speaks_no_tls(greeting: bytes) -> None:
    with Server({}, greeting=greeting) as server:
        fetched = asked(server.port)
    assert (fetched.outcome, "does not speak TLS on this port" in fetched.error) == (Outcome.TLS, True)


def test_a_handshake_in_drops_has_its_time() -> None:
    record = b"\x16\x03\x03\x40\x00"  # says that 16 KB follow
    with dripping(record) as port:
        fetched = asked(port, Limits(connect_seconds=0.2))
    assert (fetched.outcome, fetched.error) == (Outcome.TIMEOUT, "no TLS connection in 0.2 seconds")


def test_a_handshake_counts_for_the_whole() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        fetched = asked(silent.getsockname()[1], Limits(total_seconds=0.2))
    assert (fetched.outcome, fetched.error) == (Outcome.TIMEOUT, "not complete after 0.2 seconds")


def test_a_flood_of_session_tickets_is_no_way_past_the_time(tmp_path: Path, http_client: str) -> None:
    outcome = over(http_client, "session tickets of TLS without end", Outcome.TIMEOUT)
    limits = Limits(total_seconds=0.3 if outcome is Outcome.TIMEOUT else 5.0)
    with TicketFlood(AUTHORITY.server(tmp_path), tmp_path) as server:
        fetched = asked(server.port, limits)
    assert fetched.outcome is outcome
    assert fetched.error == (
        "not complete after 0.3 seconds"
        if outcome is Outcome.TIMEOUT
        else "the framing of TLS or HTTP/2 is larger than the response allows"
    )


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_pages_of_all_sizes_come_whole_over_one_connection(version: ssl.TLSVersion) -> None:
    context = as_site_test()
    context.minimum_version = context.maximum_version = version
    bodies = {f"/{size}": b"x" * size for size in (0, 1, 16_384, 65_536, 1_000_000)}
    site = {path: page(body) for path, body in bodies.items()} | {"/pieces": chunked(b"a" * 70_000, b"b")}
    with Server(site, tls=context) as server, HttpFetcher(EVERY_NAME, "Tester/1", trust=trusting_the_test) as fetcher:
        fetched = {path: fetcher.get(f"https://site.test:{server.port}{path}") for path in site}
    assert {path: fetched[path].body for path in bodies} == bodies
    assert fetched["/pieces"].body == b"a" * 70_000 + b"b"
    assert server.connections == 1


def test_a_long_message_is_sent_whole() -> None:
    body = bytes(range(256)) * 4000
    with (
        Server({"/": page()}, tls=as_site_test()) as server,
        HttpFetcher(EVERY_NAME, "Tester/1", trust=trusting_the_test) as fetcher,
    ):
        posted = fetcher.post(f"https://site.test:{server.port}/", body, {})
    assert (posted.http_status, server.bodies) == (200, [body])


def test_a_body_cut_short_is_not_taken_for_whole() -> None:
    reply = Reply(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 500\r\n\r\n<p>", Then.CLOSE)
    with (
        Server({"/": reply}, tls=as_site_test()) as server,
        HttpFetcher(EVERY_NAME, "Tester/1", trust=trusting_the_test) as fetcher,
    ):
        fetched = fetcher.get(f"https://site.test:{server.port}/")
    assert (fetched.outcome, fetched.error) == (Outcome.MALFORMED, "the connection ended before the body did")


def asked_of(serve: Callable[[ssl.SSLSocket], None]) -> FetchResult:
    """What comes of asking a server that does this once a request has arrived."""

    def run(listener: socket.socket) -> None:
        sock, _ = listener.accept()
        with contextlib.suppress(OSError), as_site_test().wrap_socket(sock, server_side=True) as secured:
            secured.recv(1000)
            serve(secured)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=run, args=(listener,))
        thread.start()
        with HttpFetcher(EVERY_NAME, "Tester/1", trust=trusting_the_test) as fetcher:
            fetched = fetcher.get(f"https://site.test:{listener.getsockname()[1]}/")
        thread.join()
    return fetched


@pytest.mark.parametrize("farewell", [True, False])
def test_a_server_that_leaves_before_it_answers(farewell: bool) -> None:
    def leave(secured: ssl.SSLSocket) -> None:
        if farewell:
            with contextlib.suppress(OSError):
                secured.unwrap()

    fetched = asked_of(leave)
    assert (fetched.outcome, fetched.error) == (Outcome.CONNECT, "the server closed the connection without a response")


def test_a_record_that_is_damaged_within_the_body_is_a_matter_of_tls_and_the_status_stays() -> None:
    def damage(secured: ssl.SSLSocket) -> None:
        secured.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 500\r\n\r\n<p>")
        with socket.socket(fileno=os.dup(secured.fileno())) as raw:
            raw.sendall(b"\x17\x03\x03\x00\x20" + bytes(32))  # says that it is of the page, and was sealed by nobody
        secured.recv(1000)  # until the visitor goes

    fetched = asked_of(damage)
    assert (fetched.outcome, fetched.http_status, fetched.body) == (Outcome.TLS, 200, b"")
