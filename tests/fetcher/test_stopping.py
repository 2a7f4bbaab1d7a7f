"""A worker that is asked to end hands back what it has not answered: no attempt is counted, no request forgotten."""

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from crawler.core.html import links
from crawler.core.protocol.messages import SliceReport
from crawler.fetcher.loop import fetch
from crawler.frontier import leases
from crawler.models import Delivery, Page
from crawler.notices.delivery import deliver_due
from crawler.queueing import queues
from crawler.reports.receipt import receipt_of
from crawler.storage import writer
from tests.bench import Bench
from tests.site import Reply, moved, page

SLOW = 30.0  # seconds a page takes that is given up
SITEMAP = "<urlset>{}</urlset>"
NAMES = [f"/{number}" for number in range(150)]


@pytest.fixture(autouse=True)
def stop(monkeypatch: pytest.MonkeyPatch) -> queues.StopRequest:
    """What the handler of SIGTERM sets."""
    request = queues.StopRequest()
    monkeypatch.setattr(queues, "stop_request", request)
    return request


@pytest.fixture
def anew(stop: queues.StopRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From now on work is done by a worker that nobody asked to end."""
    return lambda: monkeypatch.setattr(queues, "stop_request", queues.StopRequest())


@pytest.fixture
def no_grace(settings: Any) -> None:
    """Pages under way are given up at once."""
    settings.CRAWLER_GRACE_SECONDS = 0


def when(is_so: Callable[[], bool], then: Callable[[], object]) -> None:
    """In another thread."""

    def wait() -> None:
        while not is_so():
            time.sleep(0.01)
        then()

    threading.Thread(target=wait, daemon=True).start()


def quickly(work: Callable[[], object]) -> None:
    """Do it in much less time than the page takes."""
    began = time.monotonic()
    work()
    assert time.monotonic() - began < SLOW / 2


def counted(bench: Bench) -> list[tuple[int, int]]:
    return list(Page.objects.filter(crawl=bench.crawl).order_by("id").values_list("attempts", "deaths"))


@pytest.mark.site({"/": page("/a"), "/a": ""})
def test_pages_that_were_not_begun_are_handed_back(
    bench: Bench, stop: queues.StopRequest, anew: Callable[[], None]
) -> None:
    batch = bench.handed_out()
    stop.set()
    fetch(batch)
    assert (bench.site.requests, counted(bench)) == ([], [(0, 0)])
    anew()
    bench.work()
    assert bench.state() == "finished"
    assert bench.site.hits == {"/robots.txt": 1, "/": 1, "/a": 1}


@pytest.mark.site({"/": Reply("there", after=1.0)})
def test_a_page_under_way_that_is_answered_within_the_grace_is_kept(bench: Bench, stop: queues.StopRequest) -> None:
    batch = bench.handed_out()
    when(lambda: bench.site.hits["/"] == 1, stop.set)
    fetch(batch)
    (result,) = [result for report in bench.reports() for result in report.results]
    assert result.http_status == 200


@pytest.mark.site({"/": lambda before: Reply("there", after=0.0 if before else SLOW)})
def test_a_page_that_takes_too_long_is_given_up_and_asked_for_again(
    bench: Bench, stop: queues.StopRequest, anew: Callable[[], None], no_grace: None
) -> None:
    batch = bench.handed_out()
    when(lambda: bench.site.hits["/"] == 1, stop.set)
    quickly(lambda: fetch(batch))
    assert [report.results for report in bench.reports()] == [()]
    anew()
    bench.work()
    assert bench.state() == "finished"
    assert counted(bench) == [(1, 0)]
    receipt = receipt_of(bench.crawl)
    assert (receipt["discovered"], receipt["fetched"], receipt["retries"]) == (1, 1, 0)
    assert receipt["requests"] == bench.site.hits.total() == 3  # robots.txt, and the page twice


@pytest.mark.site({"/robots.txt": Reply("", after=SLOW), "/": ""})
def test_so_is_a_robots_txt(bench: Bench, stop: queues.StopRequest, no_grace: None) -> None:
    batch = bench.handed_out()
    when(lambda: bench.site.hits["/robots.txt"] == 1, stop.set)
    quickly(lambda: fetch(batch))
    (report,) = bench.reports()
    assert (report.results, report.requests, report.done) == ((), 1, True)


@pytest.mark.long
@pytest.mark.site({"/robots.txt": moved("/other.txt"), "/other.txt": "", "/": ""})
def test_a_redirected_robots_txt_does_not_wait_for_the_hosts_delay(bench: Bench, stop: queues.StopRequest) -> None:
    batch = bench.handed_out(delay=SLOW)
    when(lambda: bench.site.hits["/robots.txt"] == 1, stop.set)
    quickly(lambda: fetch(batch))
    assert (bench.site.hits["/other.txt"], counted(bench)) == (0, [(0, 0)])


@pytest.mark.site({"/": page("/a", "/b"), "/a": "", "/b": ""})
def test_slices_that_wait_for_their_host_are_handed_back(
    bench: Bench, stop: queues.StopRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host with a delay is waited for within a batch, as long as that is short."""
    monkeypatch.setattr("crawler.fetcher.slice.MAX_SLICE_WAIT_S", 2 * SLOW)
    batch = bench.handed_out(delay=SLOW)
    when(lambda: bench.site.hits["/robots.txt"] == 1, stop.set)
    quickly(lambda: fetch(batch))
    assert (bench.site.hits["/"], counted(bench)) == (0, [(0, 0)])


@pytest.mark.site({"/": page("/slow", *NAMES)} | dict.fromkeys(NAMES, ""))
def test_what_is_handed_back_is_reported_while_another_page_is_under_way(
    bench: Bench, stop: queues.StopRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.fetcher.result_buffer.FLUSH_INTERVAL_S", 2 * SLOW)
    reported: list[SliceReport] = []

    def slow(before: int) -> Reply:
        """It responds when there is a report."""
        stop.set()
        deadline = time.monotonic() + SLOW / 6
        while not reported and time.monotonic() < deadline:
            reported.extend(bench.reports())
        return Reply("there")

    bench.site.pages["/slow"] = slow
    bench.start(delay=0.3)
    while Page.objects.filter(crawl=bench.crawl).count() == 1:
        bench.work(at_most=1)
    while not (batches := bench.batches()):  # the host's delay is not over
        bench.work(at_most=1)
    batch = next(batch for batch in batches if any(task.url.endswith("/slow") for task in batch.slices[0].pages))
    assert len(batch.slices) > 1
    fetch(batch)
    assert [report.results for report in reported] == [()] * (len(batch.slices) - 1)
    assert {result.http_status for report in bench.reports() for result in report.results} == {200}


@pytest.mark.site({"/": page("/a", "/b"), "/a": "<p>there", "/b": Reply("there", after=SLOW)})
def test_a_page_that_is_being_read_is_kept_however_long_it_takes(
    bench: Bench, stop: queues.StopRequest, monkeypatch: pytest.MonkeyPatch, no_grace: None
) -> None:
    """Its worker does nothing else meanwhile; what it waits for is given up afterwards."""
    bench.start()
    bench.work(at_most=3)
    (batch,) = bench.batches()
    read_page = links.read_page

    def slow(*page: Any, **more: Any) -> Any:
        stop.set()
        time.sleep(0.5)
        return read_page(*page, **more)

    monkeypatch.setattr(links, "read_page", slow)
    quickly(lambda: fetch(batch))
    assert [result.http_status for report in bench.reports() for result in report.results] == [200]


@pytest.mark.site({"/": Reply("there", after=SLOW)})
def test_what_is_handed_back_waits_for_no_other_batch(
    bench: Bench, stop: queues.StopRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of a batch sends no tick while others of its crawl wait; a worker that ends does."""
    batch = bench.handed_out()
    monkeypatch.setattr("crawler.frontier.leases.Leases.unclaimed", lambda leases: 99)
    stop.set()
    bench.context.frontier.results.clear_mark()
    fetch(batch)
    assert f"manage the crawl of {bench.site.host}" in bench.jobs("crawl")


@pytest.mark.site({"/": Reply("there", after=SLOW)})
def test_the_job_of_a_stock_worker_reads_in_redis_that_its_worker_was_asked_to_end(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, no_grace: None, handlers_are_put_back: None
) -> None:
    monkeypatch.setattr(leases.Heartbeat.__init__, "__defaults__", (0.1,))  # seconds between two looks
    bench.start()
    bench.work("crawl", at_most=1)
    when(lambda: bench.site.hits["/"] == 1, lambda: os.kill(os.getpid(), signal.SIGTERM))
    quickly(lambda: bench.work("fetch", at_most=1))
    assert [report.results for report in bench.reports()] == [()]


def test_a_tick_that_begins_after_the_request_leaves_all_to_a_fresh_one(
    bench: Bench, stop: queues.StopRequest, anew: Callable[[], None]
) -> None:
    bench.start()
    bench.batches()
    stop.set()
    bench.work("crawl", at_most=1)
    assert [job for job in bench.jobs("fetch") if job.startswith("fetch")] == []
    assert f"manage the crawl of {bench.site.host}" in bench.jobs("crawl")
    anew()
    bench.work()
    assert bench.state() == "finished"


def test_a_tick_ends_between_two_transactions_of_a_long_sitemap(
    bench: Bench, stop: queues.StopRequest, anew: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = "".join(f"<url><loc>{bench.site.url}/{number}</loc></url>" for number in range(20))
    bench.site.pages |= {"/robots.txt": f"Sitemap: {bench.site.url}/map.xml"}
    bench.site.pages |= {"/map.xml": Reply(SITEMAP.format(listed), headers={"Content-Type": "application/xml"})}
    monkeypatch.setattr("crawler.manager.collect.SITEMAP_PAGES_PER_TRANSACTION", 5)
    bench.start(sitemaps=True)
    applied: list[int] = []
    apply = writer.apply

    def counting(*told: Any) -> Any:
        applied.append(len(told[3]))
        if applied.count(5) == 2:
            stop.set()  # after the second part of the sitemap
        return apply(*told)

    monkeypatch.setattr(writer, "apply", counting)
    while not stop.is_set():
        bench.work(at_most=1)
    assert applied.count(5) == 2
    anew()
    bench.work()
    assert bench.state() == "finished"
    assert Page.objects.filter(crawl=bench.crawl).count() == 23  # with the page it began with and two sitemaps
    assert [hits for path, hits in bench.site.hits.items() if path.strip("/").isdigit()] == [1] * 20


@pytest.mark.site({"/": "", "/one": "", "/two": ""})
def test_a_delivery_that_was_not_begun_is_left_to_another_worker(
    bench: Bench, stop: queues.StopRequest, anew: Callable[[], None]
) -> None:
    bench.start(notify_webhooks=(f"{bench.site.url}/one", f"{bench.site.url}/two"))
    bench.work("crawl", "fetch", at_most=3)
    stop.set()
    deliver_due()
    assert set(Delivery.objects.values_list("state", "attempts")) == {(Delivery.PENDING, 0)}
    anew()
    bench.work()
    assert set(Delivery.objects.values_list("state", "attempts")) == {(Delivery.DELIVERED, 1)}
