"""HTTP/2, over libcurl: the same facts, limits and credentials as in HTTP/1.1."""

from typing import Any

import pytest

from crawler.core.access.credentials import parse
from crawler.core.pages.outcomes import Outcome
from crawler.core.urls.addresses import Proxy
from crawler.http.client import HttpFetcher
from crawler.http.connector import Gateway
from crawler.http.fetcher import Limits
from crawler.http.guard import Guard
from tests.http.asking import gzipped
from tests.http.http2 import Answer, Server, of_bytes
from tests.http.proxy import ProxyServer
from tests.http.secure import EVERY_NAME, as_site_test, trusting_the_test
from tests.http.server import Server as Server1
from tests.http.server import page

OK = ((":status", "200"), ("content-type", "text/html"))
PING, SETTINGS, DATA, UNKNOWN = 6, 4, 0, 0xBB


@pytest.fixture(autouse=True)
def over_libcurl(settings: Any, http_client: str) -> None:
    settings.CRAWLER_HTTP_CLIENT = "curl"


def asking(limits: Limits | None = None, **more: Any) -> HttpFetcher:
    return HttpFetcher(EVERY_NAME, "Tester/1", limits, trust=trusting_the_test, **more)


def test_a_page_comes_with_its_facts() -> None:
    headers = (*OK, ("content-length", "8"), ("etag", '"a"'), ("x-robots-tag", "noindex"), ("x-robots-tag", "none"))
    with Server({"/a?b": Answer(headers)}, as_site_test()) as server, asking(records=True) as fetcher:
        fetched = fetcher.get(f"https://site.test:{server.port}/a?b")
    assert server.protocols == ["h2"]
    assert (fetched.outcome, fetched.body, fetched.etag, fetched.requests) == (Outcome.SUCCESS, b"<p>hello", '"a"', 1)
    assert fetched.robots_tags == ("noindex", "none")
    assert fetched.headers.splitlines()[0] == "content-type: text/html"
    assert fetched.recorded is not None
    assert fetched.recorded.status_line == "HTTP/1.1 200 OK"
    assert fetched.recorded.request == "GET /a?b HTTP/1.1"


def test_the_request_is_that_of_http_1() -> None:
    with Server({"/100%/a%20b//c|d?q=%zz": Answer()}, as_site_test()) as server, asking() as fetcher:
        fetcher.get(f"https://site.test:{server.port}/100%/a%20b//c|d?q=%zz")
    sent = dict(server.requests[0])
    assert (sent[":method"], sent[":path"]) == ("GET", "/100%/a%20b//c|d?q=%zz")
    assert sent[":authority"] == f"site.test:{server.port}"
    assert (sent["user-agent"], sent["accept-encoding"]) == ("Tester/1", "gzip, deflate, br, zstd")


@pytest.mark.parametrize(
    "answer",
    [
        Answer(),  # without a length
        Answer((*OK, ("content-length", "8"))),
        Answer((*OK, ("content-encoding", "gzip")), gzipped(b"<p>hello")),
        Answer(interim=((":status", "103"), ("link", "</a.css>"))),
        Answer(trailers=(("x-checksum", "1"),)),
        Answer(body=b"<p>" + b"x" * 50_000),
    ],
)
def test_pages_of_all_kinds_come_over_one_connection(answer: Answer) -> None:
    site = {"/": answer, "/none": Answer(((":status", "204"),), b""), "/moved": Answer(((":status", "301"),), b"")}
    with Server(site, as_site_test()) as server, asking() as fetcher:
        fetched = [fetcher.get(f"https://site.test:{server.port}{path}") for path in ("/", "/none", "/", "/moved", "/")]
        head = fetcher.head(f"https://site.test:{server.port}/")
    whole = b"<p>hello" if "content-encoding" in dict(answer.headers) else answer.body
    assert [one.http_status for one in (*fetched, head)] == [200, 204, 200, 301, 200, 200]
    assert [fetched[number].body for number in (0, 2, 4)] == [whole] * 3
    assert "x-checksum" not in fetched[0].headers
    assert server.connections == 1


def test_a_page_goes_through_a_tunnel() -> None:
    with Server({"/": Answer()}, as_site_test()) as server, ProxyServer() as proxy:
        gateway = Gateway(Proxy("127.0.0.1", proxy.port), Guard(("*",)))
        with asking(gateway=gateway) as fetcher:
            fetched = fetcher.get(f"https://site.test:{server.port}/")
    assert (fetched.body, server.protocols) == (b"<p>hello", ["h2"])


def test_credentials_go_to_their_host_only() -> None:
    with Server({"/": Answer()}, as_site_test()) as server:
        own = (f"https://site.test:{server.port}",)
        with asking(credentials=parse(bearer="abc"), own_hosts=own) as fetcher:
            fetcher.get(f"https://site.test:{server.port}/")
            fetcher.get(f"https://site.test:{server.port}/", anonymous=True)
    assert ["authorization" in dict(headers) for headers in server.requests] == [True, False]


@pytest.mark.parametrize("answer", [Answer(goes=True), Answer(goes_late=True)], ids=["before", "while"])
def test_a_kept_connection_that_is_closed_before_or_while_it_is_used_is_replaced(answer: Answer) -> None:
    with Server({"/": answer}, as_site_test()) as server, asking() as fetcher:
        fetched = [fetcher.get(f"https://site.test:{server.port}/") for _ in range(3)]
    assert [one.body for one in fetched] == [b"<p>hello"] * 3


def test_a_body_cut_short_is_not_taken_for_whole() -> None:
    """It has no length, and in HTTP/1.1 its end would be that of the connection."""
    with Server({"/": Answer(body=b"<p>", ends=False, goes=True)}, as_site_test()) as server, asking() as fetcher:
        fetched = fetcher.get(f"https://site.test:{server.port}/")
    assert (fetched.outcome, fetched.http_status, fetched.body) == (Outcome.MALFORMED, 200, b"")
    assert fetched.error == "the connection ended before the body did"


def test_a_body_beyond_the_limit() -> None:
    with Server({"/": Answer(body=b"x" * 5000)}, as_site_test()) as server:
        with asking(Limits(max_body_bytes=1000)) as fetcher:
            fetched = fetcher.get(f"https://site.test:{server.port}/")
        with asking(Limits(max_body_bytes=1000)) as fetcher:
            cut = fetcher.get(f"https://site.test:{server.port}/", truncate_at=10)
    assert (fetched.outcome, cut.body) == (Outcome.TOO_LARGE, b"x" * 10)


@pytest.mark.parametrize(
    "headers",
    [
        (*OK, *((f"x-{number}", "y") for number in range(200))),
        (*OK, *((f"x-{number}", "y" * 9_000) for number in range(8))),
    ],
)
def test_headers_beyond_the_limit(headers: tuple[tuple[str, str], ...]) -> None:
    with Server({"/": Answer(headers)}, as_site_test()) as server, asking() as fetcher:
        fetched = fetcher.get(f"https://site.test:{server.port}/")
    assert (fetched.outcome, fetched.http_status) == (Outcome.TOO_LARGE, None)


@pytest.mark.parametrize(
    "frames",
    [
        of_bytes(PING, 0, 0, bytes(8)) * 1000,
        of_bytes(PING, 1, 0, bytes(8)) * 1000,  # answers to what was not asked
        of_bytes(SETTINGS, 0, 0, b"") * 1000,
        of_bytes(SETTINGS, 1, 0, b"") * 1000,
        of_bytes(UNKNOWN, 0, 0, bytes(16_000)),
        of_bytes(DATA, 0, int.from_bytes(b"STRM", "big"), b"") * 1000,  # empty pieces of the body
        of_bytes(DATA, 8, int.from_bytes(b"STRM", "big"), b"\xfe" + bytes(254)) * 100,  # nothing but padding
        of_bytes(8, 0, 0, b"\0\0\0\1") * 1000,  # more room for what nobody sends
    ],
    ids=["ping", "pong", "settings", "acknowledged", "unknown", "empty", "padding", "window"],
)
def test_frames_without_end_are_not_read_for_ever(frames: bytes) -> None:
    with Server({"/": Answer(body=b"<p>", ends=False, frames=frames)}, as_site_test()) as server, asking() as fetcher:
        fetched = fetcher.get(f"https://site.test:{server.port}/")
    assert fetched.outcome in (Outcome.TOO_LARGE, Outcome.MALFORMED, Outcome.CONNECT)
    assert fetched.error
    assert fetched.elapsed_ms < 5000


def test_a_server_that_has_no_http_2_is_asked_in_http_1() -> None:
    with Server1({"/": page("<p>one")}, tls=as_site_test()) as server, asking() as fetcher:
        assert fetcher.get(f"https://site.test:{server.port}/").body == b"<p>one"
    assert server.requests[0].startswith("GET / HTTP/1.1")
