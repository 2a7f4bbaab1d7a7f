"""A watch waits on behalf of all crawls, gives way to any other job, and leaves a successor while a crawl runs."""

import os
import signal
import threading
from datetime import timedelta
from queue import SimpleQueue

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rq import Queue

from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.completion import CHECK_INTERVAL_S
from crawler.frontier.keys import JOB_SIGNAL, RECONCILED
from crawler.manager import idle_poller as watch_module
from crawler.manager.idle_poller import MAX_POLL_S, POLL_INTERVAL_S, poll_while_idle
from crawler.manager.tick import manage
from crawler.models import Crawl, Delivery, Notice, Page
from crawler.queueing import job_guard, liveness, queues
from tests.bench import Bench
from tests.manager.test_rescue_job import planted
from tests.site import Reply, page

WATCH = "watch over the running crawls"

pytestmark = pytest.mark.site({"/": Reply("busy", status=503)})


class GivenTime:
    """Sleeping moves the clock, and nothing else does."""

    def __init__(self) -> None:
        self.time = 0.0

    def clock(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


@pytest.fixture
def time() -> GivenTime:
    return GivenTime()


def watched(time: GivenTime) -> str:
    return poll_while_idle(wait=time.sleep, clock=time.clock, sleep=time.sleep)


def leave_nothing_to_do(bench: Bench) -> None:
    """A running crawl that waits for a page's next attempt, with nothing in RQ's queues."""
    bench.start()
    for queue in ("crawl", "fetch"):
        bench.work(queue, at_most=1)
    queues.connection().delete("rq:queue:crawl", "rq:queue:fetch")
    Page.objects.update(due_at=bench.context.now() + 3600)
    manage(bench.crawl.id)
    Page.objects.update(due_at=bench.context.now() + 3600)
    queues.connection().delete("rq:queue:crawl", "rq:queue:fetch")


def test_it_waits_its_time_and_leaves_a_successor(bench: Bench, time: GivenTime) -> None:
    leave_nothing_to_do(bench)
    bench.context.frontier.ready_queue.clear()
    watched(time)
    assert bench.jobs("fetch") == [WATCH]


def test_it_gives_way_to_a_fetch_job_at_once(bench: Bench, time: GivenTime) -> None:
    leave_nothing_to_do(bench)
    queues.connection().rpush("rq:queue:fetch", "some-job")
    assert watched(time) == "there is work to do"
    assert time.time == 0


def test_it_gives_way_to_a_tick_but_not_to_another_watch(bench: Bench, time: GivenTime) -> None:
    leave_nothing_to_do(bench)
    queues.send_poller()
    assert not queues.has_work()
    queues.connection().rpush("rq:queue:crawl", "manage-1")
    assert watched(time) == "there is work to do"


def test_a_database_that_is_away_for_a_while_is_watched_until_it_is_back(
    bench: Bench, time: GivenTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_nothing_to_do(bench)

    def is_away(*, at_once: bool) -> None:
        raise OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(watch_module, "reconcile", is_away)
    assert "does not respond" in watched(time)
    assert bench.jobs("fetch") == [WATCH]


def test_without_a_running_crawl_it_ends_at_once_and_sends_nothing(bench: Bench, time: GivenTime) -> None:
    assert watched(time) == "nothing to watch over"
    assert bench.jobs("crawl") == bench.jobs("fetch") == []


def test_it_ends_soon_after_the_last_crawl_does(bench: Bench, time: GivenTime) -> None:
    leave_nothing_to_do(bench)

    def finish_it(seconds: float) -> None:
        Crawl.objects.update(state="finished")
        Page.objects.update(status=Page.CLOSED, outcome=Outcome.SUCCESS)
        time.sleep(seconds)
        queues.connection().delete(RECONCILED)  # what Redis forgets after some seconds

    poll_while_idle(wait=finish_it, clock=time.clock)
    assert time.time < MAX_POLL_S


def test_a_page_that_is_due_wakes_its_crawl(bench: Bench, time: GivenTime) -> None:
    leave_nothing_to_do(bench)
    frontier = bench.context.frontier
    frontier.ready_queue.clear()
    frontier.results.clear_mark()
    watched(time)
    assert f"manage the crawl of {bench.site.host}" in bench.jobs("crawl")


def test_it_ends_at_once_when_its_worker_is_asked_to_end_and_leaves_a_successor(
    bench: Bench, time: GivenTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_nothing_to_do(bench)
    ending = queues.StopRequest()
    monkeypatch.setattr(queues, "stop_request", ending)

    def sleep(seconds: float) -> None:
        time.sleep(seconds)
        if time.time >= 0.5:
            ending.set()

    poll_while_idle(wait=sleep, clock=time.clock)
    assert 0.5 <= time.time <= 0.5 + POLL_INTERVAL_S
    assert bench.jobs("fetch") == [WATCH]


def test_that_of_a_stock_worker_which_is_asked_to_end_ends_with_the_next_look_at_the_crawls(
    bench: Bench, handlers_are_put_back: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RQ's worker gets the signal; the process that does its job reads in Redis that it did."""
    monkeypatch.setattr(job_guard, "PERMITTED", job_guard.PERMITTED | {f"{__name__}.{watch_that_is_stopped.__name__}"})
    leave_nothing_to_do(bench)
    stopped_watch.clear()
    Queue("fetch", connection=queues.connection()).enqueue(watch_that_is_stopped)
    bench.work("fetch", at_most=1)
    assert stopped_watch == [1]
    assert bench.jobs("fetch") == [WATCH]


stopped_watch: list[int] = []  # how often each one slept


def watch_that_is_stopped() -> None:
    """A watch whose worker gets SIGTERM while it sleeps for the first time."""
    time, slept = GivenTime(), list[float]()

    def sleep(seconds: float) -> None:
        if not slept:
            os.kill(os.getpid(), signal.SIGTERM)
        slept.append(seconds)
        time.sleep(seconds)

    poll_while_idle(wait=sleep, clock=time.clock)
    stopped_watch.append(len(slept))


def test_a_notice_to_be_tried_again_in_hours_is_not_waited_for(bench: Bench, time: GivenTime) -> None:
    crawl = Crawl.objects.create(start_urls=["http://site.test/"], state="finished")
    notice = Notice.objects.create(crawl=crawl, event="crawl.finished", receipt={})
    delivery = Delivery.objects.create(notice=notice, transport="email", address="me@example.com")
    for seconds, answer in ((60, "nothing to do yet"), (4 * 3600, "nothing to watch over")):
        delivery.due_at = timezone.now() + timedelta(seconds=seconds)
        delivery.save()
        queues.connection().delete("rq:queue:crawl", "rq:queue:fetch")
        assert watched(time) == answer


def test_a_crawl_that_is_held_for_hours_is_left_to_the_rescue_job(bench: Bench, time: GivenTime) -> None:
    bench.start()
    queues.connection().flushall()
    for seconds, answer in ((60, "nothing to do yet"), (4 * 3600, "nothing to watch over")):
        Crawl.objects.update(state="paused", held_until=timezone.now() + timedelta(seconds=seconds))
        queues.connection().delete("rq:queue:crawl", "rq:queue:fetch")
        assert watched(time) == answer
        assert planted() != []
    Crawl.objects.update(held_until=None)
    assert watched(time) == "nothing to watch over"
    assert planted() == []


class TestWhatItCosts:
    """Redis commands and SQL statements of a minute with nothing to do, which a thousand workers may spend at once."""

    SECONDS = 60

    @pytest.mark.parametrize("who", ["alone", "beside one who looks at the crawls"])
    def test_of_a_watch(self, bench: Bench, monkeypatch: pytest.MonkeyPatch, who: str) -> None:
        leave_nothing_to_do(bench)
        monkeypatch.setattr(watch_module, "MAX_POLL_S", self.SECONDS)
        monkeypatch.setattr(liveness, "MS_PER_S", 10**6)  # in Redis time passes by what is slept here, and only so
        redis, time, hosts = queues.connection(), GivenTime(), bench.context.frontier.keys.of_suffix().hosts
        redis.zadd(hosts, {host: bench.context.now() + 3600 for host in redis.zrange(hosts, 0, -1)})

        def wait(seconds: float) -> None:
            time.sleep(seconds)
            left = redis.pttl(RECONCILED) - int(seconds * 10**6)
            if who == "alone" and left <= 0:
                redis.delete(RECONCILED)
            else:
                redis.pexpire(RECONCILED, max(left, 10**6))

        redis.config_resetstat()
        with CaptureQueriesContext(connection) as statements:
            assert poll_while_idle(wait=wait, clock=time.clock) == "nothing to do yet"
        helpers = ("pttl", "pexpire", "del", "config|resetstat", "info")
        said = redis.info("commandstats")
        commands = sum(one["calls"] for name, one in said.items() if name.removeprefix("cmdstat_") not in helpers)
        surveys = 1 if who != "alone" else self.SECONDS / CHECK_INTERVAL_S
        assert commands <= 5 * self.SECONDS + 40 * surveys
        assert len(statements) <= 5 * (surveys + 2)

    def test_one_job_wakes_one_of_them(self) -> None:
        redis, woken = queues.connection(), SimpleQueue[float]()

        def block() -> None:
            queues.await_job(9)
            woken.put(0)

        threads = [threading.Thread(target=block) for _ in range(3)]
        for thread in threads:
            thread.start()
        while redis.info("clients")["blocked_clients"] < 3:
            pass
        queues.send_notify()
        woken.get()
        assert redis.info("clients")["blocked_clients"] == 2
        assert not redis.exists(JOB_SIGNAL)
        for _ in range(2):
            redis.rpush(JOB_SIGNAL, 1)
        for thread in threads:
            thread.join()

    def test_one_that_is_asked_to_end_is_woken_itself(self, monkeypatch: pytest.MonkeyPatch) -> None:
        ending, redis = type(queues.stop_request)(), queues.connection()
        monkeypatch.setattr(queues, "stop_request", ending)
        thread = threading.Thread(target=queues.await_job, args=(9,))
        thread.start()
        while not redis.info("clients")["blocked_clients"]:
            pass
        ending.set()
        thread.join(5)
        assert not thread.is_alive()
        assert not redis.exists(JOB_SIGNAL)


class TestItsPlaceInTheQueue:
    """While a crawl runs a watch waits behind the batches: a worker that has work never comes to it."""

    @pytest.mark.site({"/": page("/a"), "/a": page("/b"), "/b": page()})
    def test_however_many_ticks_there_are_one_watch_waits_at_the_end(self, bench: Bench) -> None:
        bench.start()
        bench.work("crawl", at_most=1)
        assert [job.split()[0] for job in bench.jobs("fetch")] == ["fetch", "watch"]
        for _ in range(3):
            manage(bench.crawl.id)
        assert [job.split()[0] for job in bench.jobs("fetch")] == ["fetch", "watch"]

    def test_one_that_somebody_popped_or_rq_lost_is_replaced(self, bench: Bench) -> None:
        bench.start()
        bench.work("crawl", at_most=1)
        queues.connection().delete("rq:queue:fetch")
        manage(bench.crawl.id)
        assert bench.jobs("fetch") == [WATCH]
