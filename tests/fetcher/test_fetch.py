"""A fetch job works on its batch once, hands back what it must not ask for, and survives a fault on one page."""

import json
import logging
import math
import time
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest
from rq import Queue
from rq.job import Job

from crawler.core.html import links
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.politeness import handover, host_rules
from crawler.core.politeness.host_rules import MAX_SLICES_PER_BATCH
from crawler.core.protocol.messages import Batch
from crawler.crawls.reconcile import reconcile, scan
from crawler.crawls.start import start_crawl
from crawler.fetcher.job_work import JobWork
from crawler.fetcher.loop import connection_pool, fetch, recent
from crawler.fetcher.session import MIN_WAITING_BATCHES, FetchSession
from crawler.frontier.host_limiter import HostLimiter, HostPolicy
from crawler.frontier.leases import LEASE_TTL_S, RENEW_INTERVAL_S
from crawler.logs import Context
from crawler.manager import dispatch
from crawler.models import Page
from crawler.queueing import queues
from tests.bench import Bench
from tests.site import Reply, page


def test_a_batch_delivered_twice_is_fetched_once(bench: Bench) -> None:
    batch = bench.handed_out()
    fetch(batch)
    assert fetch(batch) == "the batch is in other hands"
    assert bench.site.hits["/"] == 1


def test_a_batch_that_was_taken_back_is_not_fetched(bench: Bench) -> None:
    batch = bench.handed_out()
    bench.context.frontier.ready_queue.clear()
    fetch(batch)
    assert bench.site.requests == []


def test_beginning_with_empty_queues_it_sends_a_tick_for_the_next_worker(bench: Bench) -> None:
    batch = bench.handed_out()
    queues.connection().delete("rq:queue:fetch")
    fetch(batch)
    assert bench.jobs("crawl") == [f"manage the crawl of {bench.site.host}"]


def test_a_host_whose_connections_are_in_use_is_left_for_later(bench: Bench) -> None:
    batch = bench.handed_out(concurrency=1)
    limiter = HostLimiter(queues.connection(), 10)
    limiter.take_slot(bench.site.host, "somebody else", HostPolicy("another"), bench.context.now())
    fetch(batch)
    (report,) = bench.reports()
    assert (report.done, report.results) == (True, ())
    assert report.next_at > bench.context.now()
    assert bench.site.requests == []


def test_its_connection_is_free_again_afterwards(bench: Bench) -> None:
    fetch(bench.handed_out(concurrency=1))
    assert HostLimiter(queues.connection(), 10).take_slot(
        bench.site.host, "next", HostPolicy("another"), bench.context.now()
    )


PAGES = {"/": page("/fine", "/faulty", "/also-fine"), "/fine": page(), "/faulty": page(), "/also-fine": page()}


@pytest.mark.site(PAGES)
def test_an_internal_error_costs_one_page_and_is_logged(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    read_page = links.read_page

    def faulty(html: bytes, url: str, **more: bool) -> links.PageContent:
        if url.endswith("/faulty"):
            raise ZeroDivisionError("a fault")
        return read_page(html, url, **more)

    monkeypatch.setattr(links, "read_page", faulty)
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

    monkeypatch.setattr(links, "read_page", faulty)
    batch = bench.handed_out()
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


@pytest.mark.site({"/": Reply(page(), after=RENEW_INTERVAL_S * 1.3)})
def test_while_a_page_takes_its_time_the_lease_is_renewed(bench: Bench) -> None:
    fetch(bench.handed_out())
    ((lease, look_at),) = bench.context.frontier.leases.all()
    assert lease.since is not None
    assert look_at - lease.since > LEASE_TTL_S + RENEW_INTERVAL_S / 2


@pytest.mark.site({"/": page("/a", "/b", "/c"), "/a": page(), "/b": page(), "/c": page()})
def test_a_batch_that_ends_while_enough_others_wait_sends_no_tick(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next one's end does. Should it be lost, whoever looks finds results that nobody takes in."""
    monkeypatch.setattr(host_rules, "MAX_SLICE_PAGES", 1)
    monkeypatch.setattr(handover, "SLOW_RESPONSE_S", math.inf)  # on a busy machine any host is slow
    monkeypatch.setattr(dispatch, "MAX_SLICES_PER_BATCH", 1)
    monkeypatch.setattr(dispatch, "worker_count", lambda queue: 3)
    fetch(bench.handed_out())
    bench.work("crawl")
    first, *others = bench.batches()
    assert len(others) == MIN_WAITING_BATCHES
    reconcile()  # somebody has looked just now
    fetch(first)
    assert bench.jobs("crawl") == []
    scan()
    assert bench.jobs("crawl") == [f"manage the crawl of {bench.site.host}"]


def test_a_batch_that_ends_while_batches_of_others_wait_sends_one(bench: Bench) -> None:
    """They will send none for this crawl."""
    batch = bench.handed_out()
    queues.send_batches([msgspec.structs.replace(batch, id=queues.new_id("fetch")) for _ in range(MIN_WAITING_BATCHES)])
    queues.keep_poller_last()
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
    assert rows["nowhere"] == ("3xx", "it redirects to an invalid address: 'javascript:alert(1)'")
    assert rows["many"] == ("2xx", "it has more than 20,000 links; the rest was not read")


LINKS = [f"/{number}" for number in range(7)]


@pytest.mark.site({"/": page(*LINKS, f"/{'x' * 1000}")})
def test_its_return_value_says_what_was_done_and_where_the_links_are(bench: Bench) -> None:
    """As RQ keeps it, and its dashboards show it."""
    bench.start()
    bench.work("crawl", at_most=1)
    (job,) = [job for job in Queue("fetch", connection=queues.connection()).jobs if job.args]
    bench.work("fetch", at_most=1)
    told = Job.fetch(job.id, connection=queues.connection()).return_value()
    crawl = bench.crawl.id
    assert told == {
        "links": 8,
        "links_first": [f"{bench.site.url}{path}" for path in LINKS[:5]],
        "links_where": [
            f"Redis list crawler:{crawl}:results",
            "once the manager has written them to the table:",
            f"http://127.0.0.1:8000/crawls/{crawl}/pages/",
        ],
        "outcomes": {"2xx": 1},
        "pages": 1,
    }
    assert bench.context.frontier.keys.results in told["links_where"][0]
    assert list(told) == sorted(told)  # rq-dashboard shows it in this order, whatever ours is


@pytest.mark.site({"/": page(*(f"/{'x' * 1500}{number}" for number in range(300)))})
def test_its_return_value_is_small_whatever_the_page_says(bench: Bench) -> None:
    told = fetch(bench.handed_out())
    assert isinstance(told, dict)
    assert told["links"] == 300
    assert len(json.dumps(told)) < 2048


def lines(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.name == "crawler.urls"]


class TestALineAUrl:
    """What CRAWLER_LOG_URLS turns on."""

    @pytest.mark.site({"/": page("/gone"), "/robots.txt": Reply("User-agent: *\nDisallow: /closed")})
    def test_it_has_what_came_of_each_attempt_in_fields(self, bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.INFO, "crawler.urls")
        bench.start()
        bench.work()
        home, gone = lines(caplog)
        for record, path, outcome, status in ((home, "/", "2xx", 200), (gone, "/gone", "4xx", 404)):
            fields = record.__dict__
            row = Page.objects.get(url=f"{bench.site.url}{path}")
            assert (fields["url"], fields["page"]) == (row.url, row.id)
            assert (fields["outcome"], fields["status"], fields["attempt"]) == (outcome, status, 1)
            assert (fields["bytes"], fields["ms"]) == (row.bytes, row.elapsed_ms)
            assert abs(datetime.fromisoformat(fields["started"]) - row.fetched_at) <= timedelta(milliseconds=1)
            assert record.getMessage() == (
                f"{row.url} outcome={outcome} status={status} bytes={row.bytes} ms={row.elapsed_ms} attempt=1 "
                f"started={fields['started']}"
            )

    @pytest.mark.site({"/": page("/closed"), "/robots.txt": Reply("User-agent: *\nDisallow: /closed")})
    def test_a_url_that_is_not_asked_for_was_not_started(self, bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.INFO, "crawler.urls")
        bench.start()
        bench.work()
        _, closed = lines(caplog)
        assert closed.getMessage() == f"{bench.site.url}/closed outcome=robots status= bytes=0 ms=0 attempt=1 started="

    def test_where_everything_is_said_the_start_has_a_line_too(
        self, bench: Bench, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG, "crawler.urls")
        bench.start()
        bench.work()
        begun, done = [record.getMessage() for record in lines(caplog)]
        assert begun == f"{bench.site.url}/ attempt=1 outcome=started"
        assert " outcome=2xx " in done

    def test_it_is_off_unless_it_is_asked_for(self, bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
        bench.start()
        bench.work()
        assert lines(caplog) == []


def batch_of_eight_slices(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Batch:
    monkeypatch.setattr("crawler.core.politeness.host_rules.SLOW_RESPONSE_S", 0.0)
    monkeypatch.setattr("crawler.core.politeness.host_rules.SHORT_SLICE_TARGET_S", 0.0)
    monkeypatch.setattr(dispatch, "PREFETCH_BATCHES", 0)
    bench.start(concurrency=4)
    bench.work(at_most=3)
    (batch,) = bench.batches()
    assert len(batch.slices) == 8
    return batch


@pytest.mark.site({"/": page(*[f"/{number}" for number in range(8)]), **{f"/{number}": "" for number in range(8)}})
def test_a_slice_goes_on_as_soon_as_another_gives_its_connection_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not when it would look for itself."""
    monkeypatch.setattr("crawler.fetcher.slice.SLOT_POLL_S", 60.0)
    monkeypatch.setattr("crawler.fetcher.slice.MAX_SLICE_WAIT_S", 60.0)
    batch = batch_of_eight_slices(bench, monkeypatch)
    began = time.monotonic()
    fetch(batch)
    assert time.monotonic() - began < 30
    assert bench.site.hits.total() == 10  # with robots.txt


@pytest.mark.site(
    {"/": page(*[f"/{number}" for number in range(8)]), **{f"/{number}": Reply(after=1.5) for number in range(8)}}
)
def test_a_slice_waits_for_a_connection_that_another_slice_of_its_job_will_give_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Handed back, it would keep its host from being given out for a second."""
    monkeypatch.setattr("crawler.fetcher.slice.MAX_SLICE_WAIT_S", 1.0)
    batch = batch_of_eight_slices(bench, monkeypatch)
    fetch(batch)
    assert bench.site.hits.total() == 10  # with robots.txt


@pytest.mark.site(
    {"/": page("/slow", "/a"), "/slow": lambda before: Reply("there", after=0.0 if before else 30.0), "/a": ""}
)
def test_a_job_that_rq_ends_closes_its_connections_and_its_pages_are_fetched_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.queueing.queues._JOB_TIMEOUT_S", 1)
    monkeypatch.setattr("crawler.frontier.leases.LEASE_TTL_S", 2.0)
    bench.start(concurrency=2)
    began = time.monotonic()
    bench.work()
    assert time.monotonic() - began < 25
    assert bench.state() == "finished"
    assert bench.site.hits["/slow"] == 2


SLOW = {f"/{number}": Reply(page(), after=1.1) for number in range(12)}


@pytest.mark.site(SLOW)
def test_a_slice_ends_when_its_host_turns_out_to_be_slow(bench: Bench) -> None:
    bench.crawl = start_crawl(
        [f"{bench.site.url}{path}" for path in SLOW], CrawlOptions(obey_robots=False), allow_private=True
    )
    bench.work("crawl", at_most=1)
    (batch,) = bench.batches()
    fetch(batch)
    *_, last = found = bench.reports()  # one, or two on a machine that is busy for the second between two reports
    assert last.done
    assert sum(len(report.results) for report in found) == 1


@pytest.mark.parametrize(("hosts", "ticks"), [(3 * MAX_SLICES_PER_BATCH + 1, 1), (3 * MAX_SLICES_PER_BATCH, 0)])
def test_a_job_with_free_connections_asks_for_more_while_many_hosts_wait(bench: Bench, hosts: int, ticks: int) -> None:
    """Two batches are handed out without a worker, with a slice of each host."""
    urls = [f"http://127.0.0.{host + 1}/" for host in range(hosts)]
    bench.crawl = start_crawl(urls, CrawlOptions(), allow_private=True)
    bench.work("crawl", at_most=1)
    session = FetchSession.claimed(bench.batches()[0], bench.context.now, connection_pool, JobWork(recent))
    assert session is not None
    assert bench.jobs("crawl") == []
    session.wake_for_more()
    assert len(bench.jobs("crawl")) == ticks
