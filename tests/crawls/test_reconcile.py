"""A running crawl with no sign of life is woken by anybody who looks, and by nobody else at the same time."""

import pytest

from crawler.crawls.control import pause
from crawler.crawls.reconcile import ScanResult, reconcile, scan
from crawler.frontier.results import MARK_FRESH_S
from crawler.queueing import queues
from tests.bench import Bench


@pytest.fixture
def forgotten(bench: Bench) -> Bench:
    """A running crawl of which Redis knows nothing."""
    bench.start()
    queues.connection().flushall()
    return bench


def test_a_forgotten_crawl_is_woken_and_finishes(forgotten: Bench) -> None:
    found = scan()
    assert (found.running, found.woken) == (1, 1)
    forgotten.work()
    assert forgotten.state() == "finished"


def test_a_crawl_whose_tick_is_coming_is_left_alone(bench: Bench) -> None:
    bench.start()
    assert scan().woken == 0
    assert len(bench.jobs("crawl")) == 1


def test_a_tick_that_rq_lost_is_sent_again(bench: Bench) -> None:
    bench.start()
    queues.connection().delete("rq:queue:crawl")
    frontier = bench.context.frontier
    mark = frontier.results.mark()
    assert mark is not None
    queues.connection().set(frontier.keys.mark, f"{mark.job} {mark.sent_at - MARK_FRESH_S - 1}")
    assert scan().woken == 1
    assert len(bench.jobs("crawl")) == 1


def test_a_second_scan_right_after_another_does_nothing(forgotten: Bench) -> None:
    assert isinstance(reconcile(), ScanResult)
    assert reconcile() is None


def test_a_paused_crawl_is_not_woken(forgotten: Bench) -> None:
    pause(forgotten.crawl.id)
    assert scan() == ScanResult(running=0, woken=0, pending=0, next_in=None)
