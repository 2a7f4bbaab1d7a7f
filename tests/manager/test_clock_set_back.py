"""Another Redis takes over whose clock is behind: nothing waits for moments that were written before."""

import time

import pytest

from crawler import clock
from crawler.crawls import reconcile
from crawler.frontier.frontier import Frontier
from crawler.queueing import queues
from tests.bench import Bench
from tests.site import page
from tests.stack import PATIENCE

BACK_S = 7200.0  # further than a call can come late, see `late_call.lua`: the clock of the real Redis goes on


class RedisClock:
    """Goes on by itself; `back` is by how many seconds it was set back, `known_back` what a process knows of that."""

    def __init__(self) -> None:
        self.back = self.known_back = 0.0

    def set_back(self) -> None:
        self.back = self.known_back = BACK_S

    def epoch_seconds(self) -> float:
        return time.time() - self.known_back

    def read(self) -> None:
        self.known_back = self.back


@pytest.fixture
def redis_clock(monkeypatch: pytest.MonkeyPatch) -> RedisClock:
    redis_clock = RedisClock()
    monkeypatch.setattr(clock, "shared", redis_clock)
    return redis_clock


def dead_worker(bench: Bench) -> None:
    """A worker claims what was handed out and dies; RQ has lost the jobs."""
    for batch in bench.batches():
        assert frontier_of(bench).leases.claim(batch.id, batch.token, clock.epoch_seconds())


def frontier_of(bench: Bench) -> Frontier:
    return Frontier(queues.connection(), str(bench.crawl.id))


def looked_at(bench: Bench) -> None:
    reconcile.scan()
    bench.work()


@pytest.mark.site({"/": page("/a"), "/a": page()})
def test_the_lease_of_a_dead_worker_does_not_outlive_its_time_by_as_much(bench: Bench, redis_clock: RedisClock) -> None:
    bench.start()
    bench.work("crawl")
    dead_worker(bench)
    redis_clock.set_back()
    looked_at(bench)
    assert bench.state() == "finished"
    assert bench.crawl.retries == 0  # and nobody is taken for dead by it


@pytest.mark.site({"/": page("/a"), "/a": page()})
def test_a_tick_that_rq_lost_is_sent_again(bench: Bench, redis_clock: RedisClock) -> None:
    bench.start()
    queues.connection().delete("rq:queue:crawl", "rq:queue:fetch")
    redis_clock.set_back()
    looked_at(bench)
    assert bench.state() == "finished"


@pytest.mark.long
@pytest.mark.site({"/": page("/a", "/b"), "/a": page(), "/b": page()})
def test_a_host_that_is_asked_seldom_does_not_rest_for_as_long(bench: Bench, redis_clock: RedisClock) -> None:
    bench.start(delay=1.0)
    bench.work(at_most=2)  # the first page was asked for
    redis_clock.set_back()
    until = time.monotonic() + PATIENCE
    while bench.state() != "finished" and time.monotonic() < until:
        looked_at(bench)
    assert bench.state() == "finished"


@pytest.mark.site({"/": page("/a"), "/a": page()})
def test_a_process_that_stood_still_asks_again_before_it_believes_so(bench: Bench, redis_clock: RedisClock) -> None:
    bench.start()
    bench.work("crawl")
    leases = frontier_of(bench).leases.outstanding()
    redis_clock.known_back = BACK_S
    reconcile.scan()
    bench.work("crawl")
    assert frontier_of(bench).leases.outstanding() == leases
