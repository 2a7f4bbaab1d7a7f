"""Several collectors store the results of one crawl; the first alone hands out pages and says finished."""

from itertools import cycle
from types import SimpleNamespace

import pytest
from django.conf import LazySettings

from crawler import clock
from crawler.core.protocol.collectors import collector_of
from crawler.core.protocol.completion import needs_tick
from crawler.crawls.reconcile import scan
from crawler.fetcher.work_stealing import WorkStealer
from crawler.frontier.frontier import Frontier
from crawler.frontier.results import MARK_FRESH_S, ReleaseResult, Results
from crawler.jobs import fetch
from crawler.manager import dispatch
from crawler.manager.context import context_of
from crawler.manager.finish import finish_if_done
from crawler.manager.recover_leases import RESULTS_WAIT_S, recover_leases
from crawler.manager.tick import manage
from crawler.models import Page
from crawler.queueing import queues
from crawler.queueing.liveness import read_liveness
from crawler.reports.receipt import receipt_of
from tests import site
from tests.bench import Bench

pytestmark = pytest.mark.site(
    {"/": site.page("/a", "/b", "/c"), "/a": site.page("/d"), "/b": site.page("/a"), "/c": "C", "/d": site.page("/")}
)


@pytest.fixture(autouse=True)
def _two_collectors(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches are the second's and the first's in turn."""
    settings.CRAWLER_COLLECTORS = 2
    turns = cycle((1, 0))
    given = SimpleNamespace(randbelow=lambda _: next(turns), token_hex=dispatch.secrets.token_hex)
    monkeypatch.setattr(dispatch, "secrets", given)


@pytest.fixture
def fetched(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """The start page was fetched, and its results are left to the second collector."""
    bench.start()
    manage(bench.crawl.id)
    (batch,) = bench.batches()
    assert collector_of(batch.id) == 1
    with monkeypatch.context() as patch:
        # On a slow machine the job would run the tick itself.
        patch.setattr(WorkStealer, "steal", lambda *_, **__: iter(()))
        fetch(batch.to_plain())
    queues.connection().delete("rq:queue:crawl")  # so that each test runs the ticks it is about
    return bench


def second(bench: Bench) -> Frontier:
    return context_of(bench.crawl, 1).frontier


def test_a_crawl_goes_from_its_start_to_finished(bench: Bench) -> None:
    bench.run()
    assert bench.state() == "finished"
    receipt = receipt_of(bench.crawl)
    assert (receipt["discovered"], receipt["fetched"], receipt["retries"]) == (5, 5, 0)
    assert not queues.connection().keys(f"crawler:{bench.crawl.id}:*")


def test_a_batch_leaves_its_results_and_a_tick_to_its_collector(fetched: Bench) -> None:
    assert second(fetched).results.mark() is not None
    assert len(second(fetched).results.read(9)) == 1
    assert fetched.context.frontier.results.read(9) == []
    assert manage(fetched.crawl.id).startswith("took in 0 reports")


def test_its_tick_stores_them_and_sends_one_of_the_first_which_hands_out_what_was_found(fetched: Bench) -> None:
    manage(fetched.crawl.id, 1)
    assert Page.objects.filter(status=Page.OPEN).count() == 3
    assert fetched.batches() == []
    fetched.work("crawl")
    assert sum(len(part.pages) for batch in fetched.batches() for part in batch.slices) == 3


def test_the_first_is_sent_a_tick_before_the_other_has_released_its_lock(
    fetched: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was found is handed out while the other goes on storing, for ten seconds if more and more comes."""
    release, marks = Results.release_lock_if_clean, []

    def looked_at(results: Results, token: str) -> ReleaseResult:
        marks.append(fetched.context.frontier.results.mark())
        return release(results, token)

    fetched.context.frontier.results.clear_mark()
    monkeypatch.setattr(Results, "release_lock_if_clean", looked_at)
    manage(fetched.crawl.id, 1)
    assert len(marks) == 1
    assert marks[0] is not None


@pytest.mark.parametrize("left", ["results", "mark", "lock"])
def test_finished_is_not_said_while_another_has_something_to_do(fetched: Bench, left: str) -> None:
    frontier = fetched.context.frontier
    Page.objects.update(status=Page.CLOSED)
    frontier.ready_queue.clear()
    queues.connection().delete(second(fetched).keys.results, second(fetched).keys.mark)
    assert frontier.queue_side().is_empty
    key = getattr(second(fetched).keys, left)
    if left == "results":
        queues.connection().rpush(key, "a report")
    else:
        queues.connection().set(key, "job 0")
    assert not frontier.queue_side().is_idle
    assert finish_if_done(fetched.context) == "go_on"


def test_pages_that_another_stores_behind_the_refill_are_not_taken_for_lost(
    fetched: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second collector stores its results between the first one's refill and its completion check, and dies before
    it can send a tick."""
    refill = dispatch.refill

    def slow_refill(context: object) -> None:
        refill(context)  # type: ignore[arg-type]  # a TickContext
        monkeypatch.setattr(dispatch, "refill", refill)
        manage(fetched.crawl.id, 1)
        queues.connection().delete("rq:queue:crawl", fetched.context.frontier.keys.mark)

    monkeypatch.setattr(dispatch, "refill", slow_refill)
    manage(fetched.crawl.id)
    assert not fetched.crawl.disagreements.exists()
    assert scan().woken == 1
    fetched.work()
    assert fetched.state() == "finished"


@pytest.mark.site({"/": "alone"})
def test_a_tick_of_the_first_that_came_before_another_had_released_its_lock_is_followed_by_one(
    fetched: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = Results.release_lock_if_clean

    def released(results: Results, token: str) -> ReleaseResult:
        monkeypatch.setattr(Results, "release_lock_if_clean", release)
        queues.connection().delete("rq:queue:crawl")
        manage(fetched.crawl.id)  # the tick that was sent for what is stored by now
        assert fetched.state() == "running"
        return release(results, token)

    monkeypatch.setattr(Results, "release_lock_if_clean", released)
    manage(fetched.crawl.id, 1)
    fetched.work("crawl")
    assert fetched.state() == "finished"


def test_an_expired_lease_is_left_alone_while_its_results_wait(fetched: Bench) -> None:
    frontier = fetched.context.frontier
    (lease,) = frontier.leases.read(batch for batch in _batches_out(frontier)).values()
    queues.connection().zadd(frontier.keys.leases, {lease.batch: 0})
    assert recover_leases(fetched.context, [lease]) == 0
    manage(fetched.crawl.id, 1)
    assert receipt_of(fetched.crawl)["retries"] == 0
    assert Page.objects.get(url=f"{fetched.site.url}/").attempts == 1


def test_an_expired_lease_asks_for_no_tick_after_the_other_while_its_results_wait(fetched: Bench) -> None:
    """A worker would run nothing else until the other collector's lost tick is sent again."""
    frontier, now = fetched.context.frontier, clock.epoch_seconds()
    queues.connection().zadd(frontier.keys.leases, dict.fromkeys(_batches_out(frontier), 0))
    assert _is_tick_needed(fetched, now)
    manage(fetched.crawl.id)
    assert not _is_tick_needed(fetched, now)
    assert _is_tick_needed(fetched, now + 2 * RESULTS_WAIT_S)


def _is_tick_needed(bench: Bench, now: float) -> bool:
    return needs_tick(read_liveness(bench.crawl, bench.context.frontier, now, set, None), now)


def _batches_out(frontier: Frontier) -> list[str]:
    return [batch.decode() for batch in frontier.redis.zrange(frontier.keys.leases, 0, -1)]


def test_one_whose_tick_was_lost_is_sent_another(fetched: Bench) -> None:
    assert scan().woken == 0  # its mark is fresh
    mark = second(fetched).results.mark()
    assert mark is not None
    queues.connection().set(second(fetched).keys.mark, f"{mark.job} {mark.sent_at - MARK_FRESH_S - 1}")
    assert scan().woken == 1
    assert fetched.jobs("crawl") == [f"store results of the crawl of {fetched.crawl.site}"]
    fetched.work()
    assert fetched.state() == "finished"


@pytest.mark.parametrize("lock_s", [None, 3.0])
def test_the_next_check_is_due_when_one_may_turn_out_to_be_lost(fetched: Bench, lock_s: float | None) -> None:
    """Its lock expires, or its mark is too old; the batch that is out, and the first one's mark, are no reason."""
    redis, keys = queues.connection(), second(fetched).keys
    redis.delete(fetched.context.frontier.keys.leases)
    redis.set(keys.mark, f"a-tick {clock.epoch_seconds()}")
    redis.set(fetched.context.frontier.keys.lock, "a tick at work", px=60_000)
    if lock_s is not None:
        redis.set(keys.lock, "a tick that died", px=int(lock_s * 1000))
    next_in = scan().next_in
    assert next_in is not None
    assert 0 < next_in < (lock_s or MARK_FRESH_S) + 0.1
    assert redis.exists(keys.mark)


def test_one_that_died_between_its_last_result_and_its_wake_up_does_not_hold_up_the_crawl(fetched: Bench) -> None:
    manage(fetched.crawl.id, 1)
    queues.connection().delete("rq:queue:crawl", fetched.context.frontier.keys.mark)
    assert scan().woken == 1
    fetched.work()
    assert fetched.state() == "finished"
