"""Spiders of users on the pages of a crawl, in a real Scrapy: see `tests.capabilities.scrapy.spiders`."""

from collections.abc import Iterator
from typing import Any

import pytest

from crawler.capabilities.scrapy import driver
from crawler.core.errors import BadInput
from crawler.models import Page, PageFacts, SpiderRequest
from crawler.reports.receipt import receipt_of
from tests.bench import Bench
from tests.capabilities.scrapy.test_scrapy import outcomes, work
from tests.site import Reply, page

SPIDERS = "tests.capabilities.scrapy.spiders"
SHOP = {
    "/": '<a class="category" title="Shoes" href="/shoes">S</a><a class="category" title="Hats" href="/hats?a=b">H</a>'
    '<a href="/imprint">Imprint</a>',
    "/shoes": '<a class="product" href="/boot">Boot</a><a class="product" href="/gift">Gift</a>',
    "/hats?a=b": '<a class="product" href="/moved">Cap</a>',
    "/moved": Reply("", 302, headers={"Location": "/cap"}),
    "/cap": "<b>12</b>",
    "/boot": "<b>99.5</b>",
    "/gift": "<b>0</b>",
}


@pytest.fixture(autouse=True)
def _scrapy(settings: Any, handlers_are_put_back: None) -> Iterator[None]:
    pytest.importorskip("scrapy", reason="Scrapy is not installed (pip install -r requirements-scrapy.txt)")
    settings.CRAWLER_SPIDERS = [f"{SPIDERS}.{name}" for name in ("Prices", "Forms", "Broken", "Closing", "Missing")]
    yield
    driver.close_all()


def crawl(bench: Bench, spider: str, **options: Any) -> None:
    bench.start(engine="scrapy", spider=f"{SPIDERS}.{spider}", **options)
    work(bench, 60.0)


def fields(bench: Bench) -> dict[str, dict[str, Any]]:
    """Path -> fields, of pages that have some."""
    urls = dict(Page.objects.filter(crawl=bench.crawl).values_list("id", "url"))
    return {
        urls[facts.page_id].removeprefix(bench.site.url): facts.fields
        for facts in PageFacts.objects.filter(crawl=bench.crawl)
        if facts.fields
    }


def calls(bench: Bench) -> dict[str, Any]:
    bench.crawl.refresh_from_db()
    (called,) = receipt_of(bench.crawl)["hooks"]
    return dict(called)


@pytest.mark.site(SHOP)
def test_it_follows_its_own_links_with_their_callbacks_and_its_items_are_fields(bench: Bench) -> None:
    crawl(bench, "Prices")
    assert outcomes(bench) == {**dict.fromkeys(SHOP, "2xx"), "/moved": "3xx"}
    assert fields(bench) == {
        "/shoes": {"category": "Shoes"},
        "/hats?a=b": {"category": "Hats"},
        "/cap": {"price": 12, "category": "Hats", "currency": "EUR"},
        "/boot": {"price": 99.5, "category": "Shoes", "currency": "EUR"},
    }
    assert "/imprint" not in bench.site.hits
    assert SpiderRequest.objects.filter(crawl=bench.crawl).count() == len(SHOP) - 1


@pytest.mark.long
@pytest.mark.site(
    {
        "/": page("/other"),
        "/search": lambda before: Reply("<i>one</i><i>two</i><a href='/found'>found</a>"),
        "/found": page(),
    }
)
def test_other_requests_are_sent_as_a_part_of_the_page(bench: Bench) -> None:
    crawl(bench, "Forms", max_depth=1)
    (sent, *_) = (request for request in bench.site.requests if request.path == "/search")
    assert (sent.body, sent.headers["Content-Type"]) == (b"q=shoes", "application/x-www-form-urlencoded")
    assert set(outcomes(bench)) == {"/", "/found"}
    assert fields(bench)["/"] == {"hits": ["one", "two"]}
    bench.crawl.refresh_from_db()
    assert receipt_of(bench.crawl)["requests"] == sum(bench.site.hits.values())
    assert "/lambda cannot be stored" in Page.objects.get(depth=0).error


@pytest.mark.site({"/": page("/a", title="One"), "/a": page(title="Two")})
def test_its_exceptions_are_counted_and_what_it_yielded_before_is_kept(bench: Bench) -> None:
    crawl(bench, "Broken")
    assert outcomes(bench) == {"/": "2xx", "/a": "2xx"}
    assert fields(bench)["/"] == {"title": ["One", "again"], "second": [None, True]}
    assert calls(bench)["calls"] == calls(bench)["errors"] == 2
    assert Page.objects.get(depth=0).error == "ValueError: this page is not for it"


@pytest.mark.long
@pytest.mark.site({"/": page("/a", "/b"), "/a": page(), "/b": page()})
def test_one_that_closes_itself_ends_its_process_and_not_the_crawl(bench: Bench) -> None:
    crawl(bench, "Closing")
    assert outcomes(bench) == {"/": "2xx", "/a": "2xx", "/b": "2xx"}


@pytest.mark.long
@pytest.mark.site({"/": page()})
def test_one_that_cannot_be_imported_is_named_by_each_page(bench: Bench) -> None:
    crawl(bench, "Missing")
    assert outcomes(bench) == {"/": "crashed"}
    assert f"The spider {SPIDERS}.Missing cannot be imported" in Page.objects.get(crawl=bench.crawl).error


def test_only_the_operator_may_name_any(bench: Bench) -> None:
    with pytest.raises(BadInput, match="CRAWLER_SPIDERS"):
        bench.start(engine="scrapy", spider="os.path.Anything")


def test_it_needs_scrapy(bench: Bench) -> None:
    with pytest.raises(BadInput, match="--engine scrapy"):
        bench.start(spider=f"{SPIDERS}.Prices")


def test_it_is_checked_in_a_process_of_its_own() -> None:
    driver.check_spider(f"{SPIDERS}.Prices")
    with pytest.raises(BadInput, match="cannot be imported"):
        driver.check_spider(f"{SPIDERS}.Missing")
    with pytest.raises(BadInput, match="is not a spider"):
        driver.check_spider(f"{SPIDERS}.DropFree")
