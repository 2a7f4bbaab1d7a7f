"""A fetch job with idle connections is woken by the jobs that are sent."""

import time
from collections.abc import Iterator

import pytest

from crawler.fetcher.job_signal import JobSignal
from crawler.http.errors import RequestAborted
from crawler.http.event_loop import EventLoop
from crawler.queueing import queues

PATIENCE_S = 20.0  # the list is polled by nobody: without a signal nothing comes


@pytest.fixture
def loop() -> Iterator[EventLoop]:
    with EventLoop() as made:
        yield made


def listening(loop: EventLoop) -> tuple[JobSignal, list[float]]:
    """A signal that has begun, and when it came."""
    queues.connection().delete(queues.BUSY_SIGNAL)
    came: list[float] = []
    signal = JobSignal(loop, lambda: came.append(time.monotonic()))
    signal.begin()
    while not blocked():
        loop.run(0.01)
    return signal, came


def blocked() -> int:
    return int(queues.connection().info("clients")["blocked_clients"])


def test_it_is_called_for_each_job_that_is_sent(loop: EventLoop) -> None:
    _, came = listening(loop)
    for times in (1, 2):
        with queues.connection().pipeline() as pipe:
            queues.send_tick(pipe, "a-crawl", "example.com", queues.new_id("manage"))
            pipe.execute()
        until = time.monotonic() + PATIENCE_S
        while len(came) < times:
            assert time.monotonic() < until
            loop.run(PATIENCE_S)


def test_it_begins_once(loop: EventLoop) -> None:
    signal, _ = listening(loop)
    signal.begin()
    loop.run(0.01)
    assert blocked() == 1


def test_its_connection_ends_with_the_loop() -> None:
    with EventLoop() as loop:
        listening(loop)
    until = time.monotonic() + PATIENCE_S
    while blocked():
        assert time.monotonic() < until


def test_a_worker_that_shuts_down_ends_it(loop: EventLoop) -> None:
    listening(loop)
    loop.throw(RequestAborted)
    until = time.monotonic() + PATIENCE_S
    while blocked():
        assert time.monotonic() < until


def test_the_loop_goes_on_without_it_if_redis_ends_the_connection(loop: EventLoop) -> None:
    _, came = listening(loop)
    queues.connection().execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    loop.run(PATIENCE_S)
    assert came == []
