"""Running crawls get batches in proportion to their weights. The ticks are real; the test does what workers do."""

from collections import Counter

import pytest
from rq import Queue

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import Batch, PageResult
from crawler.crawls.start import start_crawl
from crawler.manager import dispatch as dispatch_module
from crawler.manager.context import context_of
from crawler.manager.tick import manage
from crawler.models import Crawl, Page
from crawler.queueing import queues
from crawler.storage import writer
from tests.bench import Bench

WORKERS = 4
HOSTS = 640  # of a large crawl, with a page each


@pytest.fixture(autouse=True)
def _four_workers(monkeypatch: pytest.MonkeyPatch, bench: Bench) -> None:
    monkeypatch.setattr(dispatch_module, "worker_count", lambda queue: WORKERS)


def a_crawl(network: int, hosts: int, weight: int = 5) -> Crawl:
    urls = [f"http://127.{network}.{place // 250}.{place % 250 + 1}/" for place in range(hosts)]
    return start_crawl(urls, CrawlOptions(weight=weight), allow_private=True)


def next_batch() -> Batch:
    """What a worker takes from the queue, and is done with."""
    queue = Queue(queues.FETCH, connection=queues.connection())
    while True:
        job = queue.jobs[0]
        queue.remove(job)
        if job.args:  # a watch has none
            return Batch.from_plain(job.args[0])


def fetch(batch: Batch) -> None:
    context = context_of(Crawl.objects.get(id=batch.crawl))
    leases = context.frontier.leases
    assert leases.claim(batch.id, batch.token, context.now())
    results = [
        PageResult(id=page.id, attempt=1, outcome=Outcome.SUCCESS, http_status=200)
        for part in batch.slices
        for page in part.pages
    ]
    writer.apply(context.id, results, [], [], context.now())
    for number, part in enumerate(batch.slices):
        leases.complete_slice(batch.id, batch.token, number, part.host, (), 0)
    manage(context.id)


def done(crawl: Crawl) -> int:
    return Page.objects.filter(crawl=crawl, status=Page.CLOSED).count()


def test_pages_are_fetched_in_proportion_to_the_weights() -> None:
    weights = 1, 3, 5
    crawls = [a_crawl(network, HOSTS, weight) for network, weight in enumerate(weights, start=1)]
    for crawl in crawls:
        manage(crawl.id)
    while done(crawls[-1]) < HOSTS // 2:  # all of them have pages waiting until then
        fetch(next_batch())
    light, *heavier = map(done, crawls)
    assert [pages / light for pages in heavier] == pytest.approx(weights[1:], rel=0.25)


def test_a_small_crawl_waits_for_no_more_than_what_was_queued_before_it() -> None:
    large = [a_crawl(network, HOSTS) for network in (1, 2)]
    for crawl in large:
        manage(crawl.id)
    small = a_crawl(3, 10)
    manage(small.id)
    queued = len(Queue(queues.FETCH, connection=queues.connection()).jobs)
    taken = Counter[str]()
    while done(small) < 10:
        batch = next_batch()
        taken[batch.crawl] += 1
        fetch(batch)
    assert taken.total() <= queued
    assert all(done(crawl) < HOSTS for crawl in large)
    assert abs(taken[str(large[0].id)] - taken[str(large[1].id)]) <= 1
    small.refresh_from_db()
    assert small.state == "finished"
