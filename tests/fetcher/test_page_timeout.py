"""A crawl may give a page less time than the installation does."""

from typing import Any

import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.models import Page
from crawler.reports.receipt import receipt_of
from tests.bench import Bench
from tests.site import Reply, page

TIMEOUT_S = 0.5
SLOW = 1.0  # seconds

SITEMAP = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>/fast</loc></url></urlset>"
PAGES = {"/": page("/slow", "/fast"), "/slow": Reply(page(), after=SLOW), "/fast": page()}


@pytest.fixture(autouse=True)
def one_attempt(settings: Any) -> None:
    settings.CRAWLER_MAX_ATTEMPTS = 1


def outcomes(bench: Bench) -> dict[str, str]:
    """Path -> outcome."""
    return {one.url.removeprefix(bench.site.url): one.outcome for one in Page.objects.filter(crawl=bench.crawl)}


@pytest.mark.site(PAGES)
def test_a_page_that_takes_longer_closes_as_timeout(bench: Bench) -> None:
    bench.start(page_timeout=TIMEOUT_S)
    bench.work()
    assert outcomes(bench) == {"/": "2xx", "/slow": "timeout", "/fast": "2xx"}
    assert Page.objects.get(outcome=Outcome.TIMEOUT).error == f"not complete after {TIMEOUT_S} seconds"
    bench.crawl.refresh_from_db()
    assert receipt_of(bench.crawl)["failed"] == 1


@pytest.mark.site(PAGES)
def test_without_the_option_it_has_the_time_of_the_setting(bench: Bench) -> None:
    bench.start()
    bench.work()
    assert set(outcomes(bench).values()) == {"2xx"}


@pytest.mark.site(PAGES)
def test_a_setting_that_was_lowered_since_the_start_counts(bench: Bench, settings: Any) -> None:
    bench.start(page_timeout=20.0)
    settings.CRAWLER_PAGE_SECONDS = TIMEOUT_S
    bench.work()
    assert outcomes(bench)["/slow"] == "timeout"


@pytest.mark.site(
    {"/": page(), "/fast": page(), "/robots.txt": Reply("", 404, after=SLOW), "/map.xml": Reply(SITEMAP, after=SLOW)}
)
def test_robots_txt_and_sitemaps_may_take_longer(bench: Bench) -> None:
    """Other crawls share what is known of robots.txt, and a sitemap may be large."""
    bench.start(page_timeout=TIMEOUT_S, sitemap_urls=(f"{bench.site.url}/map.xml",))
    bench.work()
    assert outcomes(bench) == {"/": "2xx", "/map.xml": "2xx", "/fast": "2xx"}
