"""Real workers find how many connections a host bears, over all crawls, and say so."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from tests.site import Reply, Request, Site, page
from tests.stack import Stack


class BusySite(Site):
    """Takes `seconds` for each page, and answers 503 to those beyond `most` at a time."""

    def __init__(self, paths: Sequence[str], seconds: float, most: int = 99) -> None:
        super().__init__({"/": page(*paths), **{path: page() for path in paths}})
        self._seconds, self._most = seconds, most
        self._busy, self.peak, self.refused = 0, 0, 0
        self._counting = threading.Lock()

    def answer(self, request: Request) -> Reply:
        with self._counted() as busy:
            reply = super().answer(request)
            if busy > self._most:
                self.refused += 1
                return Reply(status=503)
            threading.Event().wait(self._seconds)
            return reply

    @contextmanager
    def _counted(self) -> Iterator[int]:
        with self._counting:
            self._busy += 1
            self.peak = max(self.peak, self._busy)
            busy = self._busy
        try:
            yield busy
        finally:
            with self._counting:
                self._busy -= 1


def numbered(pages: int, folder: str = "") -> list[str]:
    return [f"{folder}/{number}" for number in range(pages)]


@pytest.mark.long
def test_a_host_that_refuses_what_is_too_much_is_asked_for_less_and_loses_nothing(stack: Stack) -> None:
    with BusySite(numbered(60), seconds=0.15, most=2).serving() as site:
        stack.start_worker()
        receipt = stack.wait_until_finished(stack.start(f"{site.url}/", obey_robots=False))
    assert (receipt["fetched"], receipt["failed"]) == (61, 0)
    assert site.refused <= 0.2 * len(site.requests)
    (slowed,) = receipt["slowed"]
    assert (slowed["host"], slowed["of"], slowed["status"]) == (site.host, 4, 503)
    assert slowed["connections"] <= 2


@pytest.mark.long
def test_two_crawls_of_a_slow_host_get_about_as_much_of_it(stack: Stack) -> None:
    paths = [*numbered(80, "/a"), *numbered(80, "/b")]
    with BusySite(paths, seconds=0.3).serving() as site:
        site.pages |= {"/a": page(*numbered(80, "/a")), "/b": page(*numbered(80, "/b"))}
        for _ in range(2):
            stack.start_worker()
        crawls = [stack.start(f"{site.url}/{name}") for name in ("a", "b")]
        for crawl in crawls:
            stack.wait_until_finished(crawl)
        asked = [path for path in (request.path for request in site.requests) if path[:2] in ("/a", "/b")]
    assert site.peak == 4
    first_over = min(max(at for at, path in enumerate(asked) if path.startswith(f"/{name}")) for name in "ab")
    shares = [sum(path.startswith(f"/{name}") for path in asked[:first_over]) for name in "ab"]
    assert min(shares) >= 0.5 * max(shares)
