"""A crawl is started whole or not at all."""

import json
from functools import partial
from typing import Any

import pytest
from redis.exceptions import RedisError

from crawler.core.errors import BadInput, RefusedAddress, ServiceDown
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.text.controls import Surface
from crawler.crawls import start
from crawler.crawls.control import cancel
from crawler.crawls.start import start_crawl
from crawler.encryption import opened_address
from crawler.http import guard
from crawler.http.guard import Guard
from crawler.models import Crawl, Notice, Page, Schedule
from crawler.reports.receipt import receipt_of

LOCAL = "http://127.0.0.1:8801/"

REFUSED = [
    ("start_urls", [], CrawlOptions()),
    ("start_urls", ["ftp://example.com/"], CrawlOptions()),
    ("start_urls", ["not a url"], CrawlOptions()),
    ("start_urls", [LOCAL, "http://no-such-host.invalid/"], CrawlOptions()),
    ("max_pages", [LOCAL], CrawlOptions(max_pages=0)),
    ("page_timeout", [LOCAL], CrawlOptions(page_timeout=30.5)),
    ("include", [LOCAL], CrawlOptions(include=("(",))),
    ("notify_webhooks", [LOCAL], CrawlOptions(notify_webhooks=("http://no-such-host.invalid/",))),
]


@pytest.mark.parametrize(("field", "urls", "options"), REFUSED)
def test_bad_input_is_refused_and_nothing_is_made(field: str, urls: list[str], options: CrawlOptions) -> None:
    with pytest.raises(BadInput) as refused:
        start_crawl(urls, options, allow_private=True)
    assert refused.value.field == field
    assert Crawl.objects.count() == 0


def test_a_page_timeout_beyond_the_setting_is_refused_naming_it(settings: Any) -> None:
    settings.CRAWLER_PAGE_SECONDS = 5.0
    expected = r"at most 5 seconds, the limit of this installation \(CRAWLER_PAGE_SECONDS\), not 5\.5 s"
    with pytest.raises(BadInput, match=expected):
        start_crawl([LOCAL], CrawlOptions(page_timeout=5.5), allow_private=True)
    assert start_crawl([LOCAL], CrawlOptions(page_timeout=5.0), allow_private=True).chosen.page_timeout == 5.0


def test_a_private_address_is_refused_naming_what_allows_it_on_each_surface() -> None:
    with pytest.raises(RefusedAddress) as refused:
        start_crawl([LOCAL], CrawlOptions())
    assert str(refused.value).endswith("allow it with --allow-private, or for all crawls by CRAWLER_PRIVATE_HOSTS")
    assert refused.value.message.endswith("is a private address (Loopback)")
    assert refused.value.on(Surface.API).endswith("a superuser may allow it with `allow_private`")
    assert Crawl.objects.count() == 0


def test_the_setting_allows_it_and_the_crawl_remembers(settings: Any) -> None:
    settings.CRAWLER_PRIVATE_HOSTS = ["127.0.0.1:8801"]
    assert start_crawl([LOCAL], CrawlOptions()).chosen.private_hosts == ("127.0.0.1:8801",)


def test_a_webhook_is_guarded_like_a_page(settings: Any) -> None:
    settings.CRAWLER_PRIVATE_HOSTS = ["127.0.0.1:8801"]
    with pytest.raises(RefusedAddress) as refused:
        start_crawl([LOCAL], CrawlOptions(notify_webhooks=("http://127.0.0.1:22/",)))
    assert refused.value.field == "notify_webhooks"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (
            "http://1.1.1.1:6379/",
            "not in CRAWLER_PORTS; allow it for this host by 1.1.1.1:6379",
        ),
        ("http://1.1.1.1:25/", "port 25 is blocked by browsers"),
        ("http://1.1.1.1:0/", "port 0 is blocked by browsers"),
    ],
)
def test_a_port_that_is_not_asked_is_refused_at_once(url: str, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        start_crawl([url], CrawlOptions(), allow_private=True)
    assert (refused.value.field, said in refused.value.message) == ("start_urls", True)
    assert not isinstance(refused.value, RefusedAddress)  # the box that allows addresses would not help


def test_ports_are_those_of_the_setting_or_of_an_exact_entry(settings: Any) -> None:
    settings.CRAWLER_PORTS = {6379}
    settings.CRAWLER_PRIVATE_HOSTS = ["1.1.1.1:25"]
    assert start_crawl(["http://1.1.1.1:6379/", "http://1.1.1.1:25/"], CrawlOptions()).start_urls


def test_name_servers_that_are_slow_are_no_misspelling(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: Any, **__: Any) -> Any:
        raise TimeoutError

    monkeypatch.setattr(guard, "Guard", partial(Guard, resolver=slow))
    with pytest.raises(BadInput, match=r"does not resolve in 10 seconds\. Try again later"):
        start_crawl(["http://slow.test/"], CrawlOptions())


def test_a_start_url_given_twice_is_one_page() -> None:
    crawl = start_crawl([LOCAL, "127.0.0.1:8801", LOCAL + "#top"], CrawlOptions(), allow_private=True)
    assert crawl.start_urls == [LOCAL]
    assert Page.objects.count() == crawl.discovered == 1


def test_without_redis_nothing_is_made(settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    with pytest.raises(ServiceDown, match="Redis"):
        start_crawl([LOCAL], CrawlOptions(), allow_private=True)
    assert Crawl.objects.count() == 0


@pytest.mark.parametrize("rule", ["", "every 6h"])
def test_when_redis_goes_away_at_the_end_nothing_is_left(
    real_redis: object, monkeypatch: pytest.MonkeyPatch, rule: str
) -> None:
    def gone(crawl: Crawl) -> None:
        assert Crawl.objects.filter(pk=crawl.pk).exists()
        raise RedisError("gone")

    monkeypatch.setattr(start, "wake_manager", gone)
    with pytest.raises(ServiceDown, match="nothing was started"):
        start_crawl([LOCAL], CrawlOptions(), rule, allow_private=True)
    assert (Crawl.objects.count(), Schedule.objects.count()) == (0, 0)


HOOK = "http://user:swordfish@127.0.0.1:8/hook?token=swordfish"


@pytest.mark.parametrize("hook", [HOOK, "http://127.0.0.1:8/hooks/swordfish"])
def test_a_webhook_is_stored_encrypted(real_redis: object, hook: str) -> None:
    """As addresses of Slack are: whoever gets a receipt, or reads the table, does not learn it."""
    crawl = start_crawl(["http://127.0.0.1:8/"], CrawlOptions(notify_webhooks=(hook,)), allow_private=True)
    assert opened_address(crawl.chosen.notify_webhooks[0]) == hook
    cancel(crawl.id)
    crawl.refresh_from_db()
    written = json.dumps([crawl.options, receipt_of(crawl), *Notice.objects.values_list("receipt", flat=True)])
    assert "swordfish" not in written
    assert {one["address"] for one in receipt_of(crawl)["notifications"]} == {"http://127.0.0.1:8/…"}
    again = start_crawl(["http://127.0.0.1:8/"], crawl.chosen, allow_private=True)  # as its schedule would
    assert opened_address(again.chosen.notify_webhooks[0]) == hook
