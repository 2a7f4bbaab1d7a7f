"""A worker that starts finds something to do while a crawl runs, even if RQ lost every job: the rescue job."""

import pytest
from rq import Queue
from rq.registry import StartedJobRegistry

from crawler.crawls import reconcile
from crawler.crawls.control import cancel, pause, resume
from crawler.frontier import results
from crawler.frontier.keys import CRAWLS
from crawler.frontier.results import MARK_FRESH_S
from crawler.models import Crawl
from crawler.queueing import queues
from tests.bench import Bench, Hands


def planted() -> list[str]:
    registry = StartedJobRegistry("crawl", connection=queues.connection())
    return [job for job in registry.get_job_ids(cleanup=False) if "lifeline" in job]


@pytest.fixture
def soon_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tick that does not come is missed after a fifth of the usual time, which the test must wait for."""
    monkeypatch.setattr(results, "MARK_FRESH_S", MARK_FRESH_S / 5)


def lose_every_job() -> None:
    queues.connection().delete("rq:queue:crawl", "rq:queue:fetch")


def start_a_worker() -> None:
    """In burst mode, so that it ends; RQ cleans its registries when it starts."""
    waiting = [Queue(name, connection=queues.connection()) for name in ("crawl", "fetch")]
    Hands(waiting, connection=queues.connection()).work(burst=True, logging_level="ERROR")


@pytest.mark.long
@pytest.mark.usefixtures("soon_missed")
def test_a_crawl_whose_jobs_are_all_lost_goes_on_when_a_worker_starts(bench: Bench) -> None:
    bench.start()
    lose_every_job()
    start_a_worker()
    assert bench.state() == "finished"


def test_there_is_one_however_often_it_is_added(bench: Bench) -> None:
    bench.start()
    for _ in range(3):
        queues.ensure_rescue_job()
    assert len(planted()) == 1


@pytest.mark.parametrize("how", ["finished", "cancelled"])
def test_with_the_last_crawl_it_is_removed(bench: Bench, how: str) -> None:
    bench.start()
    if how == "cancelled":
        cancel(bench.crawl.id)
    bench.work()
    assert bench.state() == how
    assert planted() == []
    assert queues.connection().keys("rq:job:watch-lifeline*") == []


def test_it_stays_while_another_crawl_runs(bench: Bench) -> None:
    bench.start()
    first = bench.crawl
    bench.start()
    cancel(first.id)
    assert len(planted()) == 1


def test_a_resumed_crawl_has_one(bench: Bench) -> None:
    bench.start()
    pause(bench.crawl.id)
    queues.remove_rescue_job()
    resume(bench.crawl.id)
    assert len(planted()) == 1


class TestSweep:
    """What a crawl that is over left in Redis is cleared away by whoever looks."""

    def test_keys_of_a_crawl_whose_manager_died_after_its_finish_are_deleted(self, bench: Bench) -> None:
        bench.start()
        bench.work("crawl", at_most=1)
        Crawl.objects.filter(id=bench.crawl.id).update(state="finished")
        assert bench.context.frontier.ready_queue.handed_out() == 1
        reconcile.scan()
        assert queues.connection().keys(f"crawler:{bench.crawl.id}:*") == []
        assert not queues.connection().smembers(CRAWLS)

    def test_keys_of_another_installations_crawl_are_left_alone(self, bench: Bench) -> None:
        bench.start()
        name = str(bench.crawl.id)
        Crawl.objects.filter(id=bench.crawl.id).delete()
        reconcile.scan()
        assert queues.connection().exists(f"crawler:{name}:mark")
