"""HEAD requests."""

from crawler.core.pages.outcomes import Outcome
from crawler.http.client import HttpFetcher
from crawler.http.guard import Guard
from tests.http.server import Server, page

LOOPBACK = Guard(("127.0.0.1",))

HEADS = {
    "/length": page(b"", content_length="100000"),
    "/chunked": page(b"", content_length="", transfer_encoding="chunked"),
    "/gzip": page(b"", content_length="50", content_encoding="gzip"),
    "/neither": page(b"", content_length=""),
    "/moved": page(b"", "301 Moved", content_length="30", location="/length"),
    "/missing": page(b"", "404 Not Found", content_length="30"),
}


def test_it_gives_the_facts_without_a_body() -> None:
    site = {"/": page(b"", content_length="100000", etag='"a"')}
    with Server(site) as server, HttpFetcher(LOOPBACK, "Tester/1") as fetcher:
        fetched = fetcher.head(f"{server.origin}/")
    assert (fetched.outcome, fetched.http_status, fetched.body) == (Outcome.SUCCESS, 200, b"")
    assert (fetched.content_type, fetched.etag, fetched.requests) == ("text/html", '"a"', 1)
    assert server.requests[0].startswith("HEAD / HTTP/1.1")


def test_one_connection_serves_many_heads() -> None:
    with Server(HEADS) as server, HttpFetcher(LOOPBACK, "Tester/1") as fetcher:
        fetched = [fetcher.head(server.origin + path) for path in (*HEADS, *HEADS)]
    assert [one.http_status for one in fetched] == [200, 200, 200, 200, 301, 404] * 2
    assert fetched[4].location == "/length"
    assert not any(one.error for one in fetched)
    assert server.connections == 1


def test_a_body_that_comes_all_the_same_is_not_taken_for_the_next_answer() -> None:
    site = {"/a": page("<p>not asked for"), "/b": page("<p>b")}
    with Server(site) as server, HttpFetcher(LOOPBACK, "Tester/1") as fetcher:
        head, after = fetcher.head(f"{server.origin}/a"), fetcher.get(f"{server.origin}/b")
    assert (head.http_status, after.body) == (200, b"<p>b")
