"""Engine tests run the real verbs in this process, over a real Redis, and stand in for RQ's workers by hand."""

import signal
from collections.abc import Iterator, Mapping
from typing import NoReturn

import pytest
from redis import Redis
from rq import Queue, SimpleWorker
from rq.utils import now

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.protocol.messages import Batch, SliceReport, decode_report
from crawler.crawls.start import start_crawl
from crawler.frontier import seen_set
from crawler.manager.context import TickContext, context_of
from crawler.models import Crawl
from crawler.queueing import queues
from tests.site import Answer, Site


@pytest.fixture
def database_and_redis(transactional_db: None, real_redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crawl writes to both. Its seen-set has few shards: to delete the usual number takes Redis 10 ms."""
    monkeypatch.setattr(seen_set, "SHARD_COUNT", 64)


@pytest.fixture(autouse=True)
def _uses_database_and_redis(database_and_redis: None) -> None:
    """Every test here does."""


class Hands(SimpleWorker):
    """Is sent no orders, and so does not listen for any: RQ takes up to a second to stop listening."""

    def subscribe(self) -> None:
        pass


class Died(BaseException):
    """The process ends here, as after kill -9."""


def die(*_: object) -> NoReturn:
    raise Died


class Bench:
    """A crawl over a small site, with RQ's jobs run one at a time in this process."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.crawl: Crawl

    def start(self, path: str = "/", **options: object) -> Crawl:
        self.crawl = start_crawl([f"{self.site.url}{path}"], CrawlOptions(**options), allow_private=True)  # type: ignore[arg-type]
        return self.crawl

    def run(self, path: str = "/", **options: object) -> Crawl:
        """A crawl to its end, or as far as it gets."""
        self.start(path, **options)
        self.work()
        return self.crawl

    def fetch_first_page(self, **options: object) -> Crawl:
        """Begin a crawl; no tick has read the results of its first page."""
        self.start(**options)
        self.work("crawl", at_most=1)
        self.work("fetch", at_most=1)
        return self.crawl

    @property
    def context(self) -> TickContext:
        return context_of(self.crawl)

    def jobs(self, queue: str) -> list[str]:
        """Descriptions of the jobs that wait."""
        return [str(job.description) for job in Queue(queue, connection=queues.connection()).jobs]

    def batches(self, queue: str = "fetch") -> list[Batch]:
        """Take the batches that wait out of the queue."""
        jobs = [job for job in Queue(queue, connection=queues.connection()).jobs if job.args]  # a watch has none
        for job in jobs:
            job.delete()
        return [Batch.from_plain(job.args[0]) for job in jobs]

    def handed_out(self, **options: object) -> Batch:
        """The first batch of a new crawl, taken out of the queue."""
        self.start(**options)
        self.work("crawl", at_most=1)
        (batch,) = self.batches()
        return batch

    def reports(self) -> list[SliceReport]:
        """Those of fetch jobs that no tick has read."""
        return [decode_report(raw) for raw in self.context.frontier.results.read(99)]

    def work(self, *names: str, at_most: int = 1000) -> None:
        """Run what waits in these queues (both, by default), as a worker in burst mode does."""
        waiting = [Queue(name, connection=queues.connection()) for name in names or ("crawl", "fetch")]
        worker = Hands(waiting, connection=queues.connection())
        worker.last_cleaned_at = now()  # it has been up for a while: RQ's clean-up at its start is over
        worker.work(burst=True, max_jobs=at_most, logging_level="ERROR")

    def state(self) -> str:
        self.crawl.refresh_from_db()
        return str(self.crawl.state)


@pytest.fixture
def handlers_are_put_back() -> Iterator[None]:
    before = [(number, signal.getsignal(number)) for number in (signal.SIGTERM, signal.SIGINT)]
    yield
    for number, handler in before:
        signal.signal(number, handler)


@pytest.fixture
def bench(request: pytest.FixtureRequest, database_and_redis: None) -> Iterator[Bench]:
    """`@pytest.mark.site({...})` gives the pages."""
    marker = request.node.get_closest_marker("site")
    pages: Mapping[str, Answer] = marker.args[0] if marker else {"/": "<title>Alone</title>"}
    with Site(pages).serving() as site:
        yield Bench(site)
