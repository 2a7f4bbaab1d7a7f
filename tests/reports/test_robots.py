"""What is odd about a robots.txt can be read where a person looks for why a crawl is as it is."""

import pytest

from crawler.reports.diagnosis import why_of
from crawler.reports.diagnosis_facts import robots_of
from tests.bench import Bench
from tests.factories import make_crawl
from tests.site import Reply, page
from tests.web.conftest import NOWHERE

pytestmark = pytest.mark.usefixtures("transactional_db", "real_redis")

RULES = Reply("User-agent: *\nDisallow: /x", headers={"Content-Type": "text/plain"})
HTML = Reply("<!doctype html><p>Welcome", headers={"Content-Type": "text/html"})
BINARY = Reply(b"\x89PNG\r\n\x1a\n\0\0", headers={"Content-Type": "image/png"})
LARGE = Reply("User-agent: *\nDisallow: /x\n" + "# no end of it\n" * 41_000)  # some 600 KiB


@pytest.mark.parametrize(
    ("robots", "said"),
    [
        pytest.param(HTML, "robots.txt is an HTML page; it contains no rules", id="HTML"),
        pytest.param(BINARY, "robots.txt is a binary file; it contains no rules", id="binary"),
        pytest.param(LARGE, "robots.txt is larger than 500 KiB; the rest was not read", id="600 KiB"),
    ],
)
def test_a_robots_txt_that_is_none_is_named_and_the_crawl_goes_on(bench: Bench, robots: Reply, said: str) -> None:
    bench.site.pages |= {"/": page("/x"), "/x": page(), "/robots.txt": robots}
    bench.start()
    bench.work()
    assert bench.state() == "finished"
    report = why_of(bench.crawl)
    assert report["robots"] == [{"origin": bench.site.url, "status": 200, "oddity": said, "error": ""}]
    assert f"{bench.site.url}/robots.txt: {said}." in report["sentences"][1:]
    x = bench.crawl.pages.get(url__endswith="/x")
    assert x.outcome == ("robots" if robots is LARGE else "2xx")  # what could be read of it is obeyed


@pytest.mark.site({"/": page(), "/robots.txt": RULES})
def test_of_one_that_is_as_it_should_be_nothing_is_said(bench: Bench) -> None:
    bench.start()
    assert robots_of(bench.crawl) == []  # not asked for yet
    bench.work()
    report = why_of(bench.crawl)
    assert report["robots"] == [{"origin": bench.site.url, "status": 200, "oddity": "", "error": ""}]
    assert not any("robots.txt" in sentence for sentence in report["sentences"])


@pytest.mark.site({"/": page(), "/robots.txt": HTML})
def test_of_one_that_is_not_obeyed_nothing_is_said(bench: Bench) -> None:
    bench.start()
    bench.work()
    bench.start(obey_robots=False)
    assert robots_of(bench.crawl) == []


def test_without_redis_nothing_is_known(settings: object) -> None:
    settings.REDIS_URL = NOWHERE  # type: ignore[attr-defined]  # pytest-django's wrapper has no types
    assert robots_of(make_crawl()) is None
    assert why_of(make_crawl())["robots"] is None
