"""Helpers that send one request, or several in a row, to a test server."""

import gzip
from typing import Any

from crawler.http.client import HttpFetcher
from crawler.http.fetcher import FetchResult, Limits
from crawler.http.guard import Guard
from tests.http.server import Reply, Server, Site

LOOPBACK = Guard(("127.0.0.1",))
SHORT = Limits(total_seconds=0.25)
SMALL = Limits(max_body_bytes=1000)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def gzipped(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)  # the same bytes each time, so that a test keeps its name


def ask(reply: Reply, limits: Limits | None = None, **wishes: Any) -> FetchResult:
    """What the fetcher makes of a site whose only page is this reply."""
    with Server({"/": reply}) as server, HttpFetcher(LOOPBACK, "Tester/1", limits) as fetcher:
        return fetcher.get(f"{server.origin}/", **wishes)


def ask_each(site: Site, *paths: str, limits: Limits | None = None) -> tuple[list[FetchResult], Server]:
    with Server(site) as server, HttpFetcher(LOOPBACK, "Tester/1", limits) as fetcher:
        return [fetcher.get(server.origin + path) for path in paths], server
