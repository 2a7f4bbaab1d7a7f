"""A batch that this version does not understand goes back to the frontier, with no attempt counted."""

from typing import Any

import msgspec
import pytest
from rq import Queue

from crawler import jobs
from crawler.core.protocol.messages import VERSION
from crawler.fetcher import hand_back
from crawler.fetcher.work_stealing import WorkStealer
from crawler.manager.tick import manage
from crawler.models import Page
from crawler.queueing import queues
from tests.bench import Bench


@pytest.fixture
def newer(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The batch of a newer version, whose job a worker has taken."""
    monkeypatch.setattr(hand_back, "PAUSE_S", 0.0)
    bench.start()
    bench.work("crawl", at_most=1)
    (job,) = (job for job in Queue("fetch", connection=queues.connection()).jobs if job.args)
    job.delete()
    return {**job.args[0], "version": VERSION + 1, "policy": "of another form"}


def test_its_pages_are_fetched_by_a_later_batch(bench: Bench, newer: dict[str, Any]) -> None:
    assert "handed back" in str(jobs.fetch(newer))
    assert bench.site.hits == {}
    assert bench.jobs("crawl") != []  # the next tick, at once
    bench.work()
    assert bench.state() == "finished"
    page = Page.objects.get()
    assert (page.attempts, page.deaths, page.died_with, bench.crawl.retries) == (1, 0, "", 0)


def test_the_lease_is_gone_with_the_next_tick(bench: Bench, newer: dict[str, Any]) -> None:
    jobs.fetch(newer)
    manage(bench.crawl.id)
    assert [lease.batch for lease, _ in bench.context.frontier.leases.all()] != [newer["id"]]


def test_one_that_another_job_has_claimed_is_left_to_it(bench: Bench, newer: dict[str, Any]) -> None:
    frontier = bench.context.frontier
    frontier.leases.claim(newer["id"], newer["token"], frontier.now())
    jobs.fetch(newer)
    assert frontier.results.read(9) == []


def test_one_that_was_taken_beside_another_batch_is_handed_back(
    bench: Bench, newer: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queues, "steal_batch", lambda among, queue: newer)
    with WorkStealer(lambda: None) as helper:
        assert helper.take_next() == (None, True)  # so that the job ends, and its worker with it
    assert len(bench.context.frontier.results.read(9)) == 1


def test_what_is_no_batch_fails_its_job(bench: Bench) -> None:
    with pytest.raises(msgspec.ValidationError):
        jobs.fetch({"new": 1})
