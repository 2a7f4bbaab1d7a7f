"""Pages of a crawl with the engine Scrapy, which is real: its project is `tests.capabilities.scrapy.project`."""

import time
from typing import Any

import pytest

from crawler import conf
from crawler.capabilities.scrapy import driver, page_steps
from crawler.core.options.catalogue import CrawlOptions
from crawler.crawls.reconcile import reconcile
from crawler.crawls.start import start_crawl
from crawler.extras import SCRAPY
from crawler.models import Page
from crawler.reports.receipt import receipt_of
from tests.bench import Bench
from tests.missing import leave_out
from tests.site import Reply, Site, page

SITE = {
    "/": page("/a", "/made", "/changed", "/gone", "/moved", "/ignored", "/data.bin", "/hidden/x"),
    "/robots.txt": Reply("User-agent: *\nDisallow: /hidden/\n", headers={"Content-Type": "text/plain"}),
    "/a": page("/"),
    "/changed": page("/not-this"),
    "/moved": Reply("", 301, headers={"Location": "/a"}),
    "/data.bin": Reply("xyz", headers={"Content-Type": "application/octet-stream"}),
    "/from-scrapy": page(),
}


pytestmark = pytest.mark.usefixtures("handlers_are_put_back")


def work(bench: Bench, seconds: float = 30.0) -> None:
    """Until the crawl is over."""
    until = time.monotonic() + seconds
    while bench.state() == "running" and time.monotonic() < until:
        bench.work("crawl", "scrapy")
        reconcile(at_once=True)  # as an idle worker does
        time.sleep(0.05)


def outcomes(bench: Bench) -> dict[str, str]:
    """Path -> outcome."""
    return {one.url.removeprefix(bench.site.url): one.outcome for one in Page.objects.filter(crawl=bench.crawl)}


@pytest.mark.site(SITE)
def test_middlewares_of_the_project_run_and_pages_are_read_as_they_leave_them(bench: Bench) -> None:
    bench.start(engine="scrapy")
    work(bench)
    assert outcomes(bench) == {
        **dict.fromkeys(("/", "/a", "/made", "/changed", "/from-scrapy", "/data.bin"), "2xx"),
        "/gone": "4xx",
        "/moved": "3xx",
        "/hidden/x": "robots",
        "/ignored": "crashed",
    }
    titles = {one.url.removeprefix(bench.site.url): one.title for one in Page.objects.filter(crawl=bench.crawl)}
    assert (titles["/made"], titles["/changed"]) == ("Made", "Changed")
    assert Page.objects.get(url=f"{bench.site.url}/ignored").error == "not for this project"
    bench.crawl.refresh_from_db()
    assert receipt_of(bench.crawl)["requests"] == sum(bench.site.hits.values())
    sent = next(request.headers for request in bench.site.requests if request.path == "/a")
    assert (sent["X-Project"], sent["User-Agent"]) == ("shop", conf.user_agent())


@pytest.mark.site({"/": page("/b"), "/b": page()})
def test_the_same_pages_and_facts_as_by_the_built_in_engine(bench: Bench) -> None:
    rows = []
    for engine in ("builtin", "scrapy"):
        crawl = bench.start(engine=engine)
        work(bench) if engine == "scrapy" else bench.work()
        found = Page.objects.filter(crawl=crawl).order_by("id")
        rows.append(list(found.values_list("url", "outcome", "http_status", "content_type", "title", "bytes", "depth")))
    assert rows[0] == rows[1]


@pytest.mark.long
@pytest.mark.site({"/": page("/killed", "/b"), "/b": page(), "/killed": page()})
def test_a_page_that_kills_its_process_is_tried_three_times_and_the_others_are_fetched(bench: Bench) -> None:
    bench.start(engine="scrapy")
    work(bench, 60.0)
    assert outcomes(bench) == {"/": "2xx", "/b": "2xx", "/killed": "crashed"}
    killed = Page.objects.get(url__endswith="/killed")
    assert (killed.attempts, killed.error) == (3, driver.ENDED)


@pytest.mark.long
@pytest.mark.site({"/": page("/slow", "/b"), "/b": page(), "/slow": page()})
def test_a_page_whose_components_do_not_end_costs_its_process_and_no_other_page(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.CRAWLER_MAX_ATTEMPTS = 1
    monkeypatch.setattr(page_steps, "SPIDER_SECONDS", 4.0)
    bench.start(engine="scrapy")
    work(bench, 60.0)
    assert outcomes(bench) == {"/": "2xx", "/b": "2xx", "/slow": "crashed"}
    assert Page.objects.get(url__endswith="/slow").error == "the spider did not finish this page within 4 seconds"


@pytest.mark.long
@pytest.mark.site({"/": page("/again"), "/again": page()})
def test_another_request_for_a_page_waits_for_its_turn_and_counts(bench: Bench) -> None:
    bench.start(engine="scrapy", delay=0.5)
    work(bench)
    assert outcomes(bench) == {"/": "2xx", "/again": "2xx"}
    assert bench.site.hits["/again"] == 2
    assert len(bench.site.out_of_turn(0.5)) <= 1  # slow on its way


def test_no_request_goes_to_another_host(bench: Bench) -> None:
    with Site({"/secret": page()}).serving() as other:
        path = f"/elsewhere?{other.url}/secret"
        bench.site.pages = {"/": page(path), path: page()}
        bench.start(engine="scrapy")
        work(bench)
        assert sum(other.hits.values()) == 0
    assert "is not the page's host" in Page.objects.get(depth=1).error


@pytest.mark.long
@pytest.mark.site({"/": page("/b"), "/b": page()})
def test_the_process_ends_with_its_spider_closed_when_its_worker_is_done(bench: Bench) -> None:
    bench.start(engine="scrapy")
    work(bench)
    (process,) = driver._processes.values()
    driver.close_all()
    assert process._process.returncode == 0


def test_without_scrapy_the_page_is_handed_back(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.start(engine="scrapy")
    leave_out(monkeypatch, SCRAPY)
    monkeypatch.setattr("crawler.fetcher.slice.MISSING_PAUSE_S", 0.0)
    bench.work("crawl", at_most=1)
    bench.work("scrapy", at_most=1)
    bench.work("crawl", at_most=1)
    page = Page.objects.get(crawl=bench.crawl)
    assert (page.status, page.attempts) == (Page.OPEN, 0)


def test_its_pages_are_on_a_queue_of_their_own(bench: Bench) -> None:
    bench.start(engine="scrapy")
    bench.work("crawl", at_most=1)
    assert bench.jobs("scrapy") == [f"run Scrapy on 1 page of {bench.crawl.site}"]


@pytest.mark.site({"/": page()})
def test_private_addresses_are_refused_however_they_are_reached(bench: Bench, settings: Any) -> None:
    settings.CRAWLER_PRIVATE_HOSTS = [bench.site.host]
    with Site({"/secret": page()}).serving() as private:
        port = private.host.partition(":")[2]
        hosts = (private.host, f"localhost:{port}", "10.0.0.1", "169.254.169.254")
        links = [f"http://{host}/secret" for host in hosts]
        bench.site.pages = {
            "/": page(*links, "/moved"),
            "/moved": Reply("", 302, headers={"Location": f"{private.url}/other"}),
        }
        bench.crawl = start_crawl([bench.site.url], CrawlOptions(engine="scrapy", hosts=hosts))
        work(bench)
        assert sum(private.hits.values()) == 0
    refused = Page.objects.filter(crawl=bench.crawl, outcome="private_address")
    assert {row.url for row in refused} == {*links, f"{private.url}/other"}
