"""A crawl is started whole or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.core.errors import BadInput, RefusedAddress, ServiceDown
from crawler.core.options import CrawlOptions
from crawler.engine.start import start_crawl
from crawler.models import Crawl, Page

LOCAL = "http://127.0.0.1:8801/"

REFUSED = [
    ("start_urls", [], CrawlOptions()),
    ("start_urls", ["ftp://example.com/"], CrawlOptions()),
    ("start_urls", ["not a url"], CrawlOptions()),
    ("start_urls", [LOCAL, "http://no-such-host.invalid/"], CrawlOptions()),
    ("max_pages", [LOCAL], CrawlOptions(max_pages=0)),
    ("include", [LOCAL], CrawlOptions(include=("(",))),
    ("notify_webhooks", [LOCAL], CrawlOptions(notify_webhooks=("http://no-such-host.invalid/",))),
]


@pytest.mark.parametrize(("field", "urls", "options"), REFUSED)
def test_bad_input_is_refused_and_nothing_is_made(field: str, urls: list[str], options: CrawlOptions) -> None:
    with pytest.raises(BadInput) as refused:
        start_crawl(urls, options, allow_private=True)
    assert refused.value.field == field
    assert Crawl.objects.count() == 0


def test_a_private_address_is_refused_naming_what_allows_it() -> None:
    with pytest.raises(
        RefusedAddress, match=r'under "Private networks", with --allow-private or by CRAWLER_PRIVATE_HOSTS'
    ):
        start_crawl([LOCAL], CrawlOptions())
    assert Crawl.objects.count() == 0


def test_the_setting_allows_it_and_the_crawl_remembers(settings: Any) -> None:
    settings.CRAWLER_PRIVATE_HOSTS = ["127.0.0.1:8801"]
    assert start_crawl([LOCAL], CrawlOptions()).chosen.private_hosts == ("127.0.0.1:8801",)


def test_a_webhook_is_guarded_like_a_page(settings: Any) -> None:
    settings.CRAWLER_PRIVATE_HOSTS = ["127.0.0.1:8801"]
    with pytest.raises(RefusedAddress) as refused:
        start_crawl([LOCAL], CrawlOptions(notify_webhooks=("http://127.0.0.1:22/",)))
    assert refused.value.field == "notify_webhooks"


def test_a_start_url_given_twice_is_one_page() -> None:
    crawl = start_crawl([LOCAL, "127.0.0.1:8801", LOCAL + "#top"], CrawlOptions(), allow_private=True)
    assert crawl.start_urls == [LOCAL]
    assert Page.objects.count() == crawl.discovered == 1


def test_without_redis_nothing_is_made(settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    with pytest.raises(ServiceDown, match="Redis"):
        start_crawl([LOCAL], CrawlOptions(), allow_private=True)
    assert Crawl.objects.count() == 0
