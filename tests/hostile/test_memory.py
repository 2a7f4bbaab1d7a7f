"""Hosts that send as much as they may, all at the same moment, do not fill a worker."""

import gzip
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from django.conf import settings

from tests.hostile.saying import MB, page
from tests.hostile.server import Play, Server
from tests.hostile.test_traps import peak_of
from tests.stack import OWN_WORKER, Stack

SIZE = 9 * MB  # below the usual limit on bodies


def _filled(piece: str) -> bytes:
    one = piece.encode()
    return (one * (SIZE // len(one) + 1))[:SIZE]


def _of_links() -> bytes:
    return b"".join(b"<a href=/%d>page %d</a>\n" % (number, number) for number in range(SIZE // 28))[:SIZE]


BODIES: dict[str, Callable[[], bytes]] = {
    "a text of four bytes a character": lambda: _filled("words and words ")[:-4] + "\U0001f600".encode(),
    "a text that doubles in UTF-8": lambda: b"<p>" + b"\xe9" * SIZE,
    "meta elements": partial(_filled, "<meta name=description content=words>"),
    "links": _of_links,
}
PAGES = 2  # of each
OPTIONS = {"near_duplicates": True, "keep": ["warc"], "recursive": False, "concurrency": 8, "throttle": False}


@dataclass
class Crawled:
    """What came of it."""

    outcomes: Counter[str]
    peak: float  # MB of the worker


def crawled(folder: Path, redis_url: str) -> Crawled:
    """Each kind of body on a host of its own."""
    with Server({f"127.0.0.{20 + number}": _site(body()) for number, body in enumerate(BODIES.values())}) as server:
        stack = Stack(folder, redis_url, CRAWLER_WORKER_MB="10000")  # it is not to begin anew
        stack.redis.flushall()
        try:
            worker = stack.spawn(*OWN_WORKER)
            urls = [f"http://{address}/{page}" for address in server.addresses for page in range(PAGES)]
            crawl = stack.start(*urls, **OPTIONS)
            stack.wait_until_finished(crawl)
            outcomes = Counter(row["outcome"] for row in stack.pages(crawl).values())
            return Crawled(outcomes, peak_of(worker.pid))
        finally:
            stack.end()


def _site(body: bytes) -> dict[str, Play]:
    packed = page(gzip.compress(body, 1), "Content-Encoding: gzip")
    return {"/robots.txt": page("", status="404 Not Found"), **{f"/{number}": packed for number in range(PAGES)}}


@pytest.mark.long
def test_it_needs_no_more_than_it_may_have(tmp_path: Path, redis_url: str) -> None:
    found = crawled(tmp_path, redis_url)
    assert found.outcomes == {"2xx": PAGES * len(BODIES)}
    assert 0 < found.peak < settings.CRAWLER_WORKER_MB
