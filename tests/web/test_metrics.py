"""The figures for Prometheus: who may read them, and what they say."""

import time
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from redis import Redis

from crawler import __version__, clock
from crawler.capabilities.browser.lanes import RENDER
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.protocol.retries import lane_of
from crawler.frontier import metrics
from crawler.frontier.frontier import Frontier
from crawler.frontier.keys import CrawlKeys
from crawler.frontier.ready_queue import QueueItem
from crawler.frontier.slots import WORKER_TTL_S, LaneSlots
from crawler.models import Delivery, Disagreement, Page
from crawler.reports import metrics as figures
from tests.factories import a_crawl, a_crawl_with_a_queue, a_delivery, a_finished_crawl, a_page

TOKEN = "a long random text"


def read(browser: Client) -> dict[tuple[str, str], float]:
    """(name, value of the label) -> value."""
    text = browser.get("/metrics").content.decode()
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {(sample.name, next(iter(sample.labels.values()), "")): sample.value for sample in samples}


@pytest.mark.django_db
def test_a_token_lets_a_monitor_in_without_a_login(client: Client, settings: Any, real_redis: Redis) -> None:
    settings.CRAWLER_METRICS_TOKEN = TOKEN
    response = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/plain; version=")
    assert f'crawler_build_info{{version="{__version__}"}} 1.0' in response.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("sent", ["", "Bearer ", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN} ", "Bearer \xfc"])
@pytest.mark.parametrize("token", ["", TOKEN])
def test_others_are_told_how_to_get_in(client: Client, settings: Any, token: str, sent: str) -> None:
    settings.CRAWLER_METRICS_TOKEN = token
    response = client.get("/metrics", headers={"Authorization": sent} if sent else {})
    assert (response.status_code, response["WWW-Authenticate"]) == (401, 'Bearer realm="metrics"')
    assert "crawler_" not in response.content.decode()


def test_crawls_and_their_pages_are_added_up(as_root: Client, real_redis: Redis) -> None:
    a_finished_crawl(requests=5, bytes=700, retries=1)
    a_finished_crawl(outcomes={"2xx": 2, "robots": 1})
    running = a_crawl(discovered=9, outcomes={"2xx": 4})
    a_delivery(running, state=Delivery.GIVEN_UP)
    Disagreement.objects.create(crawl=running, what="")
    found = read(as_root)
    assert (found["crawler_crawls", "finished"], found["crawler_crawls", "running"]) == (2, 1)
    assert found["crawler_crawls", "paused"] == 0
    assert (found["crawler_pages", "2xx"], found["crawler_pages", "robots"], found["crawler_pages", "5xx"]) == (9, 1, 0)
    assert found["crawler_open_pages", ""] == 5
    assert [found[f"crawler_{name}", ""] for name in ("requests", "read_bytes", "retries")] == [5, 700, 1]
    assert (found["crawler_notices", "given_up"], found["crawler_notices", "pending"]) == (1, 0)
    assert found["crawler_disagreements", ""] == 1


def test_queues_windows_and_leases_of_all_crawls_are_added_up(as_root: Client, real_redis: Redis) -> None:
    now = timezone.now().timestamp()
    for _ in range(2):
        keys = CrawlKeys(str(a_crawl().id))
        real_redis.sadd(keys.of_suffix().known_hosts, "a", "b")
        real_redis.zadd(keys.queue("a"), {"1": now - 60, "2": now + 600})
        real_redis.zadd(keys.queue("b"), {"3": now - 60})
        real_redis.zadd(keys.of_suffix().hosts, {"a": now - 60, "b": now + 100})
        real_redis.zadd(keys.leases, {"batch": now - 1, "other": now + 60})
        real_redis.sadd(keys.taken, "7")
        real_redis.rpush(keys.results, "report")
    real_redis.rpush("rq:queue:fetch", "fetch-1", "fetch-2")
    found = read(as_root)
    assert (found["crawler_queue_jobs", "fetch"], found["crawler_queue_jobs", "crawl"]) == (2, 0)
    assert (found["crawler_pages_waiting", ""], found["crawler_pages_past_due", ""]) == (6, 4)
    assert (found["crawler_hosts_waiting", ""], found["crawler_hosts_held", ""]) == (4, 2)
    assert 90 < found["crawler_host_wait_seconds", ""] <= 100
    assert (found["crawler_leases", ""], found["crawler_leases_overdue", ""]) == (4, 2)
    assert (found["crawler_pages_handed_out", ""], found["crawler_reports_waiting", ""]) == (2, 2)
    assert found["crawler_workers", "fetch"] == 0


def test_running_crawls_have_series_of_their_own_but_only_so_many(
    as_root: Client, real_redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "MAX_CRAWL_QUEUES", 2)
    now = timezone.now().timestamp()
    large = a_crawl(discovered=9, flow=[[now - 60, 0, 0, 0, 0], [now, 9, 4, 2, 1]])
    a_page(large, status=Page.OPEN, outcome="", due_since=now - 30)
    a_finished_crawl(flow=[[now, 1, 1, 0, 0]])
    a_crawl(discovered=5)
    a_crawl()
    text = as_root.get("/metrics").content.decode()
    families = {family.name: family.samples for family in text_string_to_metric_families(text)}
    pages = {
        (sample.labels["crawl"], sample.labels["flow"]): sample.value for sample in families["crawler_crawl_pages"]
    }
    assert {crawl for crawl, _ in pages} > {str(large.id)}
    assert len(pages) == 2 * 4
    assert [pages[str(large.id), flow] for flow in ("in", "out", "retried", "dead")] == [9, 4, 2, 1]
    ages = {sample.labels["crawl"]: sample.value for sample in families["crawler_crawl_oldest_due_seconds"]}
    assert len(ages) == 2
    assert 0 <= ages[str(large.id)] < 30  # it began only now


def test_the_oldest_due_page_counts_also_when_a_worker_has_it(
    as_root: Client, real_redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    monkeypatch.setattr(clock, "epoch_seconds", lambda: now)
    crawl = a_crawl_with_a_queue(real_redis, now)
    assert read(as_root)["crawler_crawl_oldest_due_seconds", str(crawl.id)] == pytest.approx(500)


def test_the_workers_that_would_be_useful_are_told(as_root: Client, real_redis: Redis) -> None:
    a_finished_crawl()
    assert read(as_root)["crawler_workers_wanted", ""] == 0
    for crawl in (a_crawl(), a_crawl()):
        keys = CrawlKeys(str(crawl.id))
        real_redis.zadd(keys.queue("a.test"), {"3": 0})
        real_redis.zadd(keys.of_suffix().hosts, {"a.test": 0})
        real_redis.zadd(keys.of_suffix().weights, {"a.test": 1})
    found = read(as_root)
    assert (found["crawler_workers_wanted", ""], found["crawler_browser_workers_wanted", ""]) == (1, 0)


def test_the_places_of_browser_workers_and_the_pages_that_wait_for_them_are_told(
    as_root: Client, real_redis: Redis
) -> None:
    now = time.time()
    places = LaneSlots(real_redis, RENDER)
    for name in ("one", "two"):
        places.register(name, 6, now)
    places.register("gone", 6, now - 2 * WORKER_TTL_S)
    for render, pages in (("auto", 2), ("always", 3), ("never", 0)):
        queue = Frontier(real_redis, a_crawl(options=CrawlOptions(render=render)).id).ready_queue
        lane = lane_of("a.test", is_suspect=False, deaths=0, suffix=RENDER.suffix)
        queue.enqueue([QueueItem(number, lane, now - 60) for number in range(pages)])
        queue.enqueue([QueueItem(9, "a.test", now - 60)])  # needs none
    assert places.take(["lease of one", "lease of another"], 12, now) == 2
    real_redis.set("lease of one", "token")  # the other batch is complete
    found = read(as_root)
    assert (found["crawler_browser_places", ""], found["crawler_browser_places_taken", ""]) == (12, 1)
    assert found["crawler_pages_for_browsers", ""] == 5


def test_the_time_of_ticks_is_a_histogram(as_root: Client, real_redis: Redis) -> None:
    for seconds in (0.02, 0.03, 20.0):
        with real_redis.pipeline() as pipe:
            metrics.record_tick(pipe, seconds)
            pipe.execute()
    found = read(as_root)
    assert [found["crawler_tick_seconds_bucket", bound] for bound in ("0.01", "0.025", "0.05", "10.0", "+Inf")] == [
        *(0, 1, 2),
        *(2, 3),
    ]
    assert (found["crawler_tick_seconds_count", ""], found["crawler_tick_last_seconds", ""]) == (3, 20.0)
    assert found["crawler_tick_seconds_sum", ""] == pytest.approx(20.05)


def test_without_redis_the_table_is_told_all_the_same(as_root: Client) -> None:
    a_finished_crawl()
    found = read(as_root)
    assert (found["crawler_up", "database"], found["crawler_up", "redis"]) == (1, 0)
    assert found["crawler_crawls", "finished"] == 1
    assert ("crawler_clock_skew_seconds", "redis") not in found
    assert ("crawler_leases", "") not in found


def test_how_the_clocks_differ_is_told(as_root: Client, real_redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    right = time.time
    monkeypatch.setattr(time, "time", lambda: right() - 600)
    assert read(as_root)["crawler_clock_skew_seconds", "redis"] == pytest.approx(-600, abs=2)


def test_what_it_costs_does_not_grow_with_the_crawls(
    as_root: Client, real_redis: Redis, django_assert_max_num_queries: Any
) -> None:
    for _ in range(30):
        a_crawl()
    # The session, the person, crawls, deliveries, disagreements, calls of hooks, and the database's clock.
    with django_assert_max_num_queries(7):
        before = real_redis.info("commandstats")
        read(as_root)
    after = real_redis.info("commandstats")
    assert after["cmdstat_time"]["calls"] - before.get("cmdstat_time", {"calls": 0})["calls"] <= 3
