"""While a host holds a fetch job up, the job does what a free worker would do. Here there is but one worker."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from crawler.capabilities.browser.lanes import RENDER
from crawler.clock import epoch_seconds
from crawler.core.options.catalogue import CrawlOptions
from crawler.crawls.start import start_crawl
from crawler.fetcher import work_stealing
from crawler.fetcher.work_stealing import (
    BATCH_CHECKS,
    CHECK_INTERVAL_S,
    LEFT_CHECKS,
    QUIET_AFTER_S,
    QUIET_CHECK_INTERVAL_S,
    WorkStealer,
    check_interval,
)
from crawler.frontier import keys
from crawler.frontier.leases import this_process
from crawler.frontier.slots import LaneSlots
from crawler.manager.tick import manage
from crawler.models import Crawl
from crawler.queueing import queues
from tests.bench import Bench
from tests.site import Reply, Site, page

SLOW = 6.0  # seconds; three pages one behind the other take about one and a half


@pytest.fixture
def other() -> Iterator[Site]:
    """A second host, whose three pages are found one behind the other."""
    with Site({"/": page("/a"), "/a": page("/b"), "/b": page()}).serving() as site:
        yield site


@pytest.mark.site({"/": Reply(page(), after=SLOW)})
def test_a_slow_host_does_not_hold_up_another(bench: Bench, other: Site) -> None:
    urls = [f"{bench.site.url}/", f"{other.url}/"]
    bench.crawl = start_crawl(urls, CrawlOptions(), allow_private=True)
    bench.work()
    assert bench.state() == "finished"
    asked = next(request.at for request in bench.site.requests if request.path == "/")
    assert {request.path for request in other.requests if request.at < asked + SLOW} == {"/robots.txt", "/", "/a", "/b"}


@pytest.mark.site({"/": Reply(page(), after=SLOW)})
def test_a_worker_that_was_asked_to_end_takes_nothing_more(
    bench: Bench, other: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its job ends with what it has; what waits is left to others."""
    bench.start()
    start_crawl([f"{other.url}/"], CrawlOptions(), allow_private=True)
    bench.work("crawl")
    ending = queues.StopRequest()
    ending.set()
    monkeypatch.setattr(queues, "stop_request", ending)
    bench.work("fetch", at_most=1)
    assert not other.requests
    assert [job for job in bench.jobs("fetch") if job.startswith("fetch")] == [f"fetch 1 page of {other.host}"]


@pytest.mark.site({"/": Reply(page(), after=1.0)})
def test_a_worker_may_be_given_one_batch_at_a_time(bench: Bench, other: Site, settings: Any) -> None:
    settings.CRAWLER_WORKER_BATCHES = 1
    bench.start()
    second = start_crawl([f"{other.url}/"], CrawlOptions(), allow_private=True)
    bench.work()
    asked = next(request.at for request in bench.site.requests if request.path == "/")
    assert min(request.at for request in other.requests) >= asked + 1.0
    assert set(Crawl.objects.values_list("id", "state")) == {(bench.crawl.id, "finished"), (second.id, "finished")}


@pytest.mark.site({"/": page("/a"), "/a": page("/b"), "/b": page()})
def test_the_job_of_a_worker_that_forks_goes_on_while_there_is_work(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queues, "is_forked", lambda: True)
    bench.start()
    bench.work("crawl", at_most=1)
    bench.work("fetch", at_most=1)
    assert bench.state() == "finished"
    assert bench.site.hits["/b"] == 1


@pytest.mark.site({"/": page("/a"), "/a": page()})
def test_it_ends_when_the_worker_has_something_else_to_do(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "is_forked", lambda: True)
    bench.start()
    bench.work("crawl", at_most=1)
    queues.send_notify()
    bench.work("fetch", at_most=1)
    assert bench.state() == "running"
    assert bench.site.hits["/a"] == 0


def test_the_job_of_a_worker_that_does_not_fork_is_over_with_its_batch(bench: Bench) -> None:
    bench.start()
    bench.work("crawl", at_most=1)
    bench.work("fetch", at_most=1)
    assert bench.state() == "running"


def test_what_a_free_worker_would_take_at_once_is_left_to_it(bench: Bench) -> None:
    bench.start()
    with WorkStealer(lambda: None) as helper:
        assert list(helper.steal(1)) == []
        assert bench.jobs("crawl") == [f"manage the crawl of {bench.site.host}"]


def test_a_tick_that_waits_at_the_second_look_is_done(bench: Bench) -> None:
    bench.start()
    with WorkStealer(lambda: None) as helper:
        _look(helper)
        _look(helper)
    assert bench.jobs("crawl") == []
    assert [job for job in bench.jobs("fetch") if job.startswith("fetch")] == [f"fetch 1 page of {bench.site.host}"]


def test_a_worker_with_idle_connections_takes_a_job_at_the_first_look(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_stealing, "worker_count", lambda: 2)
    bench.start()
    with WorkStealer(lambda: None) as helper:
        assert list(helper.steal(1, is_hungry=True)) == []
    assert bench.jobs("crawl") == []
    with WorkStealer(lambda: None) as helper:
        assert len(list(helper.steal(1, is_hungry=True))) == 1


@pytest.mark.parametrize(("workers", "looks"), [(1, 1), (2, 1 + BATCH_CHECKS)])
def test_a_batch_is_left_to_other_workers_if_there_are_some(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, workers: int, looks: int
) -> None:
    monkeypatch.setattr(work_stealing, "worker_count", lambda: workers)
    bench.start()
    bench.work("crawl", at_most=1)
    with WorkStealer(lambda: None) as helper:
        assert [len([*helper.steal(1)]) for _ in range(looks)] == [*[0] * (looks - 1), 1]


def test_a_batch_is_stolen_by_one_job_and_only_if_it_has_capacity(bench: Bench) -> None:
    bench.start()
    bench.work("crawl", at_most=1)
    waiting = queues.next_jobs()
    with WorkStealer(lambda: None) as helper:
        assert [list(helper.steal(0)) for _ in range(3)] == [[], [], []]
        (batch,) = helper.steal(1)
    assert batch.crawl == str(bench.crawl.id)
    assert queues.steal_batch(waiting) is None


def come(process: str, taken: int) -> None:
    """A browser worker of six places begins, registered as RQ does it, and takes so many batches."""
    redis, (host, pid) = queues.connection(), process.split(":")
    LaneSlots(redis, RENDER).register(process, 6, epoch_seconds())
    redis.hset(f"rq:worker:{process}", mapping={"hostname": host, "pid": pid})
    for number in range(taken):
        claim(process, f"batch {number}")


def claim(process: str, batch: str) -> None:
    lease, redis = f"lease of {batch} for {process}", queues.connection()
    redis.hset(lease, "holder", process)
    redis.zadd(keys.taken_slots(RENDER), {lease: 0})


def look(helper: WorkStealer, process: str) -> int:
    """How many batches the worker takes."""
    free = 6 - LaneSlots(queues.connection(), RENDER).taken_by_holder()[process]
    batches = list(helper.steal(free))
    for batch in batches:
        claim(process, batch.id)
    return len(batches)


def queue_rendered(bench: Bench, count: int) -> None:
    """Batches for a browser: copies of one, under names of their own."""
    LaneSlots(queues.connection(), RENDER).register("unknown to RQ", 40, epoch_seconds())
    bench.start(render="always")
    manage(bench.crawl.id)
    (batch,) = bench.batches("render")
    queues.send_batches([replace(batch, id=queues.new_id(RENDER.queue)) for _ in range(count)])


@pytest.mark.parametrize(
    ("own", "other", "batches", "looks"),
    [
        (1, 1, 4, [2, 0, 0, 2]),  # half of them, and then what the other has not taken
        (1, 1, 1, [1, 0, 0, 0]),
        (3, 0, 3, [0, 0, 0, 3]),
        (3, 1, 4, [1, 0, 0, 2]),  # it has no place for more
        (1, 6, 4, [4, 0, 0, 0]),  # the other has no place
        (1, None, 4, [4, 0, 0, 0]),  # it is the only one
        (None, 0, 4, [4, 0, 0, 0]),  # a stock worker
    ],
)
def test_a_browser_worker_leaves_batches_to_a_less_busy_one_for_some_checks(
    bench: Bench, own: int | None, other: int | None, batches: int, looks: list[int]
) -> None:
    for process, taken in ((this_process(), own), ("elsewhere:1", other)):
        if taken is not None:
            come(process, taken)
    queue_rendered(bench, batches)
    with WorkStealer(lambda: None, RENDER) as helper:
        assert [look(helper, this_process()) for _ in range(LEFT_CHECKS + 1)] == looks


@pytest.mark.parametrize("seed", range(5))
def test_two_browser_workers_share_what_waits_whoever_looks_first(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    dice, places = random.Random(seed), LaneSlots(queues.connection(), RENDER)
    workers = {"here:1": dice.randrange(4), "there:1": dice.randrange(4)}
    for process, taken in workers.items():
        come(process, taken)
    waiting = abs(workers["here:1"] - workers["there:1"]) + 2 * dice.randrange(1, 3)
    queue_rendered(bench, waiting)
    with WorkStealer(lambda: None, RENDER) as one, WorkStealer(lambda: None, RENDER) as another:
        for _ in range(LEFT_CHECKS):
            for helper, process in dice.sample([(one, "here:1"), (another, "there:1")], 2):
                monkeypatch.setattr(work_stealing, "this_process", lambda process=process: process)
                look(helper, process)
    each = (workers["here:1"] + workers["there:1"] + waiting) // 2
    assert places.taken_by_holder() == {"here:1": each, "there:1": each}


def _look(helper: WorkStealer) -> None:
    assert list(helper.steal(0)) == []


@pytest.mark.parametrize(
    ("quiet_s", "interval"),
    [(0.0, CHECK_INTERVAL_S), (QUIET_AFTER_S - 0.1, CHECK_INTERVAL_S), (QUIET_AFTER_S, QUIET_CHECK_INTERVAL_S)],
)
def test_queues_that_stay_empty_are_checked_less_often(quiet_s: float, interval: float) -> None:
    assert check_interval(quiet_s) == interval
