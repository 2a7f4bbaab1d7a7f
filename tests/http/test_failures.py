"""Network failures are outcomes with a reason, never exceptions."""

import socket
from typing import Any

import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.http.client import HttpFetcher
from crawler.http.guard import Guard
from tests.http.asking import LOOPBACK, ask, gzipped
from tests.http.differences import over
from tests.http.secure import EVERY_NAME, as_site_test, trusting_the_test
from tests.http.server import Reply, Server, Then, hanging_up, page


def test_a_refused_connection_is_told_from_a_missing_name() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with HttpFetcher(LOOPBACK, "Tester/1") as fetcher:
        fetched = fetcher.get(f"http://127.0.0.1:{port}/")
    assert (fetched.outcome, fetched.http_status, fetched.requests) == (Outcome.CONNECT, None, 0)
    assert "refused" in fetched.error


def test_a_name_that_does_not_resolve() -> None:
    def nowhere(*args: Any, **kwargs: Any) -> list[tuple[Any, ...]]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with HttpFetcher(Guard(resolver=nowhere), "Tester/1") as fetcher:
        fetched = fetcher.get("http://missing.test/")
    assert fetched.outcome is Outcome.DNS
    assert fetched.error == "the host name missing.test does not resolve: Name or service not known"


@pytest.mark.parametrize("host", [f"{'a' * 70}.test", ".", "..", "a..b", ".a", "a.."])
def test_a_label_no_name_server_takes(host: str) -> None:
    with HttpFetcher(Guard(), "Tester/1") as fetcher:
        assert fetcher.get(f"http://{host}/").outcome is Outcome.DNS


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "http://", "nonsense", "http://a b/", "http://127.0.0.1:99999/"])
def test_what_is_no_web_address_is_not_asked(url: str) -> None:
    with HttpFetcher(LOOPBACK, "Tester/1") as fetcher:
        assert fetcher.get(url).outcome is Outcome.MALFORMED


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(b"", Then.CLOSE), Outcome.CONNECT),  # not a byte
        (Reply(b"", Then.RESET), Outcome.CONNECT),
        (Reply(HEAD + b"Content-Length: 500\r\n\r\n<p>", Then.RESET), Outcome.CONNECT),  # reset half-way
        (Reply(HEAD + b"Content-Length: 500\r\n\r\n<p>", Then.CLOSE), Outcome.MALFORMED),  # shorter than announced
        (Reply(b"220 mail.test ESMTP\r\n", Then.CLOSE), Outcome.MALFORMED),  # not HTTP
        (Reply(b"\x15\x03\x01\x00\x02\x02\x46", Then.CLOSE), Outcome.MALFORMED),  # TLS where none was asked for
        (Reply(b"HTTP/1.1\r\n\r\n", Then.CLOSE), Outcome.MALFORMED),  # no status
        (Reply(b"HTTP/1.1 abc OK\r\n\r\n", Then.CLOSE), Outcome.MALFORMED),
        (Reply(b"HTTP/1.1 -20 OK\r\n\r\n", Then.CLOSE), Outcome.MALFORMED),
        (Reply(b"HTTP/2.0 200 OK\r\n\r\n", Then.CLOSE), Outcome.MALFORMED),
        (Reply(b"\n" * 100, Then.CLOSE), Outcome.MALFORMED),
        (Reply(HEAD + b"Content-Length: 3\r\nContent-Length: 5\r\n\r\n<p>"), Outcome.MALFORMED),
        (Reply(HEAD + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", Then.CLOSE), Outcome.MALFORMED),
        (Reply(HEAD + b"Transfer-Encoding: chunked\r\n\r\n-5\r\n<p>", Then.CLOSE), Outcome.MALFORMED),
        (Reply(HEAD + b"Transfer-Encoding: chunked\r\n\r\n9\r\n<p>", Then.CLOSE), Outcome.MALFORMED),
        (Reply(HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), Outcome.MALFORMED),
        (Reply(HEAD + b"Transfer-Encoding: chunked \r\n\r\n0\r\n\r\n", Then.CLOSE), Outcome.MALFORMED),
        (page("<p>", content_encoding="gzip"), Outcome.MALFORMED),  # says gzip and is not
        (page(gzipped(b"<p>hello")[:-9], content_encoding="gzip"), Outcome.MALFORMED),
        (page("<p>", content_encoding="br"), Outcome.MALFORMED),  # not asked for
        (page("<p>", content_encoding="gzip, gzip"), Outcome.MALFORMED),
        (page(gzipped(gzipped(b"<p>")), content_encoding="gzip\r\nContent-Encoding: gzip"), Outcome.MALFORMED),
    ],
)
def test_bad_answers_are_outcomes(reply: Reply, outcome: Outcome) -> None:
    fetched = ask(reply)
    assert fetched.outcome is outcome
    assert fetched.body == b""
    assert fetched.error
    assert fetched.error.isprintable()
    assert len(fetched.error) <= 300


PART_OF_A_LINE = b"HTTP/1.1 200 O"
STAGES = [
    (b"", None, "before a response arrived"),
    (PART_OF_A_LINE, None, "within the headers"),
    (HEAD, None, "within the headers"),
    (HEAD + b"Content-Length: 500\r\n\r\n<p>", 200, "within the body"),
    (HEAD + b"Transfer-Encoding: chunked\r\n\r\n9\r\n<p>", 200, "within the body"),
    (HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\n<p>\r\n", 200, "within the body"),  # between chunks
    (HEAD + b"\r\n<p>", 200, "within the body"),  # one that ends with the connection
]


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(("sent", "status", "stage"), STAGES)
def test_a_connection_that_is_reset_says_how_far_it_came(
    sent: bytes, status: int, stage: str, scheme: str, http_client: str
) -> None:
    if sent == PART_OF_A_LINE and http_client == "curl":
        stage = "before a response arrived"  # see `DIFFERENCES`
    tls = as_site_test() if scheme == "https" else None
    with (
        Server({"/": Reply(sent, Then.RESET)}, tls=tls) as server,
        HttpFetcher(EVERY_NAME, "Tester/1", trust=trusting_the_test) as fetcher,
    ):
        fetched = fetcher.get(f"{scheme}://site.test:{server.port}/")
    assert (fetched.outcome, fetched.http_status, fetched.body) == (Outcome.CONNECT, status, b"")
    assert fetched.error == f"the connection broke {stage}: Connection reset by peer"


@pytest.mark.parametrize(
    ("then", "said"),
    [
        (Then.RESET, "the connection broke during the TLS handshake: Connection reset by peer"),
        (Then.CLOSE, "the server closed the connection during the TLS handshake"),
    ],
)
def test_a_handshake_that_is_broken_off_is_no_matter_of_trust(then: Then, said: str) -> None:
    with hanging_up(then) as port, HttpFetcher(EVERY_NAME, "Tester/1") as fetcher:
        fetched = fetcher.get(f"https://site.test:{port}/")
    assert (fetched.outcome, fetched.requests, fetched.error) == (Outcome.CONNECT, 0, said)


def test_the_status_is_kept_when_the_body_breaks() -> None:
    assert ask(Reply(HEAD + b"Content-Length: 500\r\n\r\n<p>", Then.CLOSE)).http_status == 200


def test_odd_headers_do_not_hide_the_page(http_client: str) -> None:
    odd = b": nameless\r\nX-Bytes: \xff\xfe\x01\r\n folded: yes\r\n"
    assert ask(Reply(HEAD + b"Content-Length: 3\r\n" + odd + b"\r\n<p>")).body == b"<p>"
    fetched = ask(Reply(HEAD + b"Content-Length: 3\r\nno colon here\r\n" + odd + b"\r\n<p>"))
    assert fetched.outcome is over(http_client, "a header line without a colon", Outcome.SUCCESS)
    assert fetched.body == (b"<p>" if fetched.outcome is Outcome.SUCCESS else b"")


def test_a_mistake_of_ours_is_not_taken_for_the_servers() -> None:
    def broken(media_type: str) -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ask(page(), wants=broken)
