"""A paused crawl takes in what is on its way and hands out nothing; resumed, it goes on to its end; cancelled, it is
over at once. Each verb may be repeated, and raced against the others and against the finish."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from crawler.core.protocol.counters import adds_up
from crawler.crawls import delete as delete_module
from crawler.crawls import reconcile
from crawler.crawls.control import cancel, pause, resume
from crawler.crawls.delete import delete
from crawler.crawls.retry import retry_failed
from crawler.frontier.keys import CrawlKeys
from crawler.manager import finish as conclude
from crawler.manager.tick import manage
from crawler.models import Crawl, Notice, Page
from crawler.queueing import queues
from crawler.reports.receipt import receipt_of
from crawler.storage import queries, writer
from tests.bench import Bench, Died, die
from tests.site import page

PAGES = {"/": page("/a", "/b"), "/a": page(), "/b": page()}


@pytest.mark.site(PAGES)
def test_what_is_on_its_way_is_taken_in_and_nothing_else_is_asked_for(bench: Bench) -> None:
    bench.start()
    bench.work("crawl", at_most=1)
    assert pause(bench.crawl.id)
    bench.work()
    assert bench.state() == "paused"
    assert bench.site.hits == {"/robots.txt": 1, "/": 1}
    assert Page.objects.filter(status=Page.OPEN).count() == 2


@pytest.mark.site(PAGES)
def test_resumed_it_goes_on_to_its_end(bench: Bench) -> None:
    bench.start()
    pause(bench.crawl.id)
    bench.work()
    assert resume(bench.crawl.id)
    bench.work()
    assert bench.state() == "finished"
    assert bench.site.hits == {"/robots.txt": 1, "/": 1, "/a": 1, "/b": 1}


def test_repeating_either_changes_nothing(bench: Bench) -> None:
    bench.start()
    assert [pause(bench.crawl.id), pause(bench.crawl.id)] == [True, False]
    assert [resume(bench.crawl.id), resume(bench.crawl.id)] == [True, False]


def test_a_finished_crawl_stays_finished(bench: Bench) -> None:
    bench.run()
    assert not pause(bench.crawl.id)
    assert not resume(bench.crawl.id)
    assert bench.state() == "finished"


def keys_left(bench: Bench) -> list[str]:
    return [key.decode() for key in queues.connection().keys(f"crawler:{bench.crawl.id}:*")]


def assert_over(bench: Bench, state: str) -> None:
    assert bench.state() == state
    assert bench.crawl.finished_at is not None
    assert not queries.has_open(bench.crawl.id)
    assert bench.crawl.tallies == queries.count_rows(bench.crawl.id)
    assert adds_up(receipt_of(bench.crawl))
    assert [notice.event for notice in Notice.objects.filter(crawl=bench.crawl)] == [f"crawl.{state}"]


@pytest.mark.site(PAGES)
def test_cancelled_it_is_over_and_its_open_pages_are_closed_as_cancelled(bench: Bench) -> None:
    bench.start()
    bench.work("crawl", "fetch", at_most=3)
    assert cancel(bench.crawl.id)
    assert_over(bench, "cancelled")
    receipt = receipt_of(bench.crawl)
    assert (receipt["discovered"], receipt["fetched"], receipt["cancelled"]) == (3, 1, 2)
    assert keys_left(bench) == []


@pytest.mark.site(PAGES)
def test_a_batch_that_comes_too_late_for_a_cancelled_crawl_changes_nothing(bench: Bench) -> None:
    bench.start()
    bench.work("crawl", at_most=1)
    cancel(bench.crawl.id)
    bench.work()
    assert_over(bench, "cancelled")
    assert bench.site.hits == {}
    assert keys_left(bench) == []


def test_a_paused_crawl_can_be_cancelled(bench: Bench) -> None:
    bench.start()
    pause(bench.crawl.id)
    assert cancel(bench.crawl.id)
    assert_over(bench, "cancelled")


def test_cancelling_again_or_too_late_changes_nothing(bench: Bench) -> None:
    bench.start()
    assert [cancel(bench.crawl.id), cancel(bench.crawl.id)] == [True, False]
    bench.run()
    assert not cancel(bench.crawl.id)
    assert_over(bench, "finished")


@pytest.mark.site(PAGES)
def test_a_crawl_cancelled_in_the_middle_of_a_tick_keeps_nothing_of_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tick has read the results and which of their pages are open; then the crawl is cancelled."""
    bench.fetch_first_page()
    apply = writer.apply

    def cancelled_before(*args: object, **kwargs: object) -> object:
        monkeypatch.setattr(writer, "apply", apply)
        assert cancel(bench.crawl.id)
        return apply(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(writer, "apply", cancelled_before)
    manage(bench.crawl.id)
    assert_over(bench, "cancelled")
    assert keys_left(bench) == []


def test_deleted_nothing_is_left(bench: Bench) -> None:
    bench.start()
    bench.work("crawl", at_most=1)
    assert delete(bench.crawl.id)
    assert not Crawl.objects.exists()
    assert not Page.objects.exists()
    assert not delete(bench.crawl.id)
    bench.work()  # a batch and a tick of it still wait in RQ's queues
    assert keys_left(bench) == [CrawlKeys(str(bench.crawl.id)).deleted]  # gone by itself after a day


@pytest.mark.parametrize("verb", [pause, resume, cancel, delete, retry_failed])
def test_of_a_crawl_that_is_not_there_nothing_can_be_done(bench: Bench, verb: Callable[[UUID], object]) -> None:
    assert not verb(UUID(int=1))


def at_once(*verbs: Callable[[], object]) -> list[object]:
    """What each of these said, all having begun at the same moment in threads of their own."""
    barrier = Barrier(len(verbs))

    def act(verb: Callable[[], object]) -> object:
        barrier.wait()
        try:
            return verb()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(verbs)) as pool:
        return list(pool.map(act, verbs))


@pytest.mark.parametrize("_again", range(5))
def test_finish_and_cancel_at_once_end_the_crawl_in_one_way(bench: Bench, _again: int) -> None:
    bench.fetch_first_page()
    at_once(lambda: manage(bench.crawl.id), lambda: cancel(bench.crawl.id), lambda: manage(bench.crawl.id))
    bench.work()
    assert_over(bench, bench.state())
    assert keys_left(bench) == []


@pytest.mark.parametrize("_again", range(5))
def test_pausing_resuming_and_finishing_at_once_leaves_a_crawl_that_can_go_on(bench: Bench, _again: int) -> None:
    bench.fetch_first_page()
    at_once(lambda: manage(bench.crawl.id), lambda: pause(bench.crawl.id), lambda: resume(bench.crawl.id))
    resume(bench.crawl.id)
    bench.work()
    assert_over(bench, "finished")


@pytest.mark.parametrize("_again", range(3))
def test_of_concurrent_cancels_or_pauses_one_returns_true(bench: Bench, _again: int) -> None:
    bench.start()
    cancelled = at_once(*[lambda: cancel(bench.crawl.id)] * 4, lambda: pause(bench.crawl.id))
    assert cancelled[:4].count(True) == 1
    assert_over(bench, "cancelled")


@pytest.mark.parametrize("_again", range(3))
def test_deleting_while_everything_else_happens_leaves_nothing(bench: Bench, _again: int) -> None:
    bench.fetch_first_page()
    at_once(
        lambda: delete(bench.crawl.id),
        lambda: cancel(bench.crawl.id),
        lambda: delete(bench.crawl.id),
        lambda: resume(bench.crawl.id),
    )
    bench.work()
    assert not Crawl.objects.exists()
    assert not Page.objects.exists()


def test_a_crawl_paused_at_the_moment_of_its_finish_does_not_finish(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.fetch_first_page()
    finish = conclude.mark_finished

    def paused_before(crawl: Crawl, *slowed: Any) -> bool:
        pause(crawl.id)
        return finish(crawl, *slowed)

    monkeypatch.setattr(conclude, "mark_finished", paused_before)
    manage(bench.crawl.id)
    assert bench.state() == "paused"
    monkeypatch.undo()
    resume(bench.crawl.id)
    bench.work()
    assert_over(bench, "finished")


def test_a_deletion_that_crashed_is_completed_by_reconcile(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.start()
    with monkeypatch.context() as patch:
        patch.setattr(delete_module, "delete_in_steps", die)
        with pytest.raises(Died):
            delete(bench.crawl.id)
    assert bench.state() == "cancelled"
    for _ in range(2):
        reconcile.scan()
    assert not Crawl.objects.exists()
    assert not Page.objects.exists()


def test_a_crawl_deleted_in_the_middle_of_a_tick_is_no_failure(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.fetch_first_page()
    apply = writer.apply

    def deleted_before(*args: object, **kwargs: object) -> object:
        assert delete(bench.crawl.id)
        return apply(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(writer, "apply", deleted_before)
    assert "deleted" in manage(bench.crawl.id)
    assert keys_left(bench) == [CrawlKeys(str(bench.crawl.id)).deleted]


@pytest.mark.parametrize("_again", range(3))
def test_dead_letters_sent_again_at_the_moment_of_the_finish_are_fetched(bench: Bench, _again: int) -> None:
    """Either the crawl has not finished and takes them in, or it finishes first and is opened again."""
    bench.fetch_first_page()
    manage(bench.crawl.id)
    Crawl.objects.filter(id=bench.crawl.id).update(
        state="running", finished_at=None, outcomes={"timeout": 1}, statuses={}
    )
    Page.objects.update(outcome="timeout", http_status=None, given_up=True)
    Notice.objects.all().delete()
    at_once(lambda: conclude.mark_finished(Crawl.objects.get(id=bench.crawl.id)), lambda: retry_failed(bench.crawl.id))
    resume(bench.crawl.id)
    bench.work()
    assert bench.state() == "finished"
    assert not queries.has_open(bench.crawl.id)
    assert receipt_of(bench.crawl)["statuses"] == {"200": 1}
