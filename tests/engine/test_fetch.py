"""A fetch job works on its batch once, hands back what it must not ask for, and survives a fault on one page."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from crawler import queues
from crawler.core import links, politeness
from crawler.core.outcomes import Outcome
from crawler.core.work import Batch, SliceReport, decode_report
from crawler.engine import dispatch
from crawler.engine.batches import ENOUGH
from crawler.engine.fetch import fetch
from crawler.engine.reconcile import reconcile, survey
from crawler.frontier.gate import Gate, Wish
from crawler.frontier.leases import LEASE_SECONDS, RENEW_EVERY
from crawler.logs import Context
from crawler.models import Page
from tests.engine.conftest import Bench
from tests.site import Reply, page


def batches(bench: Bench) -> list[Batch]:
    """The batches that wait in RQ's queue."""
    from rq import Queue

    jobs = Queue("fetch", connection=queues.connection()).jobs
    return [Batch.from_plain(job.args[0]) for job in jobs if job.args]  # a watch has none


def reports(bench: Bench) -> list[SliceReport]:
    return [decode_report(raw) for raw in bench.desk.frontier.results.read(99)]


def handed_out(bench: Bench, **options: Any) -> Batch:
    bench.start(**options)
    bench.work("crawl", at_most=1)
    (batch,) = batches(bench)
    return batch


def test_a_batch_delivered_twice_is_fetched_once(bench: Bench) -> None:
    batch = handed_out(bench)
    fetch(batch)
    assert fetch(batch) == "the batch is in other hands"
    assert bench.site.hits["/"] == 1


def test_a_batch_that_was_taken_back_is_not_fetched(bench: Bench) -> None:
    batch = handed_out(bench)
    bench.desk.frontier.window.forget()
    fetch(batch)
    assert bench.site.requests == []


def test_beginning_with_empty_queues_it_sends_a_tick_for_whoever_comes_after_it(bench: Bench) -> None:
    batch = handed_out(bench)
    queues.connection().delete("rq:queue:fetch")
    fetch(batch)
    assert bench.jobs("crawl") == [f"manage the crawl of {bench.site.host}"]


def test_a_host_whose_connections_are_in_use_is_left_for_later(bench: Bench) -> None:
    batch = handed_out(bench, concurrency=1)
    gate = Gate(queues.connection(), 10)
    gate.enter(bench.site.host, "somebody else", Wish("another"), bench.desk.now())
    fetch(batch)
    (report,) = reports(bench)
    assert (report.done, report.results) == (True, ())
    assert report.next_at > bench.desk.now()
    assert bench.site.requests == []


def test_its_connection_is_free_again_afterwards(bench: Bench) -> None:
    fetch(handed_out(bench, concurrency=1))
    assert Gate(queues.connection(), 10).enter(bench.site.host, "next", Wish("another"), bench.desk.now())


PAGES = {"/": page("/fine", "/faulty", "/also-fine"), "/fine": page(), "/faulty": page(), "/also-fine": page()}


@pytest.mark.site(PAGES)
def test_a_fault_of_ours_costs_one_page_and_is_told(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    extract = links.extract

    def faulty(html: str, url: str, *, sketches: bool = False) -> links.Extracted:
        if url.endswith("/faulty"):
            raise ZeroDivisionError("a fault")
        return extract(html, url, sketches=sketches)

    monkeypatch.setattr(links, "extract", faulty)
    bench.start()
    bench.work()
    assert bench.state() == "finished"
    (crashed,) = Page.objects.filter(outcome=Outcome.CRASHED)
    assert crashed.url.endswith("/faulty")
    assert "ZeroDivisionError" in crashed.error
    assert Page.objects.filter(outcome=Outcome.SUCCESS).count() == 3


@pytest.mark.site({"/": page()})
def test_a_line_about_a_fault_says_which_crawl_batch_and_page_it_is_about(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def faulty(*args: Any) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(links, "extract", faulty)
    batch = handed_out(bench)
    fetch(batch)
    (said,) = [record for record in caplog.records if record.exc_info]
    assert Context().filter(said)
    ids = said.__dict__
    assert (ids["crawl"], ids["batch"], ids["page"]) == (str(bench.crawl.id), batch.id, Page.objects.get().id)


@pytest.mark.site({"/": page("/a"), "/a": page(), "/robots.txt": Reply("User-agent: *\nDisallow: /a")})
def test_robots_txt_can_be_ignored_and_is_then_not_asked_for(bench: Bench) -> None:
    bench.start(obey_robots=False)
    bench.work()
    assert bench.site.hits == {"/": 1, "/a": 1}


@pytest.mark.site({"/": page("/a"), "/a": page()})
def test_robots_txt_is_remembered_for_the_next_crawl(bench: Bench) -> None:
    for _ in range(2):
        bench.start()
        bench.work()
    assert bench.site.hits == {"/robots.txt": 1, "/": 2, "/a": 2}


def test_a_host_that_cannot_be_reached_is_called_by_that_name(bench: Bench, settings: Any) -> None:
    settings.CRAWLER_MAX_ATTEMPTS = 1
    bench.site.url = "http://127.0.0.1:2"
    bench.start()
    bench.work()
    assert Page.objects.get().outcome == Outcome.CONNECT


@pytest.mark.site({"/": Reply(page(), after=RENEW_EVERY * 1.3)})
def test_while_a_page_takes_its_time_the_lease_is_renewed(bench: Bench) -> None:
    fetch(handed_out(bench))
    ((lease, look_at),) = bench.desk.frontier.leases.all()
    assert lease.since is not None
    assert look_at - lease.since > LEASE_SECONDS + RENEW_EVERY / 2


@pytest.mark.site({"/": page("/a", "/b", "/c"), "/a": page(), "/b": page(), "/c": page()})
def test_a_batch_that_ends_while_enough_others_wait_sends_no_tick(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next one's end does. Should it be lost, whoever looks finds results that nobody takes in."""
    monkeypatch.setattr(politeness, "MOST_PAGES", 1)
    monkeypatch.setattr(dispatch, "SLICES_A_BATCH", 1)
    monkeypatch.setattr(queues, "worker_count", lambda: 3)
    handed_out(bench)
    (start,) = bench.batches()
    fetch(start)
    bench.work("crawl")
    first, *others = bench.batches()
    assert len(others) == ENOUGH
    reconcile()  # somebody has looked just now
    fetch(first)
    assert bench.jobs("crawl") == []
    survey()
    assert bench.jobs("crawl") == [f"manage the crawl of {bench.site.host}"]


def test_a_batch_that_ends_while_batches_of_others_wait_sends_one(bench: Bench) -> None:
    """They will send none for this crawl."""
    batch = handed_out(bench)
    queues.send_batches([msgspec.structs.replace(batch, id=queues.new_id("fetch")) for _ in range(ENOUGH)])
    queues.keep_watch_last()
    reconcile()  # somebody has looked just now
    fetch(batch)
    assert bench.jobs("crawl") == [f"manage the crawl of {bench.site.host}"]


@pytest.mark.site(
    {
        "/": Reply(page("/nowhere", "/many")),
        "/nowhere": Reply(status=302, headers={"Location": "javascript:alert(1)"}),
        "/many": "".join(f"<a href=http://other.test/{number}>" for number in range(links.MAX_LINKS + 1)),
    }
)
def test_what_a_page_keeps_from_us_stands_in_its_record(bench: Bench) -> None:
    bench.start(externals="ignore")
    bench.work()
    rows = {row.url.rpartition("/")[2]: (row.outcome, row.error) for row in Page.objects.all()}
    assert rows["nowhere"] == ("3xx", "it redirects to what is not a web address: 'javascript:alert(1)'")
    assert rows["many"] == ("2xx", "it has more than 20,000 links; the rest was not read")
