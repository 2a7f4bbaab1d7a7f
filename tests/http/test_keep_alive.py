"""Pages of one host share a connection, and a server that closes idle connections loses no page."""

from contextlib import ExitStack

import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.core.urls.addresses import Proxy
from crawler.http.client import HttpFetcher
from crawler.http.connector import Gateway
from crawler.http.fetcher import FetchResult
from crawler.http.guard import Guard
from tests.http.proxy import ProxyServer
from tests.http.secure import EVERY_NAME, as_site_test, trusting_the_test
from tests.http.server import Server, Site, Then, page

PATHS = [f"/{number}" for number in range(30)]
ROUTES = [("http", False), ("https", False), ("http", True), ("https", True)]


def crawled(site: Site, scheme: str, through_proxy: bool) -> tuple[list[FetchResult], Server, ProxyServer | None]:
    with ExitStack() as stack:
        server = stack.enter_context(Server(site, tls=as_site_test() if scheme == "https" else None))
        proxy = stack.enter_context(ProxyServer()) if through_proxy else None
        gateway = Gateway(Proxy("127.0.0.1", proxy.port), Guard(("*",))) if proxy else None
        fetcher = stack.enter_context(HttpFetcher(EVERY_NAME, "Tester/1", trust=trusting_the_test, gateway=gateway))
        return [fetcher.get(f"{scheme}://site.test:{server.port}{path}") for path in PATHS], server, proxy


@pytest.mark.parametrize(("scheme", "through_proxy"), ROUTES)
def test_a_slices_pages_go_over_one_connection(scheme: str, through_proxy: bool) -> None:
    fetched, server, proxy = crawled(dict.fromkeys(PATHS, page()), scheme, through_proxy)
    assert [(one.outcome, one.requests) for one in fetched] == [(Outcome.SUCCESS, 1)] * len(PATHS)
    assert server.paths() == PATHS
    assert server.connections == 1
    assert proxy is None or proxy.connections == 1


@pytest.mark.parametrize(("scheme", "through_proxy"), ROUTES)
def test_a_server_that_ends_idle_connections_without_a_word_costs_no_page(scheme: str, through_proxy: bool) -> None:
    site = {path: page(then=Then.CLOSE if number % 3 == 2 else Then.KEEP) for number, path in enumerate(PATHS)}
    fetched, server, _ = crawled(site, scheme, through_proxy)
    assert [one.outcome for one in fetched] == [Outcome.SUCCESS] * len(PATHS)
    assert server.paths() == PATHS
    assert server.connections == len(PATHS) // 3
