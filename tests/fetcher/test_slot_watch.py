"""A request whose host slot Redis does not confirm ends before another slice may have the slot; its page stays open."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from redis import Redis
from redis.client import Pipeline

from crawler.fetcher import session
from crawler.fetcher.connection_slot import ConnectionSlot
from crawler.fetcher.loop import fetch
from crawler.frontier import keys, leases
from crawler.frontier.host_limiter import HostLimiter
from crawler.models import Page
from crawler.reports.receipt import receipt_of
from tests.bench import Bench
from tests.site import Reply, page

SLOW = 30.0  # seconds a page takes that is given up
SHORT_TTL_S = 3.0  # of slots, in place of 10 s


@pytest.fixture
def no_answer(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Redis confirms no slot a second time, as if each call to it took too long. A page may take long."""
    settings.CRAWLER_PAGE_SECONDS = 10 * SLOW
    monkeypatch.setattr(session, "LEASE_TTL_S", SHORT_TTL_S)
    monkeypatch.setattr(ConnectionSlot, "renew", lambda slot, pipe: None)


@pytest.fixture(params=["builtin", "curl", "requests"])
def http_client(request: pytest.FixtureRequest, settings: Any) -> None:
    """Each of the HTTP clients."""
    if request.param == "curl":
        pytest.importorskip("pycurl")
    settings.CRAWLER_HTTP_CLIENT = request.param


def quickly(work: Callable[[], object]) -> None:
    began = time.monotonic()
    work()
    assert time.monotonic() - began < SLOW / 2


@pytest.mark.site({"/": lambda before: Reply("there", after=0.0 if before else SLOW)})
def test_its_page_is_asked_for_again_and_no_attempt_is_counted(
    bench: Bench, http_client: None, no_answer: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = bench.handed_out()
    quickly(lambda: fetch(batch))
    assert [report.results for report in bench.reports()] == [()]
    monkeypatch.undo()
    bench.work()
    assert bench.state() == "finished"
    assert list(Page.objects.filter(crawl=bench.crawl).values_list("attempts", "deaths")) == [(1, 0)]
    receipt = receipt_of(bench.crawl)
    assert (receipt["fetched"], receipt["retries"]) == (1, 0)
    assert receipt["requests"] == bench.site.hits.total() == 3  # robots.txt, and the page twice


@pytest.mark.site({"/robots.txt": Reply("", after=SLOW), "/": ""})
def test_so_does_one_for_robots_txt(bench: Bench, no_answer: None) -> None:
    batch = bench.handed_out()
    quickly(lambda: fetch(batch))
    (report,) = bench.reports()
    assert (report.results, report.requests, report.done) == ((), 1, True)


@pytest.mark.site({"/": Reply("there", after=SLOW)})
def test_it_ends_when_others_have_all_slots(bench: Bench, real_redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after an outage in which the slot expired."""
    monkeypatch.setattr(leases.Heartbeat.__init__, "__defaults__", (0.1,))  # seconds between two renewals
    slots = keys.host_slots(bench.site.host)

    def renew(slot: ConnectionSlot, pipe: Pipeline) -> float | None:
        if bench.site.hits["/"] and not real_redis.zscore(slots, "another"):
            real_redis.delete(slots)
            real_redis.zadd(slots, {"another": time.time() + 9})
        return usual(slot, pipe)

    usual = ConnectionSlot.renew
    monkeypatch.setattr(ConnectionSlot, "renew", renew)
    batch = bench.handed_out(concurrency=1)
    quickly(lambda: fetch(batch))
    assert [report.results for report in bench.reports()] == [()]
    assert real_redis.zrange(slots, 0, -1) == [b"another"]


@pytest.mark.site({"/": page("/a", "/b", "/c"), "/a": "", "/b": "", "/c": ""})
def test_a_slot_that_is_valid_is_taken_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for each page."""
    taken: list[str] = []
    take = HostLimiter.take_slot

    def taking(limiter: HostLimiter, host: str, holder: str, *more: Any) -> Any:
        taken.append(holder)
        return take(limiter, host, holder, *more)

    monkeypatch.setattr(HostLimiter, "take_slot", taking)
    bench.start(concurrency=1)
    bench.work()
    assert bench.state() == "finished"
    assert bench.site.hits.total() == 5
    assert len(taken) <= 2  # one for each slice
