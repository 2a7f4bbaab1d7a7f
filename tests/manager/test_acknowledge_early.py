"""In a crawl that acknowledges early, the pages of a dead worker are lost, each once, and no other page is."""

import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.counters import adds_up
from crawler.core.protocol.messages import PageResult
from crawler.crawls.retry import retry_failed
from crawler.frontier.ready_queue import JOB_CHECK_INTERVAL_S
from crawler.manager.dispatch import dispatch
from crawler.manager.tick import manage
from crawler.models import Crawl, Page
from crawler.reports.receipt import receipt_of
from crawler.reports.text import receipt_table
from crawler.storage import deaths, writer
from tests.bench import Bench
from tests.manager.test_recover_leases import Handed, close, with_pages


@pytest.fixture
def handed(bench: Bench) -> Handed:
    return Handed(bench, ack="early")


def test_a_page_whose_worker_dies_is_lost_and_a_dead_letter(handed: Handed) -> None:
    handed.claim()
    handed.die()
    assert (handed.page.outcome, handed.page.given_up) == (Outcome.LOST, True)
    assert (handed.page.attempts, handed.page.deaths, handed.page.died_with) == (0, 0, "")
    assert handed.page.error == "its worker died, and this crawl acknowledges pages early"
    assert handed.context.frontier.leases.outstanding() == 0
    assert handed.context.frontier.ready_queue.size() == 0
    assert [letter for letter, _ in handed.context.frontier.dead_letters.newest(9)] == [handed.page.id]


def test_the_receipt_tells_how_many(handed: Handed) -> None:
    handed.claim()
    handed.die()
    manage(handed.context.id)
    receipt = receipt_of(Crawl.objects.get())
    assert (receipt["state"], receipt["ended"], receipt["failed"], receipt["lost"]) == (
        "finished",
        "complete_with_errors",
        1,
        1,
    )
    assert adds_up(receipt)
    assert "failed     1 (1 lost with their workers)" in receipt_table(receipt)


def test_of_a_crawl_that_acknowledges_late_it_tells_nothing(bench: Bench) -> None:
    assert "lost" not in receipt_of(bench.start())


def test_what_the_worker_had_reported_before_is_not_lost(bench: Bench) -> None:
    handed = with_pages(bench, ack="early")
    dispatch(handed.context)
    (lease,) = (lease for lease, _ in handed.context.frontier.leases.all())
    assert handed.context.frontier.leases.claim(lease.batch, lease.token, handed.time)
    ids = [page for _, pages in lease.slices.values() for page in pages]
    results = [PageResult(id=page, attempt=1, outcome=Outcome.SUCCESS, http_status=200) for page in ids[:5]]
    writer.apply(handed.context.id, results, [], [], handed.time)
    handed.die()
    assert set(Page.objects.filter(outcome=Outcome.LOST).values_list("id", flat=True)) == set(ids[5:])
    assert Page.objects.filter(status=Page.OPEN).count() == 40 - len(ids)  # those that were not handed out


def test_a_late_report_of_a_lost_page_changes_nothing(handed: Handed) -> None:
    lease = handed.claim()
    handed.die()
    before = Crawl.objects.values("outcomes", "statuses", "requests", "discovered").get()
    close(handed, lease, [handed.page.id])
    assert handed.page.outcome == Outcome.LOST
    assert Crawl.objects.values("outcomes", "statuses", "requests", "discovered").get() == before


def test_a_batch_that_nobody_had_claimed_is_handed_out_again(handed: Handed) -> None:
    handed.lose_the_job()
    for _ in range(2):
        handed.time += JOB_CHECK_INTERVAL_S
        handed.repair()
    assert handed.is_back()
    assert handed.page.status == Page.OPEN


def test_pages_lost_by_a_tick_that_died_are_lost_once(handed: Handed) -> None:
    """Between closing them and taking back the lease."""
    handed.claim()
    assert deaths.close_lost(handed.context.id, [handed.page.id], handed.time) == [handed.page.id]
    handed.die()
    crawl = Crawl.objects.get()
    assert crawl.outcomes == {"lost": 1}
    assert [letter for letter, _ in handed.context.frontier.dead_letters.newest(9)] == [handed.page.id]


def test_a_lost_page_is_tried_again_on_demand(bench: Bench) -> None:
    handed = Handed(bench, ack="early")
    handed.claim()
    handed.die()
    bench.batches()  # RQ's job of the dead worker
    assert retry_failed(handed.context.id) == 1
    bench.work()
    assert (bench.state(), handed.page.outcome, handed.page.attempts) == ("finished", Outcome.SUCCESS, 1)
    assert receipt_of(bench.crawl)["lost"] == 0
