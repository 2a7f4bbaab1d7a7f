"""Without room for what it finds a crawl is held, says why, and goes on by itself; nothing of it is lost."""

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, transaction
from django.utils import timezone
from redis import Redis
from redis.exceptions import OutOfMemoryError

from crawler.core.errors import ServiceDown
from crawler.core.installation.backpressure import Shortage
from crawler.crawls import control, holds
from crawler.crawls.holds import retry_on_outage
from crawler.crawls.reconcile import reconcile, scan
from crawler.frontier import capacity
from crawler.models import Crawl, Notice, PageFacts
from crawler.reports.diagnosis import why_of
from crawler.reports.diagnosis_facts import held_because
from crawler.reports.receipt import receipt_of
from crawler.storage import writer
from crawler.storage.content.objects import Reader
from tests.bench import Bench
from tests.content_storages import FULL, kept_in
from tests.site import page

CHAIN = {"/": page("/a"), "/a": page("/b"), "/b": page("/c"), "/c": page()}
pytestmark = pytest.mark.site(CHAIN)
FULL_REDIS = "It is paused, because Redis is full: it has used up its maxmemory."


@pytest.fixture(autouse=True)
def _unbounded(real_redis: Redis, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each tick looks, and Redis has room again afterwards."""
    monkeypatch.setattr(holds, "CHECK_INTERVAL_S", 0.0)
    yield
    real_redis.config_set("maxmemory", 0)
    real_redis.config_set("maxmemory-policy", "noeviction")


def used(redis: Redis) -> int:
    return int(redis.info("memory")["used_memory"])


def time_passes(crawl: Crawl) -> None:
    """The hold is over."""
    Crawl.objects.filter(pk=crawl.pk, held_until__isnull=False).update(held_until=timezone.now() - timedelta(seconds=1))


def work_until_held(bench: Bench) -> None:
    """Job by job: a watch over a crawl that is held lasts for as long as it is."""
    for _ in range(12):
        if bench.state() == "paused":
            return
        bench.work(at_most=1)
    pytest.fail("the crawl was not held")


def go_on(bench: Bench) -> None:
    time_passes(bench.crawl)
    scan()
    bench.work()


def assert_whole(bench: Bench) -> None:
    assert bench.state() == "finished"
    receipt = receipt_of(bench.crawl)
    assert (receipt["discovered"], receipt["fetched"], receipt["requests"]) == (4, 4, 5)
    assert {path: hits for path, hits in bench.site.hits.items() if path != "/robots.txt"} == dict.fromkeys(CHAIN, 1)


def test_a_full_redis_holds_the_crawl_and_says_so(bench: Bench, real_redis: Redis) -> None:
    crawl = bench.start()
    bench.work(at_most=3)
    real_redis.config_set("maxmemory", 1)
    assert reconcile() is None
    assert bench.state() == "paused"
    crawl.refresh_from_db()
    assert held_because(crawl, time.time()).startswith(FULL_REDIS)
    assert why_of(crawl)["sentences"][0].startswith(FULL_REDIS)


def test_it_resumes_by_itself_once_there_is_capacity(bench: Bench, real_redis: Redis) -> None:
    bench.start()
    bench.work(at_most=3)
    real_redis.config_set("maxmemory", 1)
    reconcile()
    time_passes(bench.crawl)
    reconcile()
    assert bench.state() == "paused"
    real_redis.config_set("maxmemory", 0)
    go_on(bench)
    assert_whole(bench)


def test_it_is_held_while_there_is_capacity_for_results_under_way(bench: Bench, real_redis: Redis) -> None:
    bench.start()
    bench.work("crawl", at_most=1)
    real_redis.config_set("maxmemory", int(used(real_redis) / 0.95))
    work_until_held(bench)
    bench.work("crawl", at_most=1)
    bench.crawl.refresh_from_db()
    assert bench.crawl.tallies.closed == 1
    real_redis.config_set("maxmemory", int(used(real_redis) / 0.85))
    time_passes(bench.crawl)
    scan()
    assert bench.state() == "paused"  # it would be short again at once
    real_redis.config_set("maxmemory", int(used(real_redis) / 0.5))
    go_on(bench)
    assert_whole(bench)


@pytest.mark.site({"/": page()})
def test_a_crawl_of_which_nothing_is_left_is_finished(bench: Bench, real_redis: Redis) -> None:
    bench.start()
    bench.work(at_most=2)
    real_redis.config_set("maxmemory", int(used(real_redis) / 0.95))
    bench.work()
    assert bench.state() == "finished"


def test_paused_by_a_person_meanwhile_it_waits_for_one(bench: Bench, real_redis: Redis) -> None:
    crawl = bench.start()
    real_redis.config_set("maxmemory", 1)
    reconcile()
    assert control.pause(crawl.id)
    real_redis.config_set("maxmemory", 0)
    scan()
    assert bench.state() == "paused"
    assert held_because(Crawl.objects.get(pk=crawl.pk), time.time()) == ""


def test_nothing_is_started_while_redis_is_full(bench: Bench, real_redis: Redis) -> None:
    real_redis.config_set("maxmemory", 1)
    with pytest.raises(ServiceDown, match="Nothing was started, because Redis is full"):
        bench.start()
    assert not Crawl.objects.exists()


def test_a_redis_that_evicts_keys_holds_no_crawl_and_the_diagnosis_says_so(bench: Bench, real_redis: Redis) -> None:
    crawl = bench.start()
    real_redis.config_set("maxmemory-policy", "allkeys-lru")
    real_redis.config_set("maxmemory", used(real_redis) * 10)
    bench.work("crawl", at_most=1)
    assert bench.state() == "running"
    assert "maxmemory-policy should be noeviction" in why_of(crawl)["sentences"][-1]


def test_a_fetch_job_with_results_waits_for_capacity_and_holds_the_crawls(bench: Bench, real_redis: Redis) -> None:
    bench.start()
    real_redis.config_set("maxmemory", 1)

    def make_room(_: float) -> None:
        assert bench.state() == "paused"
        real_redis.config_set("maxmemory", 0)

    assert retry_on_outage(lambda: real_redis.set("result", 1), sleep=make_room)


def test_the_wait_for_a_full_redis_ends() -> None:
    moments = iter(range(0, 1000, 10))

    def refuse() -> None:
        raise OutOfMemoryError("command not allowed when used memory > 'maxmemory'.")

    with pytest.raises(OutOfMemoryError):
        retry_on_outage(refuse, sleep=lambda _: None, clock=lambda: float(next(moments)), hold=lambda _: None)


class FullDatabase:
    """Takes no page in while `is_full`."""

    def __init__(self, patch: pytest.MonkeyPatch, says: str) -> None:
        self.is_full, self._says, self._apply = True, says, writer.apply
        patch.setattr(writer, "apply", self.apply)

    def apply(self, *args: Any, **more: Any) -> Any:
        if not self.is_full:
            return self._apply(*args, **more)
        with transaction.atomic():
            raise OperationalError(self._says)


def test_a_full_database_holds_the_crawl_and_loses_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = FullDatabase(monkeypatch, "database or disk is full")
    crawl = bench.start()
    work_until_held(bench)
    crawl.refresh_from_db()
    assert "because the disk of the database is full" in held_because(crawl, time.time())
    disk.is_full = False
    go_on(bench)
    assert_whole(bench)


def test_where_not_even_the_hold_can_be_written_the_page_says_why_it_stands(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any, **more: Any) -> bool:
        raise OperationalError("database or disk is full")

    FullDatabase(monkeypatch, "database or disk is full")
    monkeypatch.setattr(control, "hold", refuse)
    crawl = bench.start()
    bench.work(at_most=3)
    assert bench.state() == "running"
    assert held_because(crawl, time.time()).startswith(
        "No page is requested, because the disk of the database is full."
    )
    assert set(bench.site.hits) == {"/robots.txt", "/"}


def test_a_full_database_is_left_in_peace_for_a_moment(bench: Bench, real_redis: Redis) -> None:
    bench.start()
    real_redis.delete("rq:queue:crawl", bench.context.frontier.keys.mark)
    capacity.note_shortage(real_redis, Shortage.DATABASE_FULL)
    assert scan().woken == 0
    capacity.clear_database_shortage(real_redis)
    assert scan().woken == 1


def test_other_trouble_of_the_database_is_not_hidden(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    FullDatabase(monkeypatch, "no such column: crawler_page.colour")
    bench.start()
    bench.work(at_most=3)
    assert bench.state() == "running"
    assert holds.shortage_now() is None


def test_pages_whose_content_could_not_be_stored_are_fetched_again(bench: Bench, tmp_path: Path, settings: Any) -> None:
    kept_in(tmp_path, settings, FULL)
    crawl = bench.start(keep=("html",))
    work_until_held(bench)
    crawl.refresh_from_db()
    assert "the content storage is full" in held_because(crawl, time.time())
    assert crawl.tallies.closed == 0
    kept_in(tmp_path, settings)
    bench.context.frontier.redis.delete("crawler:short:storage")
    go_on(bench)
    assert bench.state() == "finished"
    with Reader() as reader:
        places = [facts.kept["html"] for facts in PageFacts.objects.all()]
        assert all(reader.read(tuple(place)) for place in places)
    receipt = receipt_of(crawl)
    assert (receipt["fetched"], receipt["requests"]) == (4, sum(bench.site.hits.values()))


def test_a_hold_is_notified_once_in_an_hour(bench: Bench, real_redis: Redis) -> None:
    bench.start(notify_emails=("ann@example.com",), notify_events=("crawl.paused",))
    for _ in range(3):
        holds.hold(bench.crawl.id, Shortage.DATABASE_FULL)
        time_passes(bench.crawl)
        scan()
    assert Notice.objects.filter(event="crawl.paused").count() == 1
