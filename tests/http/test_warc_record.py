"""Archived heads of an exchange, without the values of credentials."""

import pytest

from crawler.core.access.credentials import parse
from crawler.http.client import HttpFetcher
from crawler.http.warc_record import NOT_KEPT, ExchangeHeads
from tests.http.asking import LOOPBACK, ask
from tests.http.server import Reply, Server, page


def recorded(reply: Reply, **wishes: object) -> tuple[ExchangeHeads, Server]:
    with Server({"/a?b=1": reply}) as server, HttpFetcher(LOOPBACK, "Tester/1", records=True, **wishes) as fetcher:  # type: ignore[arg-type]
        fetched = fetcher.get(f"{server.origin}/a?b=1")
    assert fetched.recorded is not None
    return fetched.recorded, server


def test_the_request_is_told_as_it_was_sent() -> None:
    heads, server = recorded(page())
    told = [heads.request, *(f"{name}: {value}" for name, value in heads.request_headers)]
    assert told == server.requests[0].rstrip().splitlines()


def test_credentials_were_sent_and_are_not_kept() -> None:
    with Server({"/": page()}) as server:
        own, secrets = [server.origin], parse(auth="ann:secret", headers=["X-Key: hush"])
        with HttpFetcher(LOOPBACK, "Tester/1", records=True, credentials=secrets, own_hosts=own) as fetcher:
            heads = fetcher.get(f"{server.origin}/").recorded
    assert heads is not None
    kept = dict(heads.request_headers)
    assert "X-Key: hush" in server.requests[0]
    assert (kept["Authorization"], kept["X-Key"]) == (NOT_KEPT, NOT_KEPT)
    assert "hush" not in str(heads)


@pytest.mark.parametrize(
    ("head", "line"),
    [
        (b"HTTP/1.1 200 Very well\r\n", "HTTP/1.1 200 Very well"),
        (b"HTTP/1.0 200 OK\r\n", "HTTP/1.0 200 OK"),
        (b"HTTP/1.1 404\r\n", "HTTP/1.1 404 Not Found"),
        (b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 Then\r\n", "HTTP/1.1 200 Then"),
    ],
)
def test_the_status_line_is_told_as_it_was_written(head: bytes, line: str) -> None:
    heads, _ = recorded(Reply(head + b"Content-Type: text/html\r\nContent-Length: 0\r\nX-Name: caf\xc3\xa9\r\n\r\n"))
    assert heads.status_line == line
    assert heads.headers == (("Content-Type", "text/html"), ("Content-Length", "0"), ("X-Name", "café"))


def test_nothing_is_recorded_unless_it_is_asked_for() -> None:
    assert ask(page()).recorded is None
