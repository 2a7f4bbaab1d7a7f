"""Every door to the network has the guard before it: whatever a site, a person or a name server says, nobody knocks at
an address that is not public and was not allowed.

The site is allowed by its very name and port. The canary beside it is not; all names lead to this machine.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User

from crawler import encryption
from crawler.core.access.credentials import parse
from crawler.core.channels.kind import Message
from crawler.core.errors import RefusedAddress, TransportError
from crawler.core.extraction.rules import FieldRule
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.options.events import Event
from crawler.core.urls.addresses import Proxy
from crawler.crawls.start import start_crawl
from crawler.fetcher import loop
from crawler.fetcher import preview as trial
from crawler.fetcher.preview import preview
from crawler.frontier import keys
from crawler.frontier.robots import RobotsCache
from crawler.http import guard
from crawler.http.guard import Guard
from crawler.models import Page
from crawler.notices.send import send
from crawler.notices.user_channels import ChannelValues, add_channel
from crawler.queueing import queues
from tests.bench import Bench
from tests.http.names import Names
from tests.http.proxy import ProxyServer
from tests.http.server import Server
from tests.http.server import page as reply
from tests.site import Reply, moved, page


@pytest.fixture
def canary(bench: Bench, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The origin of a server that is asked for nothing; afterwards it is seen that nobody was there."""
    bench.site.host = f"site.test:{bench.site.url.rsplit(':', 1)[1]}"
    bench.site.url = f"http://{bench.site.host}"
    settings.CRAWLER_PRIVATE_HOSTS = [bench.site.host]
    monkeypatch.setattr(guard, "Guard", partial(Guard, resolver=Names("127.0.0.1")))
    with Server({"/": reply()}) as server:
        yield f"http://inside.test:{server.port}"
    assert server.connections == 0


def crawled(bench: Bench, **options: Any) -> dict[str, str]:
    """Outcomes by URL of a crawl of what everybody may ask."""
    bench.crawl = start_crawl([f"{bench.site.url}/"], CrawlOptions(**options))
    bench.work()
    assert bench.state() == "finished"
    return dict(Page.objects.filter(crawl=bench.crawl).values_list("url", "outcome"))


def tell(address: str, *private_hosts: str, transport: str = "webhook") -> str:
    message = Message(id="1", event=Event.TEST, crawl="", receipt={}, subject="s", text="t")
    return send(message, transport, address, private_hosts)


def test_links_and_redirects_of_pages(bench: Bench, canary: str) -> None:
    bench.site.pages |= {"/": page("/hop", f"{canary}/link"), "/hop": moved(f"{canary}/hop")}
    outcomes = crawled(bench, hosts=(canary.removeprefix("http://"),))
    assert {url: outcomes[url] for url in (f"{canary}/link", f"{canary}/hop")} == {
        f"{canary}/link": "private_address",
        f"{canary}/hop": "private_address",
    }


def test_links_that_leave_the_site(bench: Bench, canary: str) -> None:
    bench.site.pages["/"] = page(f"{canary}/away")
    assert crawled(bench, externals="check")[f"{canary}/away"] == "private_address"


def test_a_robots_txt_that_moved(bench: Bench, canary: str, settings: Any) -> None:
    settings.CRAWLER_MAX_ATTEMPTS = 1
    bench.site.pages["/robots.txt"] = moved(f"{canary}/robots.txt")
    assert crawled(bench) == {f"{bench.site.url}/": "robots"}
    assert "inside.test" in Page.objects.get().error


def test_what_is_refused_to_one_crawl_is_not_remembered_for_another(bench: Bench, canary: str) -> None:
    bench.site.pages["/"] = page(f"{canary}/link")
    crawled(bench, hosts=(canary.removeprefix("http://"),))
    assert RobotsCache(queues.connection()).get(canary) is None


def test_the_robots_txt_of_one_crawl_is_not_shared_with_another(bench: Bench, canary: str) -> None:
    inside = bench.site.url.replace("site.test", "127.0.0.1")  # which is not allowed by name
    bench.site.pages |= {
        "/": page(f"{inside}/secret"),
        "/robots.txt": Reply(f"User-agent: *\nDisallow: /secret\nSitemap: {inside}/found.xml"),
    }
    bench.crawl = start_crawl([f"{inside}/"], CrawlOptions(), allow_private=True)
    bench.work()
    assert Page.objects.get(url=f"{inside}/secret").outcome == "robots"
    del bench.site.pages["/robots.txt"]
    outcomes = crawled(bench, hosts=(inside.removeprefix("http://"),), sitemaps=True)
    assert outcomes[f"{inside}/secret"] == "private_address"
    assert f"{inside}/found.xml" not in outcomes


def test_no_crawl_goes_on_over_the_connection_of_one_that_is_allowed_more(
    bench: Bench, canary: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop.connection_pool, "outlasts_jobs", True)
    monkeypatch.setattr(loop, "MAX_IDLE_S", 60.0)  # a busy machine lets a moment pass between two jobs
    host = bench.site.host.replace("site.test", "127.0.0.1")  # which is not allowed by name
    bench.site.pages |= {"/": page(f"http://{host}/secret"), "/secret": page()}
    bench.crawl = start_crawl([f"http://{host}/"], CrawlOptions(obey_robots=False), allow_private=True)
    bench.work()
    assert queues.connection().zcard(keys.host_slots(host)) == 1, "no connection was kept"
    asked = bench.site.hits["/secret"]
    outcomes = crawled(bench, obey_robots=False, hosts=(host,))
    loop.connection_pool.close_idle()
    assert outcomes[f"http://{host}/secret"] == "private_address"
    assert bench.site.hits["/secret"] == asked


def test_sitemaps_named_by_robots_txt_and_sitemaps_that_moved(bench: Bench, canary: str) -> None:
    bench.site.pages |= {
        "/robots.txt": Reply(f"Sitemap: {canary}/a.xml\nSitemap: {bench.site.url}/b.xml"),
        "/b.xml": moved(f"{canary}/b.xml"),
    }
    outcomes = crawled(bench, sitemaps=True, hosts=(canary.removeprefix("http://"),))
    assert {outcomes[f"{canary}/a.xml"], outcomes[f"{canary}/b.xml"]} == {"private_address"}


def test_what_extraction_rules_are_tried_on(bench: Bench, canary: str) -> None:
    bench.site.pages["/hop"] = moved(f"{canary}/")
    options = CrawlOptions(fields=(FieldRule(name="title", selector="h1"),))
    tried = preview(f"{bench.site.url}/hop", options, start_urls=[f"{bench.site.url}/"])
    assert "inside.test" in tried.url
    assert "127.0.0.1 is a private address" in tried.trouble


def test_a_trial_that_goes_from_one_slow_page_to_the_next_ends(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "TOTAL_TIMEOUT_S", 0.1)
    bench.site.pages |= {"/1": Reply(status=302, headers={"Location": "/2"}, after=0.15), "/2": page()}
    options = CrawlOptions(fields=(FieldRule(name="title", selector="h1"),))
    tried = preview(f"{bench.site.url}/1", options, start_urls=[f"{bench.site.url}/"], allow_private=True)
    assert (tried.url, tried.trouble) == (f"{bench.site.url}/2", trial.TOO_SLOW)


@pytest.mark.parametrize("transport", ["webhook", "slack", "discord"])
def test_notices(canary: str, transport: str) -> None:
    with pytest.raises(TransportError, match=r"127\.0\.0\.1 is a private address") as refused:
        tell(f"{canary}/hook", transport=transport)
    assert refused.value.permanent


@pytest.mark.parametrize("transport", ["webhook", "slack", "discord"])
def test_channels_of_an_account(canary: str, transport: str) -> None:
    ann = User.objects.create_user("ann")
    with pytest.raises(RefusedAddress):
        add_channel(
            ann, ChannelValues(name="", transport=transport, address=f"{canary}/hook", events=(Event.FINISHED,))
        )


@pytest.mark.parametrize("field", ["sitemap_urls", "notify_webhooks", "notify_slack", "notify_discord"])
def test_what_a_person_names_beside_the_start(bench: Bench, canary: str, field: str) -> None:
    address = f"{canary}/hook"
    given = encryption.seal_address(address) if field in ("notify_slack", "notify_discord") else address
    with pytest.raises(RefusedAddress) as refused:
        start_crawl([f"{bench.site.url}/"], CrawlOptions(**{field: (given,)}))
    assert refused.value.field == field


def test_a_persons_proxy(bench: Bench, canary: str) -> None:
    sealed = encryption.seal(parse(proxy=canary))
    with pytest.raises(RefusedAddress) as refused:
        start_crawl([f"{bench.site.url}/"], CrawlOptions(), sealed=sealed)
    assert refused.value.field == "proxy"


def test_notices_take_the_operators_proxy(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "Guard", partial(Guard, resolver=Names("1.1.1.1")))
    with Server({"/hook": reply()}) as server, ProxyServer() as proxy:
        settings.CRAWLER_PROXY, settings.CRAWLER_PORTS = Proxy("127.0.0.1", proxy.port), {server.port}
        assert tell(f"http://public.test:{server.port}/hook") == "the receiver returned 200"
    assert proxy.targets() == [f"POST http://public.test:{server.port}/hook"]


def test_notices_to_this_network_do_not(settings: Any) -> None:
    settings.CRAWLER_PORTS = {80}
    with Server({"/hook": reply()}) as server, ProxyServer() as proxy:
        settings.CRAWLER_PROXY = Proxy("127.0.0.1", proxy.port)
        assert tell(f"{server.origin}/hook", "127.0.0.1") == "the receiver returned 200"
    assert (server.paths(), proxy.connections) == (["/hook"], 0)


def test_a_proxy_is_no_way_round_the_guard_for_notices(canary: str, settings: Any) -> None:
    with ProxyServer() as proxy:
        settings.CRAWLER_PROXY = Proxy("127.0.0.1", proxy.port)
        with pytest.raises(TransportError, match=r"127\.0\.0\.1 is a private address"):
            tell(f"{canary}/hook")
    assert proxy.connections == 0


def test_a_name_that_turns_private_behind_the_start(
    bench: Bench, canary: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = int(canary.rsplit(":", 1)[1])
    settings.CRAWLER_PORTS = {port}
    names = Names("1.1.1.1", "127.0.0.1")  # public when the form is sent, private when the page is asked for
    monkeypatch.setattr(guard, "Guard", partial(Guard, resolver=names))
    bench.crawl = start_crawl([f"http://rebinding.test:{port}/"], CrawlOptions(obey_robots=False))
    bench.work()
    assert (bench.state(), Page.objects.get().outcome) == ("finished", "private_address")
    assert names.asked == ["rebinding.test"] * 2
