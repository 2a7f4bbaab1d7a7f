"""Ticks: results are taken in once, finished is said once, and nothing that goes wrong in between loses a page."""

from typing import Any

import pytest
from django.db import OperationalError
from django.db.models import Sum
from msgspec.structs import replace
from rq import Queue

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.completion import Limit
from crawler.core.protocol.counters import adds_up
from crawler.core.protocol.discovery import Discovery
from crawler.core.protocol.messages import Batch, PageResult, SliceReport, decode_report
from crawler.core.urls.normalise import key_of
from crawler.crawls.control import cancel
from crawler.crawls.start import start_crawl
from crawler.fetcher import work_stealing
from crawler.fetcher.loop import fetch
from crawler.frontier.ready_queue import Level, decode_member
from crawler.manager import dispatch
from crawler.manager import tick as manage_module
from crawler.manager.collect import BetweenTransactions, collect, process_results
from crawler.manager.context import TickContext
from crawler.manager.dispatch import refill
from crawler.manager.finish import mark_finished
from crawler.manager.tick import manage
from crawler.models import Crawl, Disagreement, Notice, Page
from crawler.queueing import queues
from crawler.queueing.wakeups import wake
from crawler.reports.receipt import receipt_of
from crawler.storage import queries, writer
from tests.bench import Bench
from tests.site import Reply, moved, page


def fresh(bench: Bench) -> Crawl:
    bench.crawl.refresh_from_db()
    return bench.crawl


CHAIN = {"/": page("/a", "/b"), "/a": page("/c"), "/b": page("/a"), "/c": page("/")}


@pytest.mark.site(CHAIN)
def test_a_crawl_goes_from_its_start_to_finished(bench: Bench) -> None:
    bench.run()
    assert bench.state() == "finished"
    receipt = receipt_of(bench.crawl)
    assert (receipt["discovered"], receipt["fetched"], receipt["statuses"]) == (4, 4, {"200": 4})
    assert adds_up(receipt)
    assert bench.site.hits == {"/robots.txt": 1, "/": 1, "/a": 1, "/b": 1, "/c": 1}
    assert Disagreement.objects.count() == 0
    assert queues.connection().keys(f"crawler:{bench.crawl.id}:*") == []
    assert not mark_finished(bench.crawl)
    assert Notice.objects.filter(crawl=bench.crawl).count() == 1


@pytest.mark.site(CHAIN)
def test_jobs_tell_a_person_what_they_do(bench: Bench) -> None:
    bench.start()
    assert bench.jobs("crawl") == [f"manage the crawl of {bench.site.host}"]
    bench.work("crawl")
    assert bench.jobs("fetch") == [f"fetch 1 page of {bench.site.host}", "watch over the running crawls"]


@pytest.mark.site(CHAIN)
def test_a_late_result_of_a_finished_crawl_changes_nothing(bench: Bench) -> None:
    bench.run()
    before = receipt_of(fresh(bench))
    first = Page.objects.order_by("id")[0]
    result = PageResult(id=first.id, attempt=1, outcome=Outcome.TIMEOUT, links=(f"{bench.site.url}/new",))
    report = SliceReport(batch="b", token="t", slice=0, host=bench.site.host, results=(result,), done=True)
    wake(bench.context.frontier, "late", [report])
    bench.work()
    assert receipt_of(fresh(bench)) == before
    assert queues.connection().keys(f"crawler:{bench.crawl.id}:*") == []


@pytest.mark.site(CHAIN)
def test_a_crawl_with_an_open_page_cannot_finish(bench: Bench) -> None:
    crawl = bench.start()
    assert not mark_finished(crawl)
    assert bench.state() == "running"
    assert Notice.objects.count() == 0


@pytest.mark.site(CHAIN)
def test_results_read_twice_are_applied_once(bench: Bench) -> None:
    """What a crash between commit and acknowledgement leaves behind."""
    bench.fetch_first_page()
    results = bench.context.frontier.results
    reports = results.read(99)
    collect(bench.context)
    bench.context.frontier.redis.rpush(bench.context.frontier.keys.results, *reports)
    bench.work()
    assert bench.state() == "finished"
    assert receipt_of(bench.crawl)["fetched"] == 4
    assert bench.crawl.requests == len(bench.site.requests)


@pytest.mark.site(CHAIN)
def test_a_frontier_that_lost_pages_is_found_out_and_rebuilt(bench: Bench) -> None:
    """The queue side says empty, the table does not: the disagreement is recorded, and the crawl still ends right."""
    bench.start()
    frontier = bench.context.frontier
    frontier.ready_queue.move_cursor(Level(5), 10**9)
    bench.work()
    assert bench.state() == "finished"
    assert receipt_of(bench.crawl)["fetched"] == 4
    assert Disagreement.objects.filter(crawl=bench.crawl).count() == 1


@pytest.mark.site(CHAIN)
def test_counters_that_drifted_are_recorded_and_put_right(bench: Bench) -> None:
    crawl = bench.start()
    type(crawl).objects.filter(id=crawl.id).update(discovered=40)
    bench.work()
    assert receipt_of(fresh(bench))["discovered"] == 4
    assert "discovered=43" in Disagreement.objects.get().what


@pytest.mark.site({f"/{hop}": moved(f"/{hop + 1}") for hop in range(20)})
def test_the_eleventh_redirect_in_a_row_is_not_followed(bench: Bench) -> None:
    bench.run("/0")
    receipt = receipt_of(fresh(bench))
    assert (receipt["fetched"], receipt["skipped"]) == (11, {"too_many_redirects": 1})
    eleventh = Page.objects.get(outcome=Outcome.TOO_MANY_REDIRECTS)
    assert (eleventh.url, eleventh.error) == (f"{bench.site.url}/11", "redirect number 11 in a row")
    assert "/11" not in bench.site.hits


@pytest.mark.site(
    {"/": page("/a"), "/a": page("/b"), "/sitemap.xml": moved("/1.xml")}
    | {f"/{step}.xml": moved(f"/{step + 1}.xml") for step in range(9)}
)
def test_pages_beyond_a_limit_say_which(bench: Bench) -> None:
    bench.run(max_depth=1, sitemaps=True)
    beyond = Page.objects.filter(outcome=Outcome.LIMIT).values_list("url", "error", "closed_by")
    assert {url.removeprefix(bench.site.url): why for url, *why in beyond} == {
        "/b": ["deeper than 1 links", Limit.DEPTH],
        "/6.xml": ["this sitemap is behind more than 5 indexes and redirects in a row", Limit.SITEMAPS],
    }


WIDE = {"/": page(*(f"/{number}" for number in range(30)))} | {
    f"/{number}": page(f"/{number}/deep") for number in range(30)
}


@pytest.mark.site(WIDE)
def test_a_page_limit_is_never_exceeded(bench: Bench) -> None:
    bench.run(max_pages=7)
    assert bench.state() == "finished"
    receipt = receipt_of(bench.crawl)
    assert receipt["fetched"] == 7
    assert receipt["skipped"]["limit"] == receipt["discovered"] - 7
    assert len(bench.site.requests) == 7 + 1  # and robots.txt


@pytest.mark.site(WIDE | {"/robots.txt": Reply("User-agent: *\nDisallow: /1")})
def test_pages_that_robots_forbids_do_not_use_up_the_page_limit(bench: Bench) -> None:
    bench.run(max_pages=12)
    receipt = receipt_of(fresh(bench))
    assert receipt["fetched"] == 12
    assert receipt["skipped"]["robots"] > 0


@pytest.mark.site(
    {"/": page("/a", "/late"), "/a": page("/b"), "/b": page("/c"), "/c": page("/d"), "/late": page("/c"), "/d": page()}
)
def test_a_depth_limit_counts_the_shortest_way(bench: Bench) -> None:
    """/c is three links from the start by /a and /b, but two by /late."""
    bench.run(max_depth=2)
    assert bench.state() == "finished"
    outcomes = dict(Page.objects.values_list("url", "outcome"))
    assert outcomes[f"{bench.site.url}/c"] == "2xx"
    assert outcomes[f"{bench.site.url}/d"] == "limit"
    assert queries.count_rows(bench.crawl.id) == bench.crawl.tallies


@pytest.mark.parametrize("first", ["/link", "/moved"])
@pytest.mark.site({"/link": page("/both"), "/moved": moved("/both"), "/both": page("/too-deep")})
def test_a_depth_limit_does_not_depend_on_whether_a_link_or_a_redirect_comes_first(bench: Bench, first: str) -> None:
    """/both is two links from the start, but one link and a redirect."""
    bench.site.pages["/"] = page(first, "/link", "/moved")
    bench.run(max_depth=1, concurrency=1)
    assert bench.state() == "finished"
    rows = {
        url.removeprefix(bench.site.url): rest for url, *rest in Page.objects.values_list("url", "outcome", "depth")
    }
    assert rows == {
        "/": ["2xx", 0],
        "/link": ["2xx", 1],
        "/moved": ["3xx", 1],
        "/both": ["2xx", 1],
        "/too-deep": ["limit", 2],
    }
    assert queries.count_rows(bench.crawl.id) == fresh(bench).tallies


def test_refilled_under_a_page_limit_the_ready_queue_skips_no_page(bench: Bench) -> None:
    """What was asked for before comes first; that must not move the cursor of other priorities past their pages."""
    bench.start(max_pages=4)
    later = [Discovery(f"{bench.site.url}/{name}", 1, 0, None) for name in "abcd"]
    urgent = Discovery(f"{bench.site.url}/urgent", 1, 0, None, priority=9)
    writer.apply(bench.crawl.id, [], [], [*later, urgent], bench.context.now())
    Page.objects.filter(url=urgent.url).update(attempts=1)
    bench.context.frontier.ready_queue.clear()
    refill(bench.context)
    assert bench.context.frontier.ready_queue.counts(bench.context.now()).waiting == 4
    skipped = [PageResult(id=row.id, attempt=1, outcome=Outcome.ROBOTS) for row in Page.objects.filter(depth=0)]
    writer.apply(bench.crawl.id, skipped, [], [], bench.context.now())
    bench.context.frontier.ready_queue.rewind()
    for _ in range(3):
        refill(bench.context)
    lined_up = {row.id for row in Page.objects.filter(status=Page.OPEN)}
    waits = bench.context.frontier.redis.zrange(bench.context.frontier.keys.queue(bench.site.host), 0, -1)
    assert {decode_member(member) for member in waits} <= lined_up | {result.id for result in skipped}
    assert len(waits) == 4


@pytest.mark.parametrize("moment", ["before its page was looked up", "before the commit"])
def test_a_result_that_comes_after_a_cancel_leaves_nothing_in_the_seen_set(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """The seen-set never knows more than the table: else what is sent again would miss pages."""
    bench.start()
    context, start_page, apply = bench.context, Page.objects.get(), writer.apply

    def cancelled_first(*args: Any) -> writer.ApplyResult:
        cancel(bench.crawl.id)
        return apply(*args)

    if moment == "before the commit":
        monkeypatch.setattr(writer, "apply", cancelled_first)
    else:
        cancel(bench.crawl.id)
    link = f"{bench.site.url}/late"
    process_results(
        context, [PageResult(id=start_page.id, attempt=1, outcome=Outcome.SUCCESS, http_status=200, links=(link,))]
    )
    assert context.frontier.seen.missing([Discovery(link, 1, 0, None).seen_key]) == [0]


@pytest.mark.site({"/": page("/a", "/b", "/c", "/d")})
def test_a_result_that_the_database_refuses_costs_no_other_page_its_own(bench: Bench) -> None:
    bench.start()
    for queue in ("crawl", "fetch", "crawl"):
        bench.work(queue, at_most=1)
    answered = {"attempt": 1, "outcome": Outcome.SUCCESS, "http_status": 200, "requests": 1, "bytes": 9}
    results = [
        PageResult(id=row.id, links=(f"{row.url}/more",), **answered)
        for row in Page.objects.filter(status=Page.OPEN).order_by("id")
    ]
    results[2] = replace(results[2], bytes=2**63)
    process_results(bench.context, results, requests=3)
    closed = Page.objects.filter(id__in=[result.id for result in results]).order_by("id")
    assert list(closed.values_list("status", "outcome")) == [(1, "2xx"), (1, "2xx"), (1, "malformed"), (1, "2xx")]
    assert "cannot be stored" in closed[2].error
    assert sorted(Page.objects.filter(status=Page.OPEN).values_list("parent_id", flat=True)) == [
        result.id for place, result in enumerate(results) if place != 2
    ]
    crawl = fresh(bench)
    assert crawl.tallies == queries.count_rows(crawl.id)
    assert (crawl.requests, crawl.bytes) == (2 + 4 + 3, Page.objects.aggregate(sum=Sum("bytes"))["sum"])


@pytest.mark.site({"/": page("/a", "/b"), "/a": Reply(status=429, headers={"Retry-After": "30"}), "/b": page()})
def test_a_host_that_asks_for_peace_gets_it_for_all_its_pages_and_from_all_crawls(bench: Bench) -> None:
    bench.start(concurrency=1)
    _one_round(bench)
    _one_round(bench)
    other = start_crawl([f"{bench.site.url}/b"], CrawlOptions(), allow_private=True)
    _one_round(bench)
    _one_round(bench)
    assert bench.site.hits == {"/robots.txt": 1, "/": 1, "/a": 1}
    assert bench.state() == "running"
    assert {cancel(bench.crawl.id), cancel(other.id)} == {True}


def _one_round(bench: Bench) -> None:
    """Ticks, then what they handed out; no watch, which would wait."""
    bench.work("crawl")
    for job in bench.batches():
        fetch(job)


@pytest.mark.site({"/": lambda before: Reply(page("/a")) if before == 2 else Reply(status=503), "/a": page()})
def test_a_passing_error_is_tried_again_and_counts_as_open_work(bench: Bench) -> None:
    bench.fetch_first_page()
    manage(bench.crawl.id)
    assert bench.state() == "running"
    assert queries.has_open(bench.crawl.id)
    start = Page.objects.get(depth=0)
    assert (start.status, start.attempts) == (Page.OPEN, 1)
    assert start.due_at > bench.context.now()


@pytest.mark.site({"/": page("/a"), "/robots.txt": Reply(status=503)})
def test_an_unreachable_robots_txt_forbids_everything_in_the_end(bench: Bench, settings: object) -> None:
    settings.CRAWLER_MAX_ATTEMPTS = 1  # type: ignore[attr-defined]
    bench.run()
    receipt = receipt_of(fresh(bench))
    assert (receipt["state"], receipt["skipped"]) == ("finished", {"robots": 1})
    assert "/" not in bench.site.hits


def test_one_tick_leaves_the_work_to_the_other(bench: Bench) -> None:
    bench.start()
    context = bench.context
    context.frontier.results.acquire_lock("another tick")
    assert "another tick" in manage(bench.crawl.id)
    assert context.frontier.results.mark() is not None


def test_what_fetch_jobs_leave_can_be_read_by_people_and_machines(bench: Bench) -> None:
    bench.fetch_first_page()
    (report,) = [decode_report(raw) for raw in bench.context.frontier.results.read(9)]
    (result,) = report.results
    assert report.done
    assert (result.http_status, result.title, result.content_type) == (200, "Alone", "text/html")


def test_a_request_for_robots_txt_is_counted_though_no_page_was_asked_for_behind_it(bench: Bench) -> None:
    bench.fetch_first_page(delay=600)
    manage(bench.crawl.id)
    assert bench.site.hits == {"/robots.txt": 1}
    assert fresh(bench).requests == 1
    assert Page.objects.get().attempts == 0


@pytest.mark.site(CHAIN)
def test_a_report_that_cannot_be_read_does_not_stop_the_crawl(bench: Bench) -> None:
    bench.start()
    bench.context.frontier.redis.rpush(bench.context.frontier.keys.results, b"\xc1 nonsense", b"")
    bench.work()
    assert bench.state() == "finished"
    assert receipt_of(bench.crawl)["fetched"] == 4


def test_a_tick_for_a_crawl_of_another_installation_leaves_its_memory_alone(bench: Bench) -> None:
    crawl = bench.start()
    before = set(queues.connection().keys("crawler:*"))
    Page.objects.all().delete()
    Crawl.objects.all().delete()
    assert "no such crawl" in manage(crawl.id)
    assert before <= set(queues.connection().keys("crawler:*"))


@pytest.mark.site(CHAIN)
def test_reports_are_acknowledged_only_once_they_are_committed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.fetch_first_page()

    def fails(*args: object) -> None:
        raise OperationalError("database is locked")

    with monkeypatch.context() as patch:
        patch.setattr(writer, "apply", fails)
        with pytest.raises(OperationalError):
            manage(bench.crawl.id)
    assert len(bench.context.frontier.results.read(9)) == 1
    links = [key_of(f"{bench.site.url}{path}") for path in ("/a", "/b")]
    assert bench.context.frontier.seen.missing(links) == [0, 1]  # the seen-set never knows more than the table
    assert bench.jobs("crawl") != []  # somebody will look again
    manage(bench.crawl.id)
    assert Page.objects.filter(status=Page.CLOSED).count() == 1


@pytest.mark.site(CHAIN)
def test_a_report_left_while_a_tick_works_is_taken_in_by_that_tick(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mark is cleared before the results are read; the other way round this wake-up would be lost."""
    bench.start()
    bench.work("crawl", at_most=1)
    (batch,) = batches_in_queue()
    queues.connection().delete("rq:queue:fetch")  # a worker has taken it
    looks = []

    def nothing_and_then_a_report(context: TickContext, between: BetweenTransactions) -> int:
        found = collect(context, between)
        if not looks:
            fetch(batch)  # between the tick's last look at the results and whatever it does next
        looks.append(found)
        return found

    monkeypatch.setattr(manage_module, "collect", nothing_and_then_a_report)
    manage(bench.crawl.id)
    assert Page.objects.filter(status=Page.CLOSED).count() == 1


def batches_in_queue() -> list[Batch]:
    jobs = Queue("fetch", connection=queues.connection()).jobs
    return [Batch.from_plain(job.args[0]) for job in jobs if job.args]  # a watch has none


TWO_SLICES = {"/": page(*(f"/{number}" for number in range(80)))} | {f"/{number}": page() for number in range(80)}


@pytest.mark.site(TWO_SLICES)
def test_two_ticks_may_settle_the_slices_of_one_batch(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is held up past its lock between its commit and its settling; the second settles one of the slices."""
    monkeypatch.setattr(work_stealing, "TICK_CHECKS", 10**6)  # no tick is done beside the batch
    monkeypatch.setattr(dispatch, "PREFETCH_BATCHES", 1)  # all slices in one batch
    bench.fetch_first_page()
    manage(bench.crawl.id)
    bench.work("fetch", at_most=1)
    frontier = bench.context.frontier
    reports = [decode_report(raw) for raw in frontier.results.read(9)]
    assert {0, 1} <= {report.slice for report in reports}
    first = next(report for report in reports if report.done)
    apply = writer.apply

    def held_up(*args: Any) -> Any:
        done = apply(*args)
        frontier.leases.complete_slice(first.batch, first.token, first.slice, first.host, (), 0)
        return done

    monkeypatch.setattr(writer, "apply", held_up)
    collect(bench.context)
    assert frontier.leases.outstanding() == 0
    assert frontier.ready_queue.handed_out() == 0


@pytest.mark.site({"/": page()})
@pytest.mark.long
def test_a_lease_whose_reports_wait_is_not_taken_for_that_of_a_dead_worker(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manager was held up for longer than a lease lasts, and takes in what was left meanwhile bit by bit."""
    monkeypatch.setattr(manage_module, "MAX_DRAIN_S", 0.0)
    monkeypatch.setattr("crawler.manager.collect.MAX_REPORTS_PER_READ", 1)
    hosts = [bench.site.url, bench.site.url.replace("127.0.0.1", "localhost")]
    bench.crawl = start_crawl([f"{host}/" for host in hosts], CrawlOptions(), allow_private=True)
    bench.work("crawl", at_most=1)
    bench.work("fetch")
    frontier = bench.context.frontier
    assert frontier.redis.llen(frontier.keys.results) == len(hosts)
    for lease, _ in frontier.leases.all():
        frontier.redis.zadd(frontier.keys.leases, {lease.batch: 1.0})
    manage(bench.crawl.id)
    assert list(Page.objects.values_list("status", "deaths", "attempts")) == [(Page.CLOSED, 0, 1)] * len(hosts)
    assert bench.state() == "finished"
    assert receipt_of(bench.crawl)["retries"] == 0
