"""A user ends what a host waits for: all crawls of it go on at once, and what others may be kept waiting for stays."""

import pytest
from redis import Redis

from crawler.crawls.control import pause
from crawler.manager.host_waits import EndedWaits, end_host_waits, has_pages_of
from crawler.models import AuditEntry
from crawler.queueing import queues
from crawler.reports.host import known_of
from tests.bench import Bench
from tests.site import Reply, page
from tests.stops import stop_host

BUSY = Reply("busy", status=429, headers={"Retry-After": "3600"})

pytestmark = pytest.mark.site({"/": BUSY})


def busy_once(path_before: int) -> Reply | str:
    return BUSY if path_before == 0 else page()


def stopped(bench: Bench) -> None:
    """The server has answered 429 and asked to wait for an hour."""
    bench.start()
    for queue in ("crawl", "fetch", "crawl"):
        bench.work(queue, at_most=1)
    stop_host(queues.connection(), bench.site.host, 3600, bench.context.now())


@pytest.mark.site({"/": busy_once})
def test_a_crawl_that_was_to_wait_for_an_hour_goes_on_at_once(bench: Bench) -> None:
    stopped(bench)
    bench.work("crawl")
    assert (bench.state(), bench.site.hits["/"]) == ("running", 1)
    assert end_host_waits(bench.site.host) == EndedWaits(bench.site.host, had_to_wait=True, crawls=1)
    assert bench.jobs("crawl")
    bench.work()
    assert bench.state() == "finished"
    assert bench.site.hits["/"] == 2


def test_it_is_noted_once_with_what_was_forgotten_and_repeating_it_changes_nothing(bench: Bench) -> None:
    stopped(bench)
    assert end_host_waits(bench.site.host).had_to_wait
    assert not end_host_waits(bench.site.host).had_to_wait
    [entry] = AuditEntry.objects.filter(act="host.forgotten")
    assert (entry.kind, entry.name) == ("host", bench.site.host)
    assert (entry.before["status"], entry.before["delay"] > 0) == (429, True)


def test_a_paused_crawl_stays_paused(bench: Bench) -> None:
    stopped(bench)
    pause(bench.crawl.id)
    assert end_host_waits(bench.site.host).crawls == 1
    bench.work()
    assert bench.state() == "paused"
    assert bench.site.hits["/"] == 1


def test_of_an_unknown_host_there_is_nothing_to_forget(real_redis: Redis) -> None:
    assert end_host_waits("nowhere.test") == EndedWaits("nowhere.test", had_to_wait=False, crawls=0)
    assert list(real_redis.scan_iter("crawler:host:*")) == []
    assert not AuditEntry.objects.exists()
    assert known_of("nowhere.test") is None


def test_the_state_of_a_host_is_shown(bench: Bench) -> None:
    stopped(bench)
    known = known_of(bench.site.host)
    assert known is not None
    assert (known["stop"]["status"], known["connections"], known["crawl_delay"]) == (429, [], None)
    assert 3000 < known["stop"]["in"] <= 3600
    assert known["delay"] > 0
    assert known["crawls"] == [{"id": str(bench.crawl.id), "site": bench.site.host, "state": "running", "waiting": 1}]
    assert [file["status"] for file in known["robots"]] == [404]


def test_a_crawl_has_pages_of_its_own_hosts_alone_and_none_once_it_is_over(bench: Bench) -> None:
    stopped(bench)
    assert has_pages_of(bench.crawl, bench.site.host)
    assert not has_pages_of(bench.crawl, "elsewhere.test")
    bench.crawl.state = "cancelled"
    assert not has_pages_of(bench.crawl, bench.site.host)
