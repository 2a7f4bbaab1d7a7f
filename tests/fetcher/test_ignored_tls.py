"""A crawl of a site whose certificate nobody trusts: closed as `tls`, or read and noted if the crawl ignores it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crawler.core.channels.kind import Message
from crawler.core.errors import TransportError
from crawler.core.options.catalogue import CrawlOptions
from crawler.crawls.start import start_crawl
from crawler.models import Page, PageFacts
from crawler.notices.send import send
from crawler.reports.page_detail import page_report
from tests.bench import Bench
from tests.http.certificates import self_signed
from tests.http.server import Server, page

SITE = {
    "/robots.txt": page("User-agent: *\nDisallow: /closed", content_type="text/plain"),
    "/": page('<a href="/closed">no'),
}


@pytest.fixture
def untrusted(tmp_path: Path) -> Iterator[str]:
    with Server(SITE, tls=self_signed(tmp_path)) as server:
        yield f"https://127.0.0.1:{server.port}/"


def started(bench: Bench, url: str, **options: Any) -> None:
    bench.crawl = start_crawl([url], CrawlOptions(**options), allow_private=True)


def test_each_page_says_why_its_certificate_was_not_verified(bench: Bench, untrusted: str) -> None:
    started(bench, untrusted, ignore_tls_errors=True)
    bench.work()
    read = Page.objects.get(crawl=bench.crawl, url=untrusted)
    assert read.outcome == "2xx"
    told = PageFacts.objects.get(page_id=read.id).certificate_error
    assert told
    assert page_report(bench.crawl, read)["certificate_error"] == told
    assert Page.objects.get(crawl=bench.crawl, url=f"{untrusted}closed").outcome == "robots"


def test_another_crawl_trusts_nothing_of_that(bench: Bench, untrusted: str) -> None:
    for options in ({"ignore_tls_errors": True}, {}):
        started(bench, untrusted, response_ttl=600.0, **options)
        bench.work()
    assert Page.objects.get(crawl=bench.crawl).outcome == "tls"


def test_a_notice_is_never_sent_to_such_a_server(untrusted: str) -> None:
    with pytest.raises(TransportError, match="no secure TLS connection"):
        send(
            Message(id="a", event="e", crawl="c", receipt={}, subject="s", text="t"),
            "webhook",
            untrusted,
            ("127.0.0.1",),
        )
