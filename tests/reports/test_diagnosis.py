"""Why a crawl is not finished, told of crawls the real engine has brought into each situation."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from redis import Redis
from rq import Queue, SimpleWorker

from crawler import clock
from crawler.core.politeness.throttle import Throttle
from crawler.crawls.control import pause
from crawler.frontier import keys
from crawler.frontier.frontier import Frontier
from crawler.frontier.host_limiter import HostLimiter, HostPolicy
from crawler.frontier.host_throttle import encoded_throttle
from crawler.frontier.leases import LEASE_TTL_S, Lease
from crawler.frontier.ready_queue import JOB_CHECK_INTERVAL_S
from crawler.frontier.results import LOCK_TTL_S
from crawler.manager.context import TickContext
from crawler.manager.dispatch import refill
from crawler.manager.finish import finish_if_done
from crawler.manager.recover_leases import recover_leases
from crawler.models import Crawl, Page
from crawler.queueing import queues
from crawler.reports.diagnosis import why_of
from crawler.reports.diagnosis_facts import MAX_LISTED, robots_cache_of
from tests.bench import Bench
from tests.factories import make_crawl, make_page
from tests.site import Reply, page
from tests.stops import stop_host
from tests.web.conftest import NOWHERE

pytestmark = pytest.mark.usefixtures("transactional_db", "real_redis")

TREE = {"/": page("/a", "/b", "/c"), "/a": page(), "/b": page(), "/c": page()}


@pytest.fixture
def worker(real_redis: Redis) -> Iterator[SimpleWorker]:
    """A worker that RQ lists, alive and idle."""
    listed = SimpleWorker([Queue("crawl", connection=real_redis), Queue("fetch", connection=real_redis)])
    listed.register_birth()
    yield listed
    listed.register_death()


def told(bench: Bench, in_seconds: float = 0.0) -> dict[str, Any]:
    """The report, asked for some seconds from now."""
    bench.crawl.refresh_from_db()
    return why_of(bench.crawl, clock=later(bench, in_seconds))


def answer(bench: Bench, in_seconds: float = 0.0) -> str:
    first: str = told(bench, in_seconds)["sentences"][0]
    return first


def later(bench: Bench, seconds: float) -> Callable[[], float]:
    clock = bench.context.frontier.now
    return lambda: clock() + seconds


def context_later(bench: Bench, seconds: float) -> TickContext:
    context = bench.context
    frontier = Frontier(context.frontier.redis, str(bench.crawl.id), clock=later(bench, seconds))
    return TickContext(context.crawl, context.options, frontier)


def the_lease(bench: Bench) -> Lease:
    [(lease, _)] = bench.context.frontier.leases.all()
    return lease


def begun(bench: Bench, *queue_names: str, **options: Any) -> None:
    """The crawl has been started, and after it one job of each of these queues in turn."""
    bench.start(**options)
    for name in queue_names:
        bench.work(name, at_most=1)


def claimed(bench: Bench) -> Lease:
    """A fetch job has begun."""
    begun(bench, "crawl")
    lease, frontier = the_lease(bench), bench.context.frontier
    assert frontier.leases.claim(lease.batch, lease.token, frontier.now(), "here:42")
    queues.connection().delete("rq:queue:fetch")
    return lease


def test_without_a_worker_it_says_how_to_start_one(bench: Bench) -> None:
    bench.start()
    assert answer(bench) == "No worker is running: start one with bin/worker."


def test_a_worker_of_one_queue_alone_is_not_enough(bench: Bench, real_redis: Redis) -> None:
    bench.start()
    listed = SimpleWorker([Queue("crawl", connection=real_redis)])
    listed.register_birth()
    assert 'listens to the queue "fetch"' in answer(bench)
    assert told(bench)["workers"] == {"crawl": 1, "fetch": 0}
    listed.register_death()


def test_a_crawl_that_has_just_begun_waits_for_the_manager(bench: Bench, worker: SimpleWorker) -> None:
    bench.start()
    found = told(bench)
    assert found["sentences"][0].startswith("It has just been started")
    assert found["manager"]["doing"] == "coming"
    assert found["queues"] == {"crawl": 1, "fetch": 0, "render": 0, "scrapy": 0}
    assert found["open"]["count"] == 1


def test_a_crawl_that_no_manager_has_run_for_a_minute_says_so(bench: Bench, worker: SimpleWorker) -> None:
    """As when the listed workers work for another installation."""
    bench.start()
    began = clock.now() - timedelta(seconds=66)
    Crawl.objects.update(round_began_at=began)
    bench.crawl.refresh_from_db()
    assert re.match(
        r"No manager run for 1 min \d s: its job is queued, but the listed worker has not taken it", answer(bench)
    )


def test_a_batch_handed_out_waits_for_a_free_worker(bench: Bench, worker: SimpleWorker) -> None:
    begun(bench, "crawl")
    found = told(bench)
    assert found["sentences"][0] == "1 batch with 1 page waits for a free worker (1 is running)."
    [batch] = found["batches"]
    assert (batch["hold"], batch["holder"], batch["since"], batch["lease_left"]) == ("queued", "", None, None)
    assert (batch["hosts"], batch["pages"], batch["open"]) == ([bench.site.host], 1, 1)
    [open_page] = found["open"]["shown"]
    assert (open_page["url"], open_page["batch"]) == (f"{bench.site.url}/", batch["id"])


def test_a_batch_that_waits_long_is_not_lost(bench: Bench, worker: SimpleWorker) -> None:
    begun(bench, "crawl")
    later = context_later(bench, 60)
    recover_leases(later, later.frontier.leases.overdue(later.now()))
    assert "waits for a free worker" in answer(bench, 60)


def test_a_batch_in_hand_shows_who_holds_it_and_its_lease(bench: Bench) -> None:
    claimed(bench)
    found = told(bench)
    assert found["sentences"][0] == "1 batch with 1 page is being fetched right now."
    [batch] = found["batches"]
    assert (batch["hold"], batch["holder"]) == ("fetching", "here:42")
    assert batch["since"] is not None
    assert LEASE_TTL_S - 5 < batch["lease_left"] <= LEASE_TTL_S
    assert found["open"]["shown"][0]["holder"] == "here:42"


def test_a_worker_that_stops_renewing_seems_to_have_died(bench: Bench, worker: SimpleWorker) -> None:
    claimed(bench)
    found = told(bench, LEASE_TTL_S - 3)
    assert found["sentences"][0].startswith(
        "A worker seems to have died with 1 page in hand; it goes back to the others in "
    )
    assert found["batches"][0]["hold"] == "silent"
    assert 0 < found["batches"][0]["back_in"] <= 3


def test_a_job_that_rq_has_lost_is_told_once_the_manager_missed_it(bench: Bench, worker: SimpleWorker) -> None:
    begun(bench, "crawl")
    queues.connection().delete("rq:queue:fetch")
    assert "is just being started by a worker" in answer(bench)
    later = context_later(bench, JOB_CHECK_INTERVAL_S + 1)
    recover_leases(later, later.frontier.leases.overdue(later.now()))
    found = told(bench, JOB_CHECK_INTERVAL_S + 2)
    assert found["sentences"][0].startswith("The queue has lost 1 batch with 1 page")
    assert 0 < found["batches"][0]["back_in"] <= JOB_CHECK_INTERVAL_S


def test_what_a_fetch_job_left_waits_to_be_taken_in(bench: Bench, worker: SimpleWorker) -> None:
    begun(bench, "crawl", "fetch")
    for seconds in (0, LEASE_TTL_S + 5):  # a job that has ended is not one that died, however long it waits
        found = told(bench, seconds)
        assert found["sentences"][0] == (
            "1 report of fetched pages waits to be processed by the manager, which waits for a free worker."
        )
        assert found["batches"][0]["hold"] == "reported"
    assert found["manager"]["reports"] == 1


@pytest.mark.site(TREE)
def test_a_host_that_rests_by_the_chosen_delay(bench: Bench, worker: SimpleWorker) -> None:
    begun(bench, "crawl", "fetch", "crawl", delay=60.0)  # robots.txt has the first turn; the start page is handed back
    found = told(bench)
    assert found["sentences"][0].startswith(f"It is waiting for {bench.site.host}, which may be requested again in ")
    assert found["sentences"][0].endswith("(the delay chosen for this crawl).")
    [host] = found["hosts"]["shown"]
    assert (host["host"], host["pages"], host["reason"], host["suspects"]) == (bench.site.host, 1, "delay", False)
    assert 30 < host["next_in"] <= 60


@pytest.mark.site({**TREE, "/robots.txt": "User-agent: *\nCrawl-delay: 30"})
def test_a_host_that_rests_by_its_robots_txt(bench: Bench, worker: SimpleWorker) -> None:
    begun(bench, "crawl", "fetch", "crawl")
    found = told(bench)
    assert found["sentences"][0].endswith("(Crawl-delay).")
    [host] = found["hosts"]["shown"]
    assert (host["reason"], host["crawl_delay"]) == ("robots", 30.0)


def test_a_host_that_another_crawl_has_just_asked_rests_as_well(bench: Bench, worker: SimpleWorker) -> None:
    bench.start(delay=60.0)
    context = bench.context
    refill(context)
    HostLimiter(context.frontier.redis, LEASE_TTL_S).request_grant(
        bench.site.host, "a", HostPolicy("another", delay=60.0), context.frontier.now()
    )
    assert "which may be requested again in" in answer(bench)


@pytest.mark.site({"/": Reply("busy", status=503, headers={"Retry-After": "120"})})
def test_the_server_asked_to_wait_and_no_connection_is_blamed(
    bench: Bench, worker: SimpleWorker, real_redis: Redis
) -> None:
    begun(bench, "crawl", "fetch", "crawl")
    stop_host(real_redis, bench.site.host, 120, bench.context.now(), status=503)
    found = told(bench)
    [host] = found["hosts"]["shown"]
    until = datetime.fromisoformat(host["stop"]["until"])
    assert (host["reason"], host["stop"]["status"], host["connections"]) == ("stop", 503, 0)
    closing, waiting, *_ = found["sentences"]
    assert closing.startswith("The rest is 1 page whose server asked to wait")
    assert waiting.startswith(f"{bench.site.host} responded with 503 and asked to wait until {until:%H:%M:%S} UTC (in ")
    assert "connections" not in waiting


@pytest.mark.site({"/": Reply("broken", status=500, headers={"Retry-After": "120"})})
def test_a_page_that_failed_is_tried_again(bench: Bench, worker: SimpleWorker) -> None:
    begun(bench, "crawl", "fetch", "crawl")
    found = told(bench)
    assert f"It is waiting for {bench.site.host}, where a page that failed is tried again in" in found["sentences"][1]
    [open_page] = found["open"]["shown"]
    assert open_page["attempts"] == 1
    assert 60 < open_page["due_in"] <= 120


def test_a_page_with_a_later_time_is_not_said_to_have_failed(bench: Bench, worker: SimpleWorker) -> None:
    bench.start()
    Page.objects.update(due_at=bench.context.now() + 3600)
    bench.work("crawl", at_most=1)
    sentence = f"It is waiting for {bench.site.host}, where the next page becomes due in"
    assert any(sentence in found for found in told(bench)["sentences"])


def busy_host(bench: Bench, crawl: str, connections: int = 1) -> None:
    """A crawl of this id uses all the connections that it wants to be used."""
    gate, now = HostLimiter(bench.context.frontier.redis, LEASE_TTL_S), bench.context.frontier.now()
    for number in range(connections):
        assert gate.take_slot(
            bench.site.host, f"{crawl}:batch:{number}", HostPolicy(crawl, connections=connections), now
        )


def test_connections_are_told_by_the_crawls_that_use_them(bench: Bench, worker: SimpleWorker) -> None:
    bench.start(concurrency=4)
    refill(bench.context)
    other = make_crawl("http://other.test/")
    busy_host(bench, str(other.id), connections=2)
    used = f"2 of 2 connections to {bench.site.host} are in use: 2 by "
    assert answer(bench) == f"{used}crawl {other.id} (other.test)."
    hidden = why_of(bench.crawl, visible=Crawl.objects.none())
    assert hidden["sentences"][0] == f"{used}another crawl."
    assert str(other.id) not in json.dumps(hidden)


def test_while_a_connection_is_free_none_is_said_to_be_lacking(bench: Bench, worker: SimpleWorker) -> None:
    bench.start(concurrency=4)
    refill(bench.context)
    busy_host(bench, str(uuid4()), connections=2)
    bench.context.frontier.redis.delete(keys.host_policies(bench.site.host))  # that crawl has gone; 2 of 4 are in use
    found = told(bench)
    [host] = found["hosts"]["shown"]
    assert (host["reason"], host["connections"], host["connections_allowed"]) == ("nothing", 2, 4)


def test_a_worker_that_finds_no_free_connection_is_not_said_to_fetch(bench: Bench, worker: SimpleWorker) -> None:
    claimed(bench)
    busy_host(bench, str(uuid4()))
    assert told(bench)["sentences"][:2] == [
        f"1 of 1 connection to {bench.site.host} is in use: 1 by another crawl.",
        "1 batch with 1 page is held by a worker that waits for this page.",
    ]


def test_the_throttle_is_told_with_its_delay(bench: Bench, worker: SimpleWorker, real_redis: Redis) -> None:
    bench.start()
    refill(bench.context)
    now = bench.context.frontier.now()
    throttle = Throttle(delay=4.0, failures=5, weight=5.0, failed=5.0, news_at=now)
    real_redis.hset(keys.host(bench.site.host), mapping={"sent": now, **encoded_throttle(throttle, now)})
    assert answer(bench).endswith("one request in 4.0 s (slowed down: the last 5 requests got no response).")
    bench.crawl.options = {**bench.crawl.options, "throttle": False}
    bench.crawl.save()
    assert "slowed down" not in answer(bench)


def test_one_page_that_is_tried_after_a_stop_is_told(bench: Bench, worker: SimpleWorker, real_redis: Redis) -> None:
    bench.start()
    refill(bench.context)
    real_redis.hset(
        keys.host(bench.site.host), mapping={"probe": "x", "probe_until": bench.context.frontier.now() + 20}
    )
    assert answer(bench).startswith(f"{bench.site.host} asked to wait, so one page is being tested first;")


def test_a_robots_txt_that_is_being_asked_for_is_told(bench: Bench, worker: SimpleWorker) -> None:
    bench.start()
    refill(bench.context)
    assert robots_cache_of(bench.context.frontier.redis, bench.crawl).acquire_lock(bench.site.url, "somebody")
    assert answer(bench) == f"It is waiting for {bench.site.host}, whose robots.txt is being requested."


@pytest.mark.site({"/": page(), "/robots.txt": Reply("broken", status=500)})
def test_a_robots_txt_that_could_not_be_had_is_asked_for_again(bench: Bench, worker: SimpleWorker) -> None:
    begun(bench, "crawl", "fetch", "crawl")
    first = answer(bench)
    assert first.startswith(f"It is waiting for {bench.site.host}, whose robots.txt is requested again in ")
    assert first.endswith("(robots.txt could not be fetched, so no page may be fetched: the server returned 500).")


def test_a_paused_crawl_waits_for_a_person(bench: Bench) -> None:
    begun(bench, "crawl")
    pause(bench.crawl.id)
    found = told(bench)
    assert found["sentences"][0] == "It is paused: no page is requested until a user resumes it."
    assert found["sentences"][1] == "1 batch with 1 page waits for a free worker."


@pytest.mark.site(TREE)
def test_redis_was_emptied_while_pages_were_open(bench: Bench, real_redis: Redis) -> None:
    begun(bench, "crawl", "fetch", "crawl")
    real_redis.flushall()
    listed = SimpleWorker([Queue("crawl", connection=real_redis), Queue("fetch", connection=real_redis)])
    listed.register_birth()
    found = told(bench)
    assert found["sentences"][0] == (
        "Redis does not know the open pages: the manager queues them again from the table."
    )
    assert found["sentences"][1] == "3 pages are open."
    assert [row["url"].removeprefix(bench.site.url) for row in found["open"]["shown"]] == ["/a", "/b", "/c"]
    assert {row["found_on"] for row in found["open"]["shown"]} == {f"{bench.site.url}/"}
    listed.register_death()


def test_a_worker_that_rq_has_forgotten_is_not_called_dead(bench: Bench, real_redis: Redis) -> None:
    crawl = bench.start()
    real_redis.flushall()
    crawl.samples = [[bench.context.frontier.now() - 1, 2, 1]]
    crawl.save(update_fields=["samples"])
    found = told(bench)
    assert not found["sentences"][0].startswith("No worker is running")
    assert "No worker is listed, but one was running a moment ago." in found["sentences"]
    assert told(bench, 60)["sentences"][0].startswith("No worker is running")


def test_a_run_of_the_manager_that_was_killed_is_told(bench: Bench, worker: SimpleWorker) -> None:
    bench.start()
    results = bench.context.frontier.results
    results.acquire_lock("somebody")
    assert told(bench)["manager"]["doing"] == "working"
    queues.connection().pexpire(bench.context.frontier.keys.lock, int((LOCK_TTL_S - 11) * 1000))
    found = told(bench)
    assert found["manager"]["doing"] == "silent"
    assert any("The manager seems to have died" in sentence for sentence in found["sentences"])


def test_a_disagreement_of_the_two_checks_is_told(bench: Bench) -> None:
    bench.start()
    bench.context.frontier.results.clear_mark()
    finish_if_done(bench.context)
    found = told(bench)
    assert found["disagreements"]["count"] == 1
    [said] = found["disagreements"]["newest"]
    assert said["what"].startswith("nothing was queued or handed out")
    assert any("have disagreed once" in sentence for sentence in found["sentences"])


@pytest.mark.site({"/": page("/a", "/busy"), "/a": page(), "/busy": Reply("busy", status=503)})
def test_pages_given_up_lately_are_told(bench: Bench, settings: Any) -> None:
    settings.CRAWLER_MAX_ATTEMPTS = 1
    bench.start()
    bench.work()
    found = told(bench)
    assert found["sentences"] == ["It is finished: no page is open."]
    assert found["given_up"]["last_hour"] == 1
    [letter] = found["given_up"]["newest"]
    assert (letter["url"], letter["outcome"]) == (f"{bench.site.url}/busy", "5xx")


@pytest.mark.site(TREE)
def test_a_finished_crawl_is_finished(bench: Bench) -> None:
    bench.start()
    bench.work()
    found = told(bench)
    assert found["sentences"] == ["It is finished: no page is open."]
    assert (found["state"], found["open"]) == ("finished", {"count": 0, "shown": []})
    assert (found["batches"], found["hosts"]) == ([], {"waiting": 0, "shown": []})


def test_a_deadline_is_told(bench: Bench) -> None:
    bench.start(deadline=600.0)
    found = told(bench)
    assert 500 < found["ends"]["deadline_in"] <= 600
    assert 500 < found["ends"]["next_expiry_in"] <= 600
    assert any(sentence.startswith("Its deadline is in") for sentence in found["sentences"])


def test_without_redis_the_table_is_still_told(bench: Bench, settings: Any) -> None:
    bench.start()
    settings.REDIS_URL = NOWHERE
    bench.crawl.refresh_from_db()
    found = why_of(bench.crawl)
    assert found["sentences"][0] == (
        "Redis does not respond, so nothing is fetched. The crawl continues once Redis is back."
    )
    assert found["redis"]["answers"] is False
    assert found["redis"]["error"]
    assert (found["batches"], found["hosts"], found["manager"]) == (None, None, None)
    assert [row["url"] for row in found["open"]["shown"]] == [f"{bench.site.url}/"]


def test_a_large_crawl_shows_its_first_open_pages_and_costs_a_few_queries(
    django_assert_max_num_queries: Callable[[int], Any],
) -> None:
    crawl = make_crawl(discovered=1_000_000, outcomes={"2xx": 999_700})
    for number in range(300):
        make_page(crawl, f"http://site.test/{number}")
    with django_assert_max_num_queries(6):
        found = why_of(crawl)
    assert found["open"]["count"] == 300
    assert [row["url"] for row in found["open"]["shown"]] == [f"http://site.test/{n}" for n in range(MAX_LISTED)]


def test_open_pages_are_found_by_their_own_index() -> None:
    plans = [
        Page.objects.filter(crawl=uuid4(), status=Page.OPEN).order_by("id")[:MAX_LISTED].explain(),
        Page.objects.filter(crawl=uuid4(), status=Page.OPEN, expires_at__isnull=False).explain(),
    ]
    assert connection.vendor != "sqlite" or ["page_open" in plans[0], "page_expiring" in plans[1]] == [True, True]
