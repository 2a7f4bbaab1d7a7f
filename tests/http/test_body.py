"""Which bodies are read, how they are decoded, and where they are truncated."""

import sys
import tracemalloc
import zlib
from collections.abc import Callable
from functools import partial

import brotli
import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.http.client import HttpFetcher
from crawler.http.fetcher import MIB, Limits, anything
from tests.http.asking import HEAD, LOOPBACK, SMALL, ask, ask_each, gzipped
from tests.http.differences import over
from tests.http.server import Reply, Server, Then, chunked, page

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


@pytest.mark.parametrize("content_type", ["text/html", "application/xhtml+xml", "TEXT/HTML;charset=x"])
def test_html_is_read(content_type: str) -> None:
    assert ask(page("<p>", content_type=content_type)).body == b"<p>"


@pytest.mark.parametrize("content_type", ["text/plain", "application/pdf", "image/svg+xml", "text/html+x"])
def test_nothing_else_is_kept(content_type: str) -> None:
    fetched = ask(page("<p>", content_type=content_type))
    assert (fetched.outcome, fetched.body) == (Outcome.SUCCESS, b"")


def test_the_caller_may_want_more() -> None:
    assert ask(page("text", content_type="text/plain"), wants=anything).body == b"text"


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        (b"<p>", True),
        (b" \r\n\t<p>", True),
        (b"\xef\xbb\xbf<p>", True),  # byte order mark
        ("\ufeff<p>".encode("utf-16-le"), True),
        (b"%PDF-1.7", False),
        (b"plain", False),
        (b" " * 5000 + b"<p>", False),  # nobody looks that far
        (b"", False),
    ],
)
@pytest.mark.parametrize("content_type", ["", "nonsense"])
def test_without_a_media_type_the_body_decides(body: bytes, kept: bool, content_type: str) -> None:
    fetched = ask(page(body, content_type=content_type))
    assert fetched.outcome is Outcome.SUCCESS
    assert fetched.body == (body if kept else b"")
    assert fetched.content_type == ""


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzipped(b"<p>hello")),
        ("x-gzip", gzipped(b"<p>hello")),
        ("GZIP", gzipped(b"<p>") + gzipped(b"hello")),
        ("deflate", zlib.compress(b"<p>hello")),
        ("identity", b"<p>hello"),
    ],
)
def test_an_encoded_body_is_decoded(encoding: str, body: bytes) -> None:
    fetched = ask(page(body, content_encoding=encoding))
    assert fetched.body == b"<p>hello"
    assert fetched.bytes_read == len(body)


def test_chunks_are_joined() -> None:
    assert ask(chunked(b"<p>", b"hel", b"lo")).body == b"<p>hello"


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    assert ask(page("<p>hello", then=Then.CLOSE, content_length="")).body == b"<p>hello"


def test_http_1_0_is_understood() -> None:
    assert ask(Reply(b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<p>", Then.CLOSE)).body == b"<p>"


def test_a_longer_body_can_be_cut() -> None:
    fetched = ask(page("x" * 5000), SMALL, truncate_at=10)
    assert (fetched.outcome, fetched.body) == (Outcome.SUCCESS, b"x" * 10)


def test_interim_responses_are_skipped() -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
    interim = b"HTTP/1.1 100 Continue\r\n\r\n" + hints + b"HTTP/1.1 102 Processing\r\n\r\n" + hints
    fetched, after = ask_each({"/": Reply(interim + page("<p>a").data), "/b": page("<p>b")}, "/", "/b")[0]
    assert (fetched.http_status, fetched.body) == (200, b"<p>a")
    assert after.body == b"<p>b"


@pytest.mark.parametrize(
    ("header", "seconds"), [("120", 120.0), ("Thu, 01 Jan 1970 00:02:00 GMT", 20.0), ("soon", None)]
)
def test_it_says_how_long_the_server_asked_us_to_wait(header: str, seconds: float | None) -> None:
    with (
        Server({"/": page("", "503 Busy", retry_after=header)}) as server,
        HttpFetcher(LOOPBACK, "Tester/1", now=lambda: 100.0) as fetcher,
    ):
        assert fetcher.get(f"{server.origin}/").retry_after == seconds


def test_it_hands_on_every_word_to_crawlers() -> None:
    head = "HTTP/1.1 404 Not Found\r\nX-Robots-Tag: noindex\r\nx-robots-tag: bot: é, none\r\nContent-Length: 0\r\n\r\n"
    assert ask(Reply(head.encode())).robots_tags == ("noindex", "bot: é, none")
    assert ask(page()).robots_tags == ()


@pytest.mark.parametrize(
    "reply",
    [
        page("x" * 1001),  # says so
        chunked(*[b"x" * 100] * 11),  # does not say so
        page("x" * 1001, then=Then.CLOSE, content_length=""),
        page(gzipped(b"x" * 1001), content_encoding="gzip"),  # small only on the wire
        page(zlib.compress(b"x" * 1001), content_encoding="deflate"),
        page(gzipped(b"") * 100, content_encoding="gzip"),  # large only on the wire
    ],
)
def test_a_body_beyond_the_limit(reply: Reply) -> None:
    fetched = ask(reply, SMALL)
    assert (fetched.outcome, fetched.http_status, fetched.body) == (Outcome.TOO_LARGE, 200, b"")
    assert "1000" in fetched.error


@pytest.mark.parametrize("reply", [page("x" * 1000), page(gzipped(b"x" * 1000), content_encoding="gzip")])
def test_a_body_at_the_limit(reply: Reply) -> None:
    assert ask(reply, SMALL).body == b"x" * 1000


def test_an_endless_body_is_cut_off() -> None:
    reply = Reply(HEAD + b"\r\n", Then.DRIP, b"x" * 50_000)
    assert ask(reply, Limits(max_body_bytes=100_000)).outcome is Outcome.TOO_LARGE


@pytest.mark.parametrize(
    ("encoding", "squeezed"),
    [
        ("gzip", gzipped),
        ("deflate", zlib.compress),
        ("br", partial(brotli.compress, quality=5)),
        ("zstd", zstd.compress),
    ],
)
def test_a_compressed_bomb_is_never_unpacked(encoding: str, squeezed: Callable[[bytes], bytes]) -> None:
    bomb, limits = page(squeezed(bytes(32 * MIB)), content_encoding=encoding), Limits(max_body_bytes=MIB)
    tracemalloc.start()
    try:
        fetched = ask(bomb, limits)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert fetched.outcome is Outcome.TOO_LARGE
    assert most < 2 * MIB


INTERIM = b"HTTP/1.1 103 Early Hints\r\n"


@pytest.mark.parametrize(
    "headers",
    [
        b"X: y\r\n" * 200,  # too many
        b"X: " + b"y" * 70_000 + b"\r\n",  # too long a line
        (b"X: " + b"y" * 30_000 + b"\r\n") * 3,  # too much together
        INTERIM + (INTERIM + b"X: " + b"y" * 5_000 + b"\r\n\r\n") * 20,  # in interim responses, one begun twice
        (INTERIM + b"X: " + b"y" * 5_000 + b"\r\n\r\n") * 20,
    ],
)
def test_headers_beyond_the_limit(headers: bytes, http_client: str) -> None:
    status = b"" if headers.startswith(INTERIM) else b"HTTP/1.1 200 OK\r\n"
    fetched = ask(Reply(status + headers + b"\r\n<p>", Then.CLOSE))
    is_odd = headers.startswith(INTERIM * 2)
    case = "a header line without a colon and no end"
    outcome = over(http_client, case, Outcome.TOO_LARGE) if is_odd else Outcome.TOO_LARGE
    assert (fetched.outcome, fetched.http_status) == (outcome, None)
