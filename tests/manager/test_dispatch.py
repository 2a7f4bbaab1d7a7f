"""How many batches of a crawl are out, and how many of its pages are in Redis."""

from typing import Any

import pytest

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.politeness.host_rules import EARLY_SLICE_PAGES, MAX_SLICES_PER_BATCH, Pace
from crawler.crawls.start import start_crawl
from crawler.manager import dispatch as dispatch_module
from crawler.manager.dispatch import MAX_PAGES_PER_BATCH, PREFETCH_BATCHES, dispatch, refill
from crawler.models import Page
from tests.bench import Bench

WORKERS, SLICES = 100, 16  # of each worker

HOSTS = [f"http://127.0.{place // 250}.{place % 250 + 1}/" for place in range(WORKERS * SLICES)]
"""With one page each, and so with one slice."""


@pytest.fixture
def many_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch_module, "worker_count", lambda queue: WORKERS)


@pytest.fixture
def one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch_module, "worker_count", lambda queue: 1)


def start(bench: Bench, urls: list[str]) -> None:
    bench.crawl = start_crawl(urls, CrawlOptions(), allow_private=True)


@pytest.mark.usefixtures("many_workers")
def test_a_hundred_workers_share_all_connections_that_a_crawl_can_use(bench: Bench) -> None:
    start(bench, HOSTS)
    assert dispatch(bench.context) == WORKERS
    assert {len(batch.slices) for batch in bench.batches()} == {SLICES}


@pytest.mark.usefixtures("one_worker")
def test_a_worker_with_free_connections_is_given_several_batches_of_many_hosts(bench: Bench) -> None:
    start(bench, HOSTS[: 3 * MAX_SLICES_PER_BATCH])
    assert dispatch(bench.context) == 1 + PREFETCH_BATCHES
    assert {len(batch.slices) for batch in bench.batches()} == {MAX_SLICES_PER_BATCH}


@pytest.mark.usefixtures("one_worker")
def test_a_worker_is_given_as_many_slices_as_slow_hosts_allow(bench: Bench) -> None:
    hosts = HOSTS[: MAX_SLICES_PER_BATCH + 8]
    start(bench, [f"{host}{page}" for host in hosts for page in range(5)])
    paces = {host.split("/")[2]: Pace(slices=8, pages=1, short=1) for host in hosts}
    bench.context.frontier.ready_queue.set_paces(paces)
    assert dispatch(bench.context) == 1 + PREFETCH_BATCHES
    assert {len(batch.slices) for batch in bench.batches()} == {MAX_SLICES_PER_BATCH}


@pytest.mark.usefixtures("one_worker")
def test_a_worker_without_free_connections_is_given_one(bench: Bench, settings: Any) -> None:
    settings.CRAWLER_WORKER_CONNECTIONS = 2 * MAX_SLICES_PER_BATCH
    start(bench, HOSTS[: 4 * MAX_SLICES_PER_BATCH])
    assert dispatch(bench.context) == 2
    assert dispatch(bench.context) == 1


@pytest.mark.usefixtures("many_workers")
def test_no_more_batches_are_out_than_the_setting_allows(bench: Bench, settings: Any) -> None:
    settings.CRAWLER_MAX_BATCHES = 3
    start(bench, HOSTS)
    assert [dispatch(bench.context) for _ in range(2)] == [3, 0]
    assert bench.context.frontier.leases.outstanding() == 3


def test_slices_are_short_while_results_decide_what_is_requested(bench: Bench) -> None:
    start(bench, [f"{bench.site.url}/{number}" for number in range(400)])
    frontier = bench.context.frontier
    frontier.ready_queue.set_paces({bench.site.host: Pace(slices=2, pages=256)})
    frontier.redis.set(frontier.keys.early_results, 1)
    dispatch(bench.context)
    sizes = [len(part.pages) for batch in bench.batches() for part in batch.slices]
    assert sizes == [EARLY_SLICE_PAGES] * 2


def test_no_more_pages_are_in_redis_than_the_setting_allows(bench: Bench, settings: Any) -> None:
    settings.CRAWLER_MAX_READY_PAGES = 1_000
    start(bench, [f"{bench.site.url}/{number}" for number in range(1_200)])
    ready_queue = bench.context.frontier.ready_queue
    refill(bench.context)
    refill(bench.context)
    assert ready_queue.size() == 1_000
    dispatch(bench.context)
    out = ready_queue.handed_out()
    assert 0 < out <= MAX_PAGES_PER_BATCH
    refill(bench.context)
    assert ready_queue.size() + out == min(1_200, 1_000 + out)


def test_pages_with_a_later_time_hold_up_no_others(bench: Bench, settings: Any) -> None:
    settings.CRAWLER_MAX_READY_PAGES = 1_000
    start(bench, [f"{bench.site.url}/{number}" for number in range(1_500)])
    later = Page.objects.order_by("id").values("id")[:1_400]
    Page.objects.filter(id__in=list(later.values_list("id", flat=True))).update(due_at=bench.context.now() + 3600)
    ready_queue, results = bench.context.frontier.ready_queue, bench.context.frontier.results
    results.clear_mark()
    refill(bench.context)
    assert ready_queue.size() == 1_000
    assert results.mark() is not None  # another tick lets in the rest
    assert dispatch(bench.context) > 0
    assert ready_queue.size() + ready_queue.handed_out() == 1_500
    refill(bench.context)
    assert ready_queue.size() + ready_queue.handed_out() == 1_500


@pytest.mark.parametrize(("short", "batches"), [(1, 2), (24, 1)], ids=["a slow host", "a fast one"])
def test_each_worker_is_given_slices_of_a_slow_host(
    short: int, batches: int, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch_module, "worker_count", lambda queue: 2)
    urls = [f"{HOSTS[0]}{page}" for page in range(200)]
    bench.crawl = start_crawl(urls, CrawlOptions(concurrency=16), allow_private=True)
    bench.context.frontier.ready_queue.set_paces({HOSTS[0].split("/")[2]: Pace(slices=32, pages=50, short=short)})
    leases = bench.context.frontier.leases
    with monkeypatch.context() as few:
        few.setattr(dispatch_module, "MAX_SLICES_PER_BATCH", 1)
        dispatch(bench.context)
    for batch in bench.batches():
        assert leases.claim(batch.id, batch.token, bench.context.now(), "a worker")
    assert dispatch(bench.context) == batches
