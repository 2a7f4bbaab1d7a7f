"""How many workers would be useful: told of crawls that the real engine works on, and of values in Redis."""

import math
import time
from typing import Any

import pytest
from redis import Redis
from rq import Queue, SimpleWorker

from crawler import clock
from crawler.capabilities.browser.lanes import RENDER
from crawler.capabilities.scrapy.lanes import SCRAPY
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.politeness.host_rules import Pace
from crawler.core.politeness.scaling import HORIZON_S
from crawler.core.politeness.throttle import Throttle
from crawler.core.protocol.retries import lane_of
from crawler.crawls.control import cancel, pause
from crawler.frontier import keys
from crawler.frontier.frontier import Frontier
from crawler.frontier.host_limiter import HostLimiter, HostPolicy
from crawler.frontier.host_throttle import encoded_throttle
from crawler.frontier.ready_queue import Level, QueueItem
from crawler.frontier.slots import LaneSlots
from crawler.frontier.workload import MAX_LANES_PER_CRAWL
from crawler.launch.autoscale import CHECK_INTERVAL_S
from crawler.models import Crawl
from crawler.queueing import queues
from crawler.reports import scale
from crawler.reports.scale import FRESH_S, Scale, plain, running_and_wanted, running_crawls, scale_of
from tests.bench import Bench
from tests.factories import a_crawl, a_finished_crawl
from tests.site import page

SLOW, OTHER = "slow.example", "other.example"
FIRST, SECOND = "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"


@pytest.fixture
def redis(real_redis: Redis, monkeypatch: pytest.MonkeyPatch) -> Redis:
    """Without workers, and with the clock of this process."""
    monkeypatch.setattr(scale, "worker_count", lambda queue=queues.FETCH: 0)
    monkeypatch.setattr(clock, "epoch_seconds", time.time)
    return real_redis


def known(redis: Redis, host: str, **fields: str | float) -> None:
    """What is known of a host: it has responded. `seconds`, `limit` and `delay` are the throttle's."""
    now = time.time()
    chosen = {name: fields.pop(name) for name in ("seconds", "limit", "delay") if name in fields}
    throttle = Throttle(**{"seconds": 0.1, "limit": 64, "news_at": now, **chosen})  # type: ignore[arg-type]
    redis.hset(keys.host(host), mapping={"answered": 1, **fields, **encoded_throttle(throttle, now)})


def put(redis: Redis, pages: int, host: str, crawl: str = FIRST, *, in_seconds: float = 0.0) -> None:
    frontier = Frontier(redis, crawl, default_pace=Pace(8, 64))
    due = time.time() + in_seconds
    frontier.ready_queue.enqueue(QueueItem(number, host, due) for number in range(1, pages + 1))
    frontier.ready_queue.move_cursor(Level(5), pages)


def found(**options: object) -> Scale:
    return scale_of({FIRST: CrawlOptions(**options)})  # type: ignore[arg-type]


# With values in Redis.


def test_one_host_uses_the_connections_of_its_crawl(redis: Redis) -> None:
    known(redis, SLOW)
    put(redis, 1_000, SLOW)
    assert found(concurrency=16).total.connections == 16
    assert found(concurrency=4).total.connections == 4
    assert found(concurrency=4).wanted == 1


def test_a_delay_of_the_crawl_leaves_one_connection_and_one_worker(redis: Redis) -> None:
    known(redis, SLOW)
    put(redis, 5_000, SLOW)
    polite = found(concurrency=16, delay=2.0)
    assert (polite.total.connections, polite.total.pages_per_s, polite.wanted) == (1, 0.5, 1)


def test_a_crawl_delay_counts_if_the_crawl_obeys_it(redis: Redis) -> None:
    known(redis, SLOW, crawl_delay=10)
    put(redis, 5_000, SLOW)
    assert found().total.pages_per_s == pytest.approx(0.1)
    assert found(obey_robots=False).total.pages_per_s > 1


def test_only_suspects_are_requested_one_at_a_time(redis: Redis) -> None:
    known(redis, SLOW)
    put(redis, 40, f"{SLOW}|16")
    assert found(concurrency=16).total.connections == 1


def test_after_a_stop_one_page_is_requested_alone(redis: Redis) -> None:
    known(redis, SLOW, until=time.time() - 1, stops=1)
    put(redis, 1_000, SLOW)
    assert found(concurrency=16).total.connections == 1


def test_a_host_that_responds_no_more_gets_one_connection(redis: Redis) -> None:
    known(redis, SLOW)
    put(redis, 1_000, SLOW)
    Frontier(redis, FIRST).unresponsive_hosts.record_failure(SLOW, Outcome.TIMEOUT, time.time())
    assert found(concurrency=16).total.connections == 1


def test_only_the_connections_that_the_throttle_allows_are_of_use(redis: Redis) -> None:
    known(redis, SLOW, seconds=4.0, limit=2)
    put(redis, 1_000, SLOW)
    assert found(concurrency=16).total.connections == 2
    assert found(concurrency=16, throttle=False).total.connections == 16


def test_the_throttle_counts_if_the_crawl_uses_it(redis: Redis) -> None:
    known(redis, SLOW, delay=10)
    put(redis, 1_000, SLOW)
    assert found().total.pages_per_s == pytest.approx(0.1, rel=0.01)
    assert found(throttle=False).total.pages_per_s > 1


def test_a_host_of_two_crawls_counts_once(redis: Redis) -> None:
    known(redis, SLOW)
    put(redis, 1_000, SLOW)
    put(redis, 1_000, SLOW, SECOND)
    both = scale_of({FIRST: CrawlOptions(concurrency=16), SECOND: CrawlOptions(concurrency=8)})
    assert both.total.connections == 8  # the strictest counts
    assert [demand.connections for demand in both.by_crawl.values()] == [16, 8]


def test_the_policy_of_another_crawl_at_work_counts(redis: Redis) -> None:
    known(redis, SLOW)
    put(redis, 1_000, SLOW)
    HostLimiter(redis, 30).take_slot(SLOW, f"{SECOND}:batch:0", HostPolicy(SECOND, 5.0, 2), time.time())
    assert found(concurrency=16).total.pages_per_s == pytest.approx(0.2)


def test_the_fewest_connections_of_crawls_at_work_count(redis: Redis) -> None:
    known(redis, SLOW)
    put(redis, 1_000, SLOW)
    HostLimiter(redis, 30).take_slot(SLOW, f"{SECOND}:batch:0", HostPolicy(SECOND, 0.0, 2), time.time())
    assert found(concurrency=16).total.connections == 2


def test_connections_of_other_crawls_are_in_use(redis: Redis) -> None:
    known(redis, SLOW)
    put(redis, 1, SLOW)
    assert found(concurrency=16).total.connections == 1
    for number in range(3):
        HostLimiter(redis, 30).take_slot(SLOW, f"{SECOND}:batch:{number}", HostPolicy(SECOND, 0.0, 8), time.time())
    assert found(concurrency=16).total.connections == 3


def test_hosts_that_are_only_counted_are_like_those_that_are_read(redis: Redis) -> None:
    hosts = MAX_LANES_PER_CRAWL + 10
    for place in range(hosts):
        put(redis, 30, f"{place}.example")
        known(redis, f"{place}.example", seconds=2.0)
    usual, polite = found().total, found(delay=10.0).total
    assert usual.pages == 30 * hosts
    assert polite.pages_per_s == pytest.approx(0.1 * hosts)


@pytest.mark.parametrize(("seconds", "wanted"), [(HORIZON_S - 10, 1), (HORIZON_S + 10, 0)])
def test_a_stop_of_minutes_asks_for_no_worker_until_its_end_is_near(redis: Redis, seconds: float, wanted: int) -> None:
    known(redis, SLOW, until=time.time() + seconds, stops=1)
    put(redis, 1_000, SLOW)
    assert found().wanted == wanted


@pytest.mark.parametrize(("ago", "wanted"), [(280, 1), (200, 0)])
def test_a_delay_of_minutes_asks_for_one_when_it_ends_soon(redis: Redis, ago: float, wanted: int) -> None:
    known(redis, SLOW, sent=time.time() - ago)
    put(redis, 1_000, SLOW)
    assert found(delay=300.0).wanted == wanted


def test_pages_that_are_retried_later_ask_for_none(redis: Redis) -> None:
    known(redis, SLOW)
    put(redis, 10, SLOW, in_seconds=HORIZON_S + 10)
    assert found().wanted == 0


@pytest.mark.parametrize("connections", [4, 16])
@pytest.mark.parametrize(
    "hosts", [64, pytest.param(256, marks=pytest.mark.long), pytest.param(1_000, marks=pytest.mark.long)]
)
def test_slow_hosts_ask_for_as_many_workers_as_their_connections_fill(
    redis: Redis, settings: Any, hosts: int, connections: int
) -> None:
    settings.CRAWLER_MAX_BATCHES = 1_000
    for place in range(hosts):
        put(redis, 60, f"{place}.example")
        known(redis, f"{place}.example", seconds=4.0)
    assert found(concurrency=connections).wanted == math.ceil(hosts * connections / settings.CRAWLER_WORKER_CONNECTIONS)


def test_hosts_that_are_only_counted_have_the_pages_that_are_left(redis: Redis) -> None:
    ready_queue = Frontier(redis, FIRST).ready_queue
    ready_queue.set_paces({f"{place}.example": Pace(8, 1) for place in range(MAX_LANES_PER_CRAWL + 100)})
    for place in range(MAX_LANES_PER_CRAWL + 100):
        put(redis, 30 if place < MAX_LANES_PER_CRAWL else 1, f"{place}.example")
        known(redis, f"{place}.example", seconds=4.0)
    ready_queue.size()  # as each refill does
    assert found(concurrency=4).total.connections == 4 * MAX_LANES_PER_CRAWL + 100


def test_what_settings_allow_of_batches_counts(redis: Redis, settings: Any) -> None:
    for place in range(300):
        put(redis, 30, f"{place}.example")
        known(redis, f"{place}.example", seconds=2.0)
    wanted = {}
    for allowed in ((8, 0), (128, 0), (8, 1), (128, 1)):  # it rises at once
        settings.CRAWLER_MAX_BATCHES, settings.CRAWLER_WORKER_BATCHES = allowed
        wanted[allowed] = found(concurrency=4).wanted
    assert wanted == {(8, 0): 2, (128, 0): 5, (8, 1): 8, (128, 1): 38}  # 1,200 requests; of a batch 32 are under way


def test_a_tick_or_a_notice_that_waits_asks_for_one(redis: Redis) -> None:
    redis.rpush("rq:queue:crawl", "notify-1")
    assert scale_of({}).wanted == 1


def test_an_idle_poller_asks_for_none(redis: Redis) -> None:
    redis.rpush("rq:queue:crawl", "watch-1")
    assert scale_of({}).wanted == 0


def test_it_falls_late_whichever_process_is_asked(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    redis.rpush("rq:queue:crawl", "notify-1")
    assert scale_of({}).wanted == 1
    redis.delete("rq:queue:crawl")
    begun = time.time()
    shown, reasons = [], []
    for seconds in (1, 60, 120, 122):
        monkeypatch.setattr(clock, "epoch_seconds", lambda now=begun + seconds: now)
        known_now = scale_of({})
        shown.append((known_now.wanted, known_now.found))
        reasons.append(plain(known_now, Crawl.objects.none())["reasons"])
    assert shown == [(1, 0), (1, 0), (1, 0), (0, 0)]
    assert "1 worker had work in the last 120 seconds." in reasons[0]
    assert reasons[-1] == ["Nothing is due within 60 seconds."]


def test_how_late_it_falls_is_a_setting(redis: Redis, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.CRAWLER_WORKER_IDLE_SECONDS = 10
    redis.rpush("rq:queue:crawl", "notify-1")
    assert scale_of({}).wanted == 1
    redis.delete("rq:queue:crawl")
    begun, shown = time.time(), []
    for seconds in (1, 10, 12):
        monkeypatch.setattr(clock, "epoch_seconds", lambda now=begun + seconds: now)
        shown.append(scale_of({}).wanted)
    assert shown == [1, 1, 0]


@pytest.mark.parametrize("seconds", [FRESH_S, CHECK_INTERVAL_S])  # of pages, and of an autoscaler
def test_who_looks_each_second_reads_the_last_figure(
    redis: Redis, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    monkeypatch.setattr(scale, "running_crawls", dict)
    assert running_and_wanted(seconds) == (0, 0)
    redis.rpush("rq:queue:crawl", "notify-1")
    assert running_and_wanted(seconds) == (0, 0)
    later = time.time() + seconds + 1
    monkeypatch.setattr(clock, "epoch_seconds", lambda: later)
    assert running_and_wanted(seconds) == (0, 1)


# Pages that a browser is to render.


def put_for_browsers(redis: Redis, pages: int, host: str) -> None:
    put(redis, pages, lane_of(host, is_suspect=False, deaths=0, suffix=RENDER.suffix))


def test_pages_for_a_browser_ask_for_a_browser_worker_and_for_no_other(redis: Redis) -> None:
    known(redis, SLOW)
    put_for_browsers(redis, 10, SLOW)
    waiting = found(render="always")
    browsers = waiting.lanes[RENDER]
    assert (browsers.wanted, browsers.running, waiting.wanted) == (1, 0, 0)


def test_pages_that_need_none_ask_for_no_browser_worker(redis: Redis) -> None:
    known(redis, SLOW)
    put(redis, 1_000, SLOW)
    usual = found(render="auto")
    assert (usual.lanes[RENDER].wanted, usual.wanted) == (0, 1)


def test_many_hosts_ask_for_as_many_as_have_places_for_their_pages(redis: Redis, settings: Any) -> None:
    settings.CRAWLER_BROWSER_PLACES = 6
    for place in range(10):
        put_for_browsers(redis, 1_000, f"{place}.example")
        known(redis, f"{place}.example")
    assert found(render="always", concurrency=3).lanes[RENDER].wanted == 5  # 30 pages at a time
    assert found(render="always", concurrency=3, delay=1.0).lanes[RENDER].wanted == 5  # which falls late


def test_a_polite_host_asks_for_one_browser_worker_however_many_pages_wait(redis: Redis) -> None:
    known(redis, SLOW)
    put_for_browsers(redis, 5_000, SLOW)
    assert found(render="always", concurrency=16, delay=1.0).lanes[RENDER].wanted == 1


def test_a_browser_worker_that_is_there_is_counted(redis: Redis) -> None:
    LaneSlots(redis, RENDER).register("one", 6, time.time())
    assert scale_of({}).lanes[RENDER].running == 1


def test_the_reasons_name_what_browsers_have_to_do(redis: Redis) -> None:
    known(redis, SLOW)
    put_for_browsers(redis, 10, SLOW)
    told = plain(found(render="always", concurrency=4), Crawl.objects.none())
    assert (told["browsers_wanted"], told["browsers_running"]) == (1, 0)
    assert told["reasons"][-1] == (
        "In browsers 4 connections to 1 host, 10 pages due, 10 of them within 10 seconds: with 6 places each, "
        "1 browser worker can do it."
    )
    assert "0 of 1 useful browser worker run." in scale.text(told)


# Pages that run through Scrapy.


def test_pages_for_scrapy_ask_for_no_usual_worker(redis: Redis) -> None:
    known(redis, SLOW)
    put(redis, 5_000, SLOW)
    waiting = found(engine="scrapy", concurrency=16)
    assert (waiting.found, waiting.wanted, waiting.total.connections) == (0, 0, 0)
    of_scrapy = waiting.lanes[SCRAPY].demand
    assert (of_scrapy.pages, of_scrapy.connections) == (5_000, 16)


def test_the_pages_of_another_crawl_ask_for_as_many_as_without_scrapy(redis: Redis, settings: Any) -> None:
    settings.CRAWLER_MAX_BATCHES = 1
    known(redis, SLOW)
    known(redis, OTHER)
    put(redis, 5_000, SLOW)
    put(redis, 5_000, OTHER, SECOND)
    both = scale_of({FIRST: CrawlOptions(engine="scrapy", concurrency=64), SECOND: CrawlOptions(concurrency=64)})
    alone = scale_of({SECOND: CrawlOptions(concurrency=64)})
    assert (both.total, both.found) == (alone.total, alone.found)


def test_a_tick_of_a_crawl_through_scrapy_asks_for_a_usual_worker(redis: Redis) -> None:
    assert found(engine="scrapy").wanted == 1  # its first


@pytest.mark.parametrize(
    ("pages", "running", "reason"),
    [
        (1, 0, "1 page waits for a Scrapy worker, and none is running: start one with"),
        (12, 0, "12 pages wait for a Scrapy worker, and none is running: start one with"),
        (12, 2, "Through Scrapy 4 connections to 1 host, 12 pages due, 12 of them within 10 seconds: 2 Scrapy workers"),
    ],
)
def test_the_reasons_name_what_scrapy_has_to_do(
    redis: Redis, monkeypatch: pytest.MonkeyPatch, pages: int, running: int, reason: str
) -> None:
    monkeypatch.setattr(scale, "worker_count", lambda queue=queues.FETCH: running if queue == SCRAPY.queue else 0)
    known(redis, SLOW)
    put(redis, pages, SLOW)
    told = plain(found(engine="scrapy", concurrency=4), Crawl.objects.none())
    assert told["reasons"][-1].startswith(reason)


# In words.


@pytest.mark.django_db
def test_only_running_crawls_count(redis: Redis) -> None:
    running = a_crawl()
    a_finished_crawl()
    a_crawl(state="paused")
    assert list(running_crawls()) == [str(running.pk)]


@pytest.mark.django_db
def test_each_crawl_has_a_line_and_those_of_others_one_without_their_names(redis: Redis) -> None:
    mine, theirs = a_crawl(), a_crawl(start_urls=["https://secret.example/"])
    for crawl in (mine, theirs):
        put(redis, 100, SLOW, str(crawl.pk))
    known(redis, SLOW)
    told = plain(scale_of(running_crawls()), Crawl.objects.filter(pk=mine.pk))
    assert (told["wanted"], told["running"]) == (1, 0)
    assert [line.partition(":")[0] for line in told["reasons"]] == [
        f"Crawl {mine.pk} ({mine.site})",
        "1 other crawl",
        "In all 4 connections to 1 host, 200 pages due, 200 of them within 10 seconds",
    ]
    assert "secret.example" not in str(told)


# With crawls at work.

SITE = {"/": page(*(f"/{number}" for number in range(60))), **{f"/{number}": page() for number in range(60)}}


@pytest.mark.django_db(transaction=True)
@pytest.mark.site(SITE)
def test_a_crawl_wants_a_worker_from_its_start_to_its_end(bench: Bench, real_redis: Redis) -> None:
    assert scale_of(running_crawls()).found == 0
    crawl = bench.start()
    assert scale_of(running_crawls()).found == 1  # its first tick waits
    bench.work("crawl", at_most=1)
    first = scale_of(running_crawls())
    assert (first.found, first.total.connections) == (1, 1)  # nothing is known of its host
    bench.work(at_most=2)  # the start page is fetched, and the next batches are handed out
    second = scale_of(running_crawls())
    assert second.total.pages == 60
    assert second.total.connections == crawl.chosen.concurrency
    bench.work()
    assert bench.state() == "finished"
    done = scale_of(running_crawls())
    assert (done.found, done.wanted) == (0, 1)  # which falls later


@pytest.mark.django_db(transaction=True)
@pytest.mark.site(SITE)
@pytest.mark.parametrize("end", [pause, cancel])
def test_a_crawl_that_was_paused_or_cancelled_wants_none(bench: Bench, real_redis: Redis, end: object) -> None:
    bench.start()
    bench.work("crawl", at_most=1)
    end(bench.crawl.id)  # type: ignore[operator]
    bench.work()
    assert scale_of(running_crawls()).found == 0


@pytest.mark.django_db(transaction=True)
def test_a_full_redis_is_read_all_the_same(real_redis: Redis) -> None:
    a_crawl()
    queues.connection()  # the first one of an installation leaves its mark
    real_redis.config_set("maxmemory", 1)
    try:
        assert scale_of(running_crawls()).wanted == 1
    finally:
        real_redis.config_set("maxmemory", 0)
    assert not real_redis.exists(keys.SCALE)


@pytest.mark.django_db(transaction=True)
def test_workers_are_counted(real_redis: Redis) -> None:
    worker = SimpleWorker([Queue("crawl", connection=real_redis), Queue("fetch", connection=real_redis)])
    worker.register_birth()
    assert scale_of({}).running == 1
    worker.register_death()
    assert scale_of({}).running == 0
