"""Two crawls share real workers by their weights, and a small one does not wait for a large one."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import pytest

from tests.site import Reply, Request, Server, page
from tests.stack import Stack

WORKERS = 2
THINKING_S = 0.3  # about each page, so that the workers are what is scarce
LARGE, SMALL = 640, 10  # hosts with one page each: a batch is 32 of them


class EveryHost(Server):
    """The proxy of the installation, which answers in the place of every host."""

    def __init__(self) -> None:
        self.asked: list[str] = []  # URLs, in the order of the requests
        self._lock = threading.Lock()
        super().__init__()

    def answer(self, request: Request) -> Reply:
        with self._lock:
            self.asked.append(request.path)
        return Reply(page(), after=THINKING_S)

    def of(self, network: int) -> int:
        """How many pages of this network have been requested."""
        with self._lock:
            return sum(url.startswith(f"http://127.{network}.") for url in self.asked)


@contextmanager
def every_host(stack: Stack) -> Iterator[EveryHost]:
    """Workers take their batches one by one, as RQ's own do."""
    before = stack.env
    with EveryHost().serving() as hosts:
        stack.env = {**before, "CRAWLER_WORKER_BATCHES": "1", "CRAWLER_PROXY": hosts.url}
        try:
            yield hosts
        finally:
            stack.end()  # its workers, before the hosts are gone
            stack.env = before


def start(stack: Stack, network: int, hosts: int, weight: int = 5) -> UUID:
    urls = [f"http://127.{network}.{place // 250}.{place % 250 + 1}/" for place in range(hosts)]
    return stack.start(*urls, weight=weight, obey_robots=False)


@pytest.mark.long
def test_two_crawls_get_pages_in_proportion_to_their_weights(stack: Stack) -> None:
    with every_host(stack) as hosts:
        crawls = [start(stack, 1, LARGE, weight=1), start(stack, 2, LARGE, weight=3)]
        for _ in range(WORKERS):
            stack.start_worker()
        for crawl in crawls:
            stack.wait_until_finished(crawl, patience=180)
        asked = [url.split(".")[1] for url in hosts.asked]
    contested = asked[: len(asked) - asked[::-1].index("2")]  # until nothing of the heavy one was left to request
    light, heavy = contested.count("1"), contested.count("2")
    assert heavy == LARGE
    assert 1.8 < heavy / light < 4.8


@pytest.mark.long
def test_a_crawl_of_ten_pages_is_finished_long_before_a_large_one(stack: Stack) -> None:
    with every_host(stack) as hosts:
        large = start(stack, 1, LARGE)
        for _ in range(WORKERS):
            stack.start_worker()
        stack.wait_for(lambda: hosts.of(1) > LARGE // 20)
        small, before = start(stack, 2, SMALL), hosts.of(1)
        receipt = stack.wait_until_finished(small)
        meanwhile = hosts.of(1) - before
        state = stack.crawl(large)["state"]
    assert receipt["fetched"] == SMALL
    assert 0 < meanwhile < LARGE / 2
    assert state == "running"
