"""A real Chromium behind the proxy reaches nothing that the guard refuses, whatever its page tries."""

import contextlib
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.x509.oid import AuthorityInformationAccessOID
from msgspec.structs import replace
from playwright import sync_api as playwright_api
from playwright.sync_api import Browser, Page

from crawler.capabilities.browser import install
from crawler.capabilities.browser.chromium import FLAGS, NAMES
from crawler.capabilities.browser.proxy import Admission, GuardProxy
from crawler.http.guard import Guard
from tests.capabilities.browser.visiting import LIMITS, SITE, Canary, wait_for
from tests.core.urls.test_addresses import NOT_PUBLIC
from tests.http.certificates import Authority
from tests.http.secure import as_site_test, on_loopback
from tests.http.server import Server, Site, page
from tests.http.test_guard import SPELLINGS, here

SWITCHES = [
    *(switch for switch in FLAGS if switch != "--no-pings"),  # those of a browser worker; but all ways are to be tried
    "--no-sandbox",  # the tests may run as root in a container, and they open nothing but this machine's own pages
    # WebRTC looks up the names of its servers here.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
]
OWN_HOST = "site.localhost"
"""A secure context without TLS, so that its page has every interface that there is."""

OWN = Guard((OWN_HOST,), resolver=on_loopback)
PAGE = Path(__file__).with_name("reaching_out.html").read_text()
WORKER = page(
    """onmessage = ({data}) => {
        for (const url of data) {
            fetch(`${url}/worker`).catch(() => 0);
            try { importScripts(`${url}/import-scripts`) } catch {}
        }
    }""",
    content_type="text/javascript",
)
SERVICE_WORKER = page(
    "onmessage = ({data}) => { for (const url of data) fetch(`${url}/service-worker`).catch(() => 0) }",
    content_type="text/javascript",
)
REACHED_BY = {
    "audio", "beacon", "css", "embed", "events", "fetch", "form", "frame", "image", "import", "import-css",
    "import-scripts", "keepalive", "modulepreload", "object", "open", "ping", "prefetch", "preload", "script",
    "service-worker", "stylesheet", "video", "websocket", "worker", "xhr",
}  # fmt: skip


MANY = replace(LIMITS, max_connections=500)  # WebSockets do not count among the few that Chromium opens to a proxy
SHARES = 6  # of the table of addresses: a page for each


Launch = Callable[[Sequence[str]], Browser]


def programs() -> list[Path]:
    """Each Chromium of this machine: the headless shell reads other switches than the one with windows."""
    named = [Path(found) for name in NAMES if (found := shutil.which(name))] or [install.find()]
    return [*{program.resolve(): program for program in named if program}.values()]


@pytest.fixture(scope="module", params=programs() or [None], ids=lambda program: program.name if program else "none")
def launch(request: pytest.FixtureRequest) -> Iterator[Launch]:
    """For these tests and no longer: in a thread that has a Playwright, Django takes everything for asynchronous."""
    if request.param is None:
        pytest.skip("no Chromium was found: python -m crawler.capabilities.browser.install gets one")
    with playwright_api.sync_playwright() as playwright:
        yield lambda switches: playwright.chromium.launch(executable_path=request.param, args=switches)


@pytest.fixture(scope="module")
def browser(launch: Launch) -> Iterator[Browser]:
    running = launch(SWITCHES)
    yield running
    running.close()


@pytest.fixture
def proxy() -> Iterator[GuardProxy]:
    with GuardProxy() as running:
        yield running


@contextlib.contextmanager
def tab(
    browser: Browser, proxy: GuardProxy, admission: Admission, *, ignore_https_errors: bool = False
) -> Iterator[Page]:
    """In a context of its own, which goes through the proxy."""
    way: playwright_api.ProxySettings = {
        "server": proxy.url,
        "username": admission.username,
        "password": admission.password,
        "bypass": "<-loopback>",  # loopback is not to be asked without it
    }
    context = browser.new_context(proxy=way, ignore_https_errors=ignore_https_errors)
    try:
        yield context.new_page()
    finally:
        context.close()


class Asked:
    """A name server that leads names to loopback, and knows what it was asked; numbers are read by the system."""

    def __init__(self) -> None:
        self.hosts: list[str] = []

    def __call__(self, host: str, port: int, **kwargs: Any) -> list[tuple[Any, ...]]:
        self.hosts.append(host)
        return here(host, port, **kwargs)


def everything_answers() -> Site:
    return defaultdict(lambda: page("", access_control_allow_origin="*"))


def own_site() -> Server:
    return Server({"/": page(PAGE), "/worker.js": WORKER, "/service-worker.js": SERVICE_WORKER})


def reach_out(tab: Page, site: Server, hosts: Sequence[str], port: int, *schemes: str) -> None:
    """Have a page try everything with these hosts."""
    tab.goto(f"http://{OWN_HOST}:{site.port}/")
    tab.evaluate("([...all]) => reachOut(...all)", [hosts, port, schemes])


def wait_until_quiet(events: Sequence[object]) -> None:
    """Until there were none for a second."""
    seen = -1
    while seen < len(events):
        seen = len(events)
        time.sleep(1)


def test_a_page_reaches_an_allowed_host_by_all_these_ways(browser: Browser, proxy: GuardProxy) -> None:
    """Else the next test would prove nothing."""
    anywhere = Guard(("*",), resolver=on_loopback)
    with (
        own_site() as own,
        Server(everything_answers()) as other,
        proxy.admit(anywhere, MANY) as admission,
        tab(browser, proxy, admission) as visitor,
    ):
        reach_out(visitor, own, ["other.test"], other.port, "http")
        wait_for(lambda: {path.strip("/") for path in other.paths()} >= REACHED_BY)
    assert admission.refused == []
    assert not any("proxy-auth" in head.lower() for head in own.requests + other.requests)


def reach_out_for(browser: Browser, proxy: GuardProxy, hosts: Sequence[str], *schemes: str) -> list[str]:
    """Assert that only the page's own host is reached; returns which ones the proxy was asked for."""
    names = Asked()
    guard = Guard((OWN_HOST,), resolver=names)
    with own_site() as own, Canary() as canary, proxy.admit(guard, MANY) as admission:
        with tab(browser, proxy, admission) as visitor:
            reach_out(visitor, own, hosts, canary.port, *schemes)
            wait_until_quiet(names.hosts)
        assert canary.knocks() == []
        assert admission.connections == own.connections
        assert admission.refused
    return sorted({*names.hosts} - {OWN_HOST})


def test_a_page_reaches_no_private_address(browser: Browser, proxy: GuardProxy) -> None:
    assert reach_out_for(browser, proxy, ["2130706433", "internal.test"], "http") == ["127.0.0.1", "internal.test"]


@pytest.mark.long
def test_a_page_reaches_no_private_address_by_tls(browser: Browser, proxy: GuardProxy) -> None:
    hosts = ["127.0.0.1", "[::1]", "localhost", "internal.test"]
    assert reach_out_for(browser, proxy, hosts, "https") == ["127.0.0.1", "::1", "internal.test", "localhost"]


@pytest.mark.long
@pytest.mark.parametrize("share", range(SHARES))
def test_a_page_reaches_no_private_address_by_any_spelling(browser: Browser, proxy: GuardProxy, share: int) -> None:
    addresses = [f"[{address}]" if ":" in address else address for address in NOT_PUBLIC if address]
    assert reach_out_for(browser, proxy, [*SPELLINGS, *addresses][share::SHARES], "http")


def test_a_websocket_may_be_the_first_request_of_a_page(browser: Browser, proxy: GuardProxy) -> None:
    with Server({}) as server, proxy.admit(SITE, LIMITS) as admission, tab(browser, proxy, admission) as visitor:
        opening = f"<script>new WebSocket('ws://site.test:{server.port}/first')</script>"
        answer = visitor.goto(proxy.url)
        assert answer is not None
        assert answer.status == 200
        visitor.route("**/*", lambda route: route.fulfill(body=opening, content_type="text/html"))
        visitor.goto("http://site.test/")
        wait_for(lambda: server.paths() == ["/first"])


def test_the_one_connection_to_a_host_serves_requests_of_each_kind(browser: Browser, proxy: GuardProxy) -> None:
    """Chromium does not send requests with and without cookies over the same connection."""
    paths = [f"/{number}" for number in range(6)]
    asking = """(paths) => Promise.all(paths.map(async (path, place) =>
        (await fetch(path, {credentials: place % 2 ? "omit" : "include"})).status))"""
    with Server({"/": page(), **{path: page() for path in paths}}, tls=as_site_test()) as server:
        host = f"site.test:{server.port}"
        with (
            proxy.admit(SITE, LIMITS, hosts_one_by_one=frozenset({host})) as admission,
            tab(browser, proxy, admission, ignore_https_errors=True) as visitor,
        ):
            visitor.goto(f"https://{host}/")
            assert visitor.evaluate(asking, paths) == [200] * len(paths)


@pytest.mark.long
@pytest.mark.parametrize("is_trusted", [False, True])
def test_a_certificate_leads_nowhere(browser: Browser, proxy: GuardProxy, tmp_path: Path, is_trusted: bool) -> None:
    """It may name addresses of its authority's certificate and revocations, which a browser asks."""
    with Canary() as canary:
        authority = Authority.made("an authority elsewhere")
        context = authority.server(tmp_path, more=naming(f"http://127.0.0.1:{canary.port}/"))
        with (
            Server({"/": page()}, tls=context) as server,
            proxy.admit(SITE, LIMITS) as admission,
            tab(browser, proxy, admission, ignore_https_errors=is_trusted) as visitor,
        ):
            with contextlib.suppress(playwright_api.Error):
                visitor.goto(f"https://site.test:{server.port}/")
            wait_for(lambda: any(line.startswith(f"127.0.0.1:{canary.port}: ") for line in admission.refused))
        assert canary.knocks() == []


@pytest.mark.long
def test_without_its_switch_webrtc_would_get_past_the_proxy(launch: Launch, proxy: GuardProxy) -> None:
    """If it does not, the page above tries too little."""
    with (
        contextlib.closing(launch([switch for switch in SWITCHES if "webrtc" not in switch])) as browser,
        own_site() as own,
        Canary() as canary,
        proxy.admit(OWN, MANY) as admission,
        tab(browser, proxy, admission) as visitor,
    ):
        reach_out(visitor, own, ["127.0.0.1"], canary.port, "http")
        wait_for(lambda: any(knock.startswith("UDP") for knock in canary.knocks()))


def naming(url: str) -> list[x509.ExtensionType]:
    """What in a certificate says that its authority is at this URL."""
    named = x509.UniformResourceIdentifier(url)
    methods = AuthorityInformationAccessOID.CA_ISSUERS, AuthorityInformationAccessOID.OCSP
    return [
        x509.AuthorityInformationAccess([x509.AccessDescription(method, named) for method in methods]),
        x509.CRLDistributionPoints([x509.DistributionPoint([named], None, None, None)]),
    ]
