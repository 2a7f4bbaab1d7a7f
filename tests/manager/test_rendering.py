"""Pages that need a browser wait in lanes of their own, until a browser worker has a free place."""

import io
from pathlib import Path

import pytest
from django.conf import LazySettings
from warcio.archiveiterator import ArchiveIterator

from crawler.capabilities.browser.lanes import RENDER
from crawler.capabilities.browser.page_load import Resource
from crawler.capabilities.browser.result import Rendering
from crawler.clock import epoch_seconds
from crawler.core.pages.outcomes import Outcome
from crawler.crawls.reconcile import scan
from crawler.frontier.slots import LaneSlots
from crawler.http.warc_record import ExchangeHeads, RecordedExchange
from crawler.jobs import fetch
from crawler.manager.tick import manage
from crawler.models import Page
from crawler.queueing import queues
from crawler.reports.diagnosis import waits_because
from crawler.reports.receipt import receipt_of
from crawler.storage.content.kept import content_of
from crawler.web.crawl.crawl_summary import receipt_rows
from tests import site
from tests.bench import Bench
from tests.content_storages import kept_in
from tests.rendering_twin import Browser, Crashed
from tests.site import Reply

SHELL = '<title>Shop</title><script src="/shop.js"></script><div id="root"></div>'
SITE = {"/": site.page("/shop", "/text"), "/shop": SHELL, "/text": "words", "/cart": SHELL, "/hidden": "more words"}

pytestmark = pytest.mark.site(SITE)


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> Browser:
    return Browser({"/shop": site.page("/cart", "/hidden"), "/cart": site.page("/")}).installed(monkeypatch)


def come(places: int = 2, name: str = "browser") -> None:
    LaneSlots(queues.connection(), RENDER).register(name, places, epoch_seconds())


def work(bench: Bench, *, renders: bool = True) -> None:
    """Until no tick and no batch waits; idle pollers are left out, which would wait for a browser. A fetch job runs
    ticks, too, in a thread that may be at work when the job has ended."""
    idle = 0
    while idle < 3:
        done = manage(bench.crawl.id)
        batches = [*bench.batches(), *(bench.batches("render") if renders else [])]
        for batch in batches:
            fetch(batch.to_plain())
        idle = 0 if batches or "took in 0" not in done else idle + 1
        if bench.state() == "finished":
            return


def render(bench: Bench, path: str = "/", **options: object) -> None:
    """A crawl with a browser worker."""
    come()
    bench.start(path, **options)
    work(bench)


def rendering_of(bench: Bench) -> dict[str, str]:
    rows = Page.objects.filter(crawl=bench.crawl).values_list("url", "lane_reason")
    return {url.removeprefix(bench.site.url): rendering for url, rendering in rows}


def test_shells_are_rendered_and_other_pages_are_not(bench: Bench, browser: Browser) -> None:
    render(bench, render="auto")
    assert bench.state() == "finished"
    assert rendering_of(bench) == {"/": "", "/text": "", "/shop": "root", "/cart": "root", "/hidden": ""}
    assert sorted(browser.rendered) == ["/cart", "/shop"]


def test_always_renders_every_page_once(bench: Bench, browser: Browser) -> None:
    render(bench, render="always")
    assert bench.state() == "finished"
    assert set(rendering_of(bench).values()) == {"always"}
    assert sorted(browser.rendered) == ["/", "/cart", "/hidden", "/shop", "/text"]
    assert bench.site.hits["/shop"] == 1


def test_pages_of_a_host_share_a_browser_context_where_that_is_set(
    bench: Bench, browser: Browser, settings: LazySettings
) -> None:
    come()
    for context in ("page", "site", "site"):
        settings.CRAWLER_BROWSER_CONTEXT = context
        bench.start("/shop", render="auto")
        work(bench)
    (alone, *_), one, another = browser.sites[:2], set(browser.sites[2:4]), set(browser.sites[4:])
    assert alone is None
    assert len(one) == len(another) == 1
    assert one != another  # crawls share none


@pytest.mark.parametrize(("clock", "is_virtual"), [("wall", False), ("virtual", True)])
def test_whether_time_is_virtual_is_a_setting(
    bench: Bench, browser: Browser, settings: LazySettings, clock: str, is_virtual: bool
) -> None:
    settings.CRAWLER_BROWSER_CLOCK = clock
    render(bench, "/shop", render="auto")
    assert {choices.virtual_time for choices in browser.choices} == {is_virtual}


@pytest.mark.site({"/": site.page("/file", "/gone"), "/file": Reply("x", headers={"Content-Type": "text/plain"})})
def test_what_is_no_page_is_not_rendered(bench: Bench, browser: Browser) -> None:
    render(bench, render="always")
    assert rendering_of(bench) == {"/": "always", "/file": "", "/gone": ""}
    assert browser.rendered == ["/"]


def test_a_page_that_could_not_be_read_in_the_browser_is_as_it_was_sent(bench: Bench, browser: Browser) -> None:
    browser.pages["/"] = Rendering(error="not complete after 15 seconds in the browser")
    render(bench, render="always")
    assert set(rendering_of(bench)) == {"/", "/shop", "/text", "/cart", "/hidden"}
    assert Page.objects.get(parent_id=None).error == "not complete after 15 seconds in the browser"


def test_the_receipt_has_the_rendered_pages_and_all_requests(bench: Bench, browser: Browser) -> None:
    render(bench, render="auto", obey_robots=False)
    receipt = receipt_of(bench.crawl)
    assert receipt["rendered"] == {"root": 2}
    assert {"name": "rendered in a browser", "number": "2", "tone": "more"} in receipt_rows(receipt)
    assert (receipt["discovered"], receipt["fetched"], receipt["retries"]) == (5, 5, 0)
    assert receipt["requests"] == sum(bench.site.hits.values()) == 7  # a shell is asked for twice


def test_the_archive_of_a_rendered_page_has_what_it_loaded(
    bench: Bench, browser: Browser, tmp_path: Path, settings: object
) -> None:
    kept_in(tmp_path, settings)
    heads = ExchangeHeads("GET /shop.js HTTP/1.1", (("Host", "x"),), "HTTP/1.1 200 OK", ())
    script = RecordedExchange(url=f"{bench.site.url}/shop.js", sent_at=9.0, heads=heads, body=b"write()")
    browser.pages["/"] = Rendering(html=b"<p>", recorded=(script,), resources=(Resource(script.url, "script", 200),))
    render(bench, render="always", keep=("warc",))
    page = Page.objects.select_related("facts", "load").get(crawl=bench.crawl, parent_id=None)
    records = ArchiveIterator(io.BytesIO(content_of(page.facts, "warc")))
    told = [(record.rec_type, record.rec_headers["WARC-Target-URI"]) for record in records]
    assert told == [(kind, url) for url in (page.url, script.url) for kind in ("response", "request")]
    assert (page.load.resources, page.load.lcp_ms) == (1, None)
    assert (browser.choices[0].records, browser.choices[0].blocked_kinds) == (True, ("media",))


def test_robots_txt_holds_for_requests_and_web_sockets_to_the_own_host(bench: Bench, browser: Browser) -> None:
    bench.site.pages["/robots.txt"] = Reply("User-agent: *\nDisallow: /live", headers={"Content-Type": "text/plain"})
    host = bench.site.host
    browser.requests = [f"{scheme}://{host}/{path}" for scheme in ("http", "ws") for path in ("shop.js", "live")]
    render(bench, "/text", render="always")
    assert list(browser.allowed.values()) == [True, False, True, False]


def test_what_a_crawl_blocks_is_blocked_in_the_browser(bench: Bench, browser: Browser) -> None:
    render(bench, render="always", blocked_hosts=("*.ads.example",))
    assert browser.choices[0].blocked_hosts == ("*.ads.example",)


def test_images_are_not_loaded_for_pages_that_are_not_archived(bench: Bench, browser: Browser) -> None:
    render(bench, render="auto")
    assert {(choices.records, choices.blocked_kinds) for choices in browser.choices} == {
        (False, ("image", "font", "media"))
    }


def test_without_a_browser_worker_the_other_pages_go_on_and_the_crawl_says_what_it_waits_for(
    bench: Bench, browser: Browser
) -> None:
    bench.start(render="auto")
    work(bench)
    assert bench.state() == "running"
    assert list(Page.objects.filter(status=Page.OPEN).values_list("lane_reason", flat=True)) == ["root"]
    assert waits_because(bench.crawl) == (
        "1 page waits for a browser worker, and none is running: start one with bin/worker --render."
    )
    assert browser.rendered == []


def test_it_goes_on_when_a_browser_worker_comes(bench: Bench, browser: Browser) -> None:
    bench.start(render="auto")
    work(bench)
    assert scan().woken == 0
    come()
    assert scan().woken == 1
    work(bench)
    assert bench.state() == "finished"


def test_no_more_is_handed_out_than_the_browser_workers_have_places(bench: Bench, browser: Browser) -> None:
    bench.site.pages["/"] = site.page(*(f"/shell/{number}" for number in range(20)))
    bench.site.pages |= {f"/shell/{number}": SHELL for number in range(20)}
    bench.start(render="auto", concurrency=64)
    work(bench)
    come(places=2)
    come(places=1, name="another")
    manage(bench.crawl.id)
    batches = bench.batches("render")
    assert len(batches) == 3
    manage(bench.crawl.id)
    assert bench.batches("render") == []
    fetch(batches[0].to_plain())
    work(bench)
    assert len(browser.rendered) == 20 - sum(len(part.pages) for batch in batches[1:] for part in batch.slices)


@pytest.mark.site({"/": site.page(*(f"/{number}" for number in range(8))), **{f"/{n}": SHELL for n in range(8)}})
@pytest.mark.parametrize(("places", "pages"), [(4, [2, 2, 1, 1]), (8, [1] * 8), (1, [4])])
def test_the_pages_that_wait_are_divided_among_the_places(
    bench: Bench, browser: Browser, places: int, pages: list[int]
) -> None:
    come(places)
    bench.start(render="auto")
    work(bench, renders=False)
    assert [len(batch.slices[0].pages) for batch in bench.batches("render")] == pages


def test_two_crawls_share_the_places(bench: Bench, browser: Browser) -> None:
    first = bench.start("/shop", render="always")
    come(places=1)
    manage(first.id)
    second = bench.start("/shop", render="always")
    manage(second.id)
    assert [batch.crawl for batch in bench.batches("render")] == [str(first.id)]


def test_after_redis_lost_its_data_shells_go_to_a_browser_at_once(bench: Bench, browser: Browser) -> None:
    bench.start(render="auto")
    work(bench)
    queues.connection().flushall()
    come()
    work(bench)
    assert bench.state() == "finished"
    assert bench.site.hits["/shop"] == 2


def test_a_redirect_by_script_is_a_redirect(bench: Bench, browser: Browser) -> None:
    browser.pages["/shop"] = Rendering(redirect_to=f"{bench.site.url}/hidden", html=b"<p>Wait")
    render(bench, "/shop", render="auto")
    page = Page.objects.get(url__endswith="/shop")
    assert (page.outcome, page.redirect_to) == (Outcome.REDIRECT, f"{bench.site.url}/hidden")
    assert Page.objects.get(url__endswith="/hidden").hops == 1


def test_addresses_given_to_the_history_are_links(bench: Bench, browser: Browser) -> None:
    browser.pages["/shop"] = Rendering(html=b"<p>Shop", links=(f"{bench.site.url}/hidden",))
    render(bench, "/shop", render="auto")
    assert rendering_of(bench) == {"/shop": "root", "/hidden": ""}


def test_a_page_whose_browser_crashed_is_tried_again(bench: Bench, browser: Browser) -> None:
    shown = iter([Crashed("the browser crashed"), site.page("/hidden")])
    browser.pages["/shop"] = lambda: next(shown)
    render(bench, "/shop", render="auto")
    assert bench.state() == "running"
    Page.objects.filter(status=Page.OPEN).update(due_at=0)
    queues.connection().flushall()
    come()
    work(bench)
    assert bench.state() == "finished"
    assert Page.objects.get(url__endswith="/shop").attempts == 2


def test_a_page_that_always_crashes_the_browser_closes_as_crashed(bench: Bench, browser: Browser) -> None:
    browser.pages["/shop"] = Crashed("the browser crashed")
    bench.start("/shop", render="auto")
    for _ in range(4):
        come()
        work(bench)
        Page.objects.filter(status=Page.OPEN).update(due_at=0)
        queues.connection().flushall()
    work(bench)
    assert bench.state() == "finished"
    page = Page.objects.get()
    assert (page.outcome, page.attempts, page.error) == (Outcome.CRASHED, 3, "the browser crashed")


def test_an_earlier_version_of_the_project_does_not_take_these_batches(bench: Bench) -> None:
    bench.start(render="auto")
    manage(bench.crawl.id)
    (batch,) = bench.batches()
    assert batch.version == 2
    plain = bench.start(render="never")
    manage(plain.id)
    assert [other.version for other in bench.batches()] == [1]
