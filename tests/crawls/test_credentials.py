"""What a crawl sends beside its URLs reaches the servers it is meant for, and is in nobody else's hands meanwhile."""

import json
import logging
import socket
from functools import partial
from io import BytesIO
from typing import Any

import msgspec
import pytest
from rq import Queue

from crawler import encryption
from crawler.core.access.credentials import parse
from crawler.core.errors import BadInput, RefusedAddress
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import Batch
from crawler.core.urls.addresses import Proxy
from crawler.crawls.credentials import check_credentials, own_hosts_of
from crawler.crawls.import_urls import load_list
from crawler.crawls.start import start_crawl
from crawler.fetcher.loop import fetch
from crawler.frontier.keys import CrawlKeys
from crawler.frontier.proxy_health import ProxyHealth
from crawler.http.client import operators_gateway
from crawler.models import Crawl, Page
from crawler.queueing import queues
from crawler.reports.diagnosis import why_of
from crawler.reports.receipt import receipt_of
from tests.bench import Bench
from tests.http.proxy import ProxyServer
from tests.site import page

KNOWN = parse(headers=["X-Key: hidden"], cookies=["a=hidden"], auth="user:hidden")
SITE = {"/": page("/a"), "/a": page()}


def start(bench: Bench, sealed: str, **options: Any) -> Crawl:
    bench.crawl = start_crawl([bench.site.url], CrawlOptions(**options), allow_private=True, sealed=sealed)
    return bench.crawl


def handed_out(bench: Bench) -> Batch:
    """The first batch of the crawl, which also waits in RQ's queue."""
    bench.work("crawl", at_most=1)
    jobs = Queue("fetch", connection=queues.connection()).jobs
    (batch,) = (Batch.from_plain(job.args[0]) for job in jobs if job.args)  # a watch has none
    policy = msgspec.structs.replace(batch.policy, own_hosts=own_hosts_of(bench.crawl))
    return msgspec.structs.replace(batch, policy=policy)


@pytest.mark.site(SITE)
def test_every_page_of_its_own_host_is_asked_for_with_the_credentials_and_robots_txt_without(bench: Bench) -> None:
    start(bench, encryption.seal(KNOWN))
    fetch(handed_out(bench))
    robots, asked = bench.site.requests
    assert (robots.path, asked.path) == ("/robots.txt", "/")
    assert not {"X-Key", "Cookie", "Authorization"} & set(robots.headers)
    assert (asked.headers["X-Key"], asked.headers["Cookie"]) == ("hidden", "a=hidden")
    assert asked.headers["Authorization"] == "Basic dXNlcjpoaWRkZW4="


def test_where_they_may_go_is_known_only_to_a_crawl_that_has_some() -> None:
    crawl = Crawl(start_urls=["https://example.com/"], options={"hosts": ["shop.test"]})
    assert own_hosts_of(crawl) == ()
    crawl.sealed = encryption.seal(KNOWN)
    assert own_hosts_of(crawl) == ("https://example.com", "https://shop.test")
    crawl.source = "list.txt"
    assert own_hosts_of(crawl) == ("https://shop.test",)


@pytest.mark.site(SITE)
def test_a_secret_is_in_no_job_no_row_and_no_report(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    start(bench, encryption.seal(KNOWN))
    fetch(handed_out(bench))
    redis = queues.connection()
    kept = [redis.dump(key) or b"" for key in redis.scan_iter()]
    kept += [repr(bench.reports()).encode(), json.dumps(receipt_of(bench.crawl)).encode(), caplog.text.encode()]
    bench.work()
    kept += [repr(list(Page.objects.values())).encode(), repr(list(Crawl.objects.values())).encode()]
    assert not [found for found in kept if b"hidden" in found or b"aGlkZGVu" in found]


def test_a_crawl_whose_key_was_changed_is_paused_before_anything_is_asked_for(bench: Bench, settings: Any) -> None:
    crawl, key = start(bench, encryption.seal(KNOWN)), settings.SECRET_KEY
    settings.SECRET_KEY = "another"
    bench.work()
    assert (bench.state(), bench.site.requests) == ("paused", [])
    assert why_of(bench.crawl)["sentences"][0].startswith("It is paused. The credentials of this crawl cannot be read")
    settings.SECRET_KEY = key
    assert check_credentials(crawl)


def test_a_worker_with_another_key_gives_pages_up_rather_than_ask_without(bench: Bench, settings: Any) -> None:
    start(bench, encryption.seal(KNOWN))
    batch = handed_out(bench)
    settings.SECRET_KEY = "another"
    fetch(batch)
    [report] = bench.reports()
    [result] = report.results
    assert (result.outcome, result.fetched_at, bench.site.requests) == (Outcome.CRASHED, 0.0, [])
    assert "SECRET_KEY has changed" in result.error


def test_a_crawl_cannot_start_with_unreadable_credentials(bench: Bench) -> None:
    with pytest.raises(BadInput, match="SECRET_KEY") as caught:
        start(bench, "rubbish")
    assert caught.value.field == "credentials"
    assert not Crawl.objects.exists()


@pytest.mark.site(SITE)
def test_a_crawl_goes_through_its_own_proxy(bench: Bench) -> None:
    with ProxyServer() as proxy:
        start(bench, encryption.seal(parse(proxy=f"127.0.0.1:{proxy.port}")))
        bench.work()
        assert proxy.targets() == [f"GET {bench.site.url}{path}" for path in ("/robots.txt", "/", "/a")]
    assert bench.state() == "finished"


@pytest.mark.site(SITE)
def test_a_crawl_goes_on_when_one_of_its_proxies_is_dead_and_says_which(bench: Bench) -> None:
    with ProxyServer() as proxy:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            dead = f"127.0.0.1:{listener.getsockname()[1]}"
        sealed = encryption.seal(parse(proxy=f"{dead} 127.0.0.1:{proxy.port}"))
        start(bench, sealed)
        health = ProxyHealth(queues.connection(), CrawlKeys(str(bench.crawl.id)), bench.context.now)
        for _ in range(3):
            health.note_failure(0)
        told = [sentence for sentence in why_of(bench.crawl)["sentences"] if "Proxy 1 of 2" in sentence]
        assert [sentence.partition(" for ")[0] for sentence in told] == [
            "Proxy 1 of 2 cannot be reached, and is skipped"
        ]
        bench.work()
        assert len(proxy.heads) == 3
    assert bench.state() == "finished"
    assert not any("Proxy 1 of 2" in sentence for sentence in why_of(bench.crawl)["sentences"])


def test_every_proxy_of_a_crawl_must_be_allowed(bench: Bench) -> None:
    sealed = encryption.seal(parse(proxy="1.1.1.1:3128 10.0.0.1:3128"))
    with pytest.raises(RefusedAddress, match=r"The proxy http://10\.0\.0\.1:3128 is refused"):
        start_crawl(["https://1.1.1.1/"], CrawlOptions(), sealed=sealed)


def test_a_crawls_own_proxy_must_be_allowed_as_its_pages_must(bench: Bench) -> None:
    sealed = encryption.seal(parse(proxy="http://user:hidden@10.0.0.1:3128"))
    with pytest.raises(RefusedAddress, match=r"The proxy http://…@10\.0\.0\.1:3128 is refused") as caught:
        start_crawl(["https://1.1.1.1/"], CrawlOptions(), sealed=sealed)
    assert caught.value.field == "proxy"


@pytest.mark.site(SITE)
def test_the_operators_proxy_is_taken_whatever_its_address(bench: Bench, settings: Any) -> None:
    with ProxyServer() as proxy:
        settings.CRAWLER_PROXY = Proxy("127.0.0.1", proxy.port)
        start(bench, "")
        bench.work()
        assert len(proxy.heads) == 3
    gateway = operators_gateway()
    assert gateway is not None
    assert gateway.guard.check("127.0.0.1", proxy.port, "127.0.0.1") is None
    assert gateway.guard.check("127.0.0.1", proxy.port + 1, "127.0.0.1") is not None


def test_the_operators_proxy_may_have_any_name_and_port(settings: Any) -> None:
    settings.CRAWLER_PROXY = Proxy("proxy.test", 25)
    gateway = operators_gateway()
    assert gateway is not None
    assert gateway.guard.check("proxy.test", 25, "10.0.0.1") is None


def test_a_list_says_which_hosts_are_sent_its_credentials(bench: Bench) -> None:
    listed = partial(load_list, BytesIO(b"https://1.1.1.1/"), "list.txt", sealed=encryption.seal(KNOWN))
    with pytest.raises(BadInput, match="Name the hosts that receive") as caught:
        listed(CrawlOptions())
    assert caught.value.field == "hosts"
    assert own_hosts_of(listed(CrawlOptions(hosts=("1.1.1.1",)))) == ("https://1.1.1.1",)


def test_a_list_that_goes_through_a_proxy_needs_no_host_of_its_own(bench: Bench) -> None:
    sealed = encryption.seal(parse(proxy="1.1.1.1:3128"))
    crawl = load_list(BytesIO(b"https://1.0.0.1/"), "list.txt", CrawlOptions(), sealed=sealed)
    assert own_hosts_of(crawl) == ()
