"""Dead letters are sent again, one by one or all; a crawl that was over finishes again properly."""

from typing import Any

import pytest

from crawler import conf
from crawler.core.politeness import host_rules
from crawler.core.protocol.counters import adds_up
from crawler.crawls import control, reconcile, retry
from crawler.crawls.control import cancel, pause
from crawler.crawls.retry import retry_failed
from crawler.fetcher import session
from crawler.manager import dispatch
from crawler.manager.tick import manage
from crawler.models import Disagreement, Notice, Page
from crawler.queueing import queues
from crawler.reports.links import dead_letters
from crawler.reports.receipt import receipt_of
from crawler.storage import queries
from tests.bench import Bench, Died, die
from tests.site import Reply, page


def broken(until: int) -> object:
    """Answers 500 until it was asked for so often, then leads on to another page."""
    return lambda before: Reply(page("/late"), status=200 if before >= until else 500)


PAGES = {"/": page("/a", "/b", "/c"), "/a": page(), "/b": broken(1), "/c": broken(1), "/late": page()}
pytestmark = pytest.mark.site(PAGES)


@pytest.fixture(autouse=True)
def _one_attempt_and_one_page_at_a_time(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.CRAWLER_MAX_BATCHES = 1
    monkeypatch.setattr(conf, "max_attempts", lambda: 1)
    monkeypatch.setattr(host_rules, "SLICE_PAGES", 1)
    monkeypatch.setattr(host_rules, "MAX_SLICE_PAGES", 1)
    monkeypatch.setattr(dispatch, "MAX_SLICES_PER_BATCH", 1)
    monkeypatch.setattr(session, "MIN_WAITING_BATCHES", 1_000)  # a tick for each


def finished(bench: Bench) -> Bench:
    bench.run()
    assert bench.state() == "finished"
    return bench


def test_what_was_given_up_is_listed_for_good_and_remembered_for_a_day(bench: Bench) -> None:
    finished(bench)
    assert [letter.url.removeprefix(bench.site.url) for letter in dead_letters(bench.crawl)] == ["/b", "/c"]
    frontier = bench.context.frontier
    assert {letter for letter, _ in frontier.dead_letters.newest(9)} == {
        letter.id for letter in dead_letters(bench.crawl)
    }
    assert 23 * 3600 < queues.connection().ttl(frontier.keys.dead) <= 24 * 3600


def test_sent_again_the_crawl_runs_and_finishes_once_more(bench: Bench) -> None:
    finished(bench)
    assert receipt_of(bench.crawl)["statuses"] == {"200": 2, "500": 2}
    assert retry_failed(bench.crawl.id) == 2
    assert bench.state() == "running"
    bench.work()
    assert bench.state() == "finished"
    receipt = receipt_of(bench.crawl)
    assert (receipt["discovered"], receipt["statuses"]) == (5, {"200": 5})
    assert adds_up(receipt)
    assert bench.crawl.tallies == queries.count_rows(bench.crawl.id)
    assert [notice.round for notice in Notice.objects.order_by("round")] == [1, 2]
    assert not dead_letters(bench.crawl).exists()
    assert not Disagreement.objects.exists()
    assert bench.site.hits["/a"] == 1  # what had its answer is not asked for again


def test_one_of_them_can_be_sent_alone(bench: Bench) -> None:
    finished(bench)
    first, second = dead_letters(bench.crawl)
    assert retry_failed(bench.crawl.id, [first.id]) == 1
    bench.work()
    assert bench.state() == "finished"
    assert [letter.id for letter in dead_letters(bench.crawl)] == [second.id]


def test_with_nothing_to_send_a_finished_crawl_stays_finished(bench: Bench) -> None:
    finished(bench)
    retry_failed(bench.crawl.id)
    bench.work()
    assert retry_failed(bench.crawl.id) == 0
    assert bench.state() == "finished"
    assert Notice.objects.count() == 2


def test_while_the_crawl_still_runs_they_flow_in_behind_the_cursor(bench: Bench) -> None:
    bench.start()
    while not dead_letters(bench.crawl).exists():
        bench.work(at_most=1)
    assert bench.state() == "running"
    assert retry_failed(bench.crawl.id) >= 1
    bench.work()
    assert bench.state() == "finished"
    assert not Disagreement.objects.exists()
    assert Notice.objects.count() == 1


def test_of_a_paused_crawl_they_wait_until_it_is_resumed(bench: Bench) -> None:
    bench.start()
    while not dead_letters(bench.crawl).exists():
        bench.work(at_most=1)
    pause(bench.crawl.id)
    assert retry_failed(bench.crawl.id) >= 1
    assert bench.state() == "paused"


def test_a_cancelled_crawl_is_reopened_for_its_dead_letters_only(bench: Bench) -> None:
    bench.start()
    while not dead_letters(bench.crawl).exists():
        bench.work(at_most=1)
    assert cancel(bench.crawl.id)
    cancelled = Page.objects.filter(outcome="cancelled").count()
    letters = dead_letters(bench.crawl).count()
    assert retry_failed(bench.crawl.id) == letters
    bench.work()
    assert bench.state() == "finished"
    assert Page.objects.filter(outcome="cancelled").count() == cancelled
    assert adds_up(receipt_of(bench.crawl))
    assert [notice.event for notice in Notice.objects.order_by("round")] == ["crawl.cancelled", "crawl.finished"]


def test_if_the_process_dies_after_its_commit_reconcile_sends_the_tick(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.start()
    while not dead_letters(bench.crawl).exists():
        bench.work(at_most=1)
    bench.work("crawl")
    Page.objects.filter(status=Page.OPEN).update(due_at=2e9)  # the others are far from due
    bench.context.frontier.ready_queue.clear()
    manage(bench.crawl.id)
    with monkeypatch.context() as patch:
        patch.setattr(control, "wake", die)
        with pytest.raises(Died):
            retry_failed(bench.crawl.id)
    assert reconcile.scan().woken == 1


def test_those_of_all_crawls_are_retried_in_bounded_steps(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "PAGES_PER_TRANSACTION", 1)
    monkeypatch.setattr(retry, "PAGES_PER_CALL", 1)
    finished(bench)
    letters = Page.objects.filter(given_up=True)
    assert retry.retry_chosen(letters, bench.context.now()) == retry.RetryCount(1, 1, has_more=True)
    assert retry.retry_chosen(letters, bench.context.now()) == retry.RetryCount(1, 1, has_more=False)
    assert retry.retry_chosen(letters, bench.context.now()) == retry.RetryCount(0, 0, has_more=False)
    bench.work()
    assert (bench.state(), letters.count()) == ("finished", 0)


def test_what_fails_again_meanwhile_is_left_for_a_later_call(bench: Bench) -> None:
    finished(bench)
    first_failed = Page.objects.filter(given_up=True).earliest("given_up_at").given_up_at
    assert first_failed > 0
    assert retry.retry_chosen(Page.objects.filter(given_up=True), first_failed - 1).pages == 0


def test_nothing_of_a_crawl_that_is_being_deleted_is_retried(bench: Bench) -> None:
    finished(bench)
    bench.context.frontier.mark_deleted()
    assert retry.retry_chosen(Page.objects.filter(given_up=True), bench.context.now()).pages == 0
