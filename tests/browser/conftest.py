"""The web server of a stack, a small site to crawl, and a real Chromium to look with."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, ViewportSize, expect, sync_playwright

from crawler.accounts.login_links import first_account, make_link
from crawler.capabilities.browser import install
from crawler.capabilities.browser.chromium import FLAGS
from tests import site
from tests.conftest import free_port
from tests.site import Site
from tests.stack import Stack

ARGUMENTS = [
    "--no-sandbox",  # the tests may run as root in a container, and they open nothing but this machine's own pages
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    *(flag for flag in FLAGS if flag.startswith("--disable-features=")),  # among them pages of a window nobody sees
]

PAINTED = """() => new Promise((done) => {
    const look = () => (performance.getEntriesByName("first-paint").length ? done() : requestAnimationFrame(look));
    look();
})"""
"""Ends when the page has been painted. Playwright's own way to wait evaluates a string, which the pages forbid."""

PATIENCE = 60_000  # ms; far beyond what it takes, for a machine that is busy
expect.set_options(timeout=PATIENCE)
VIEWPORT: ViewportSize = {"width": 1280, "height": 720}


@dataclass(frozen=True)
class Web:
    """A stack with its web server; no worker yet."""

    stack: Stack
    base_url: str

    def login_link(self) -> str:
        return self.stack.within(lambda: make_link(self.base_url))

    def log_in(self, tab: Page, path: str | None = "/") -> None:
        """As the first account, without the page behind a login link and its button; then go to a page (None = to
        none: the list of crawls, with its form, is the most costly of all)."""

        def session() -> str:
            browser = Client()
            browser.force_login(first_account())
            return str(browser.cookies[settings.SESSION_COOKIE_NAME].value)

        cookie = {"name": settings.SESSION_COOKIE_NAME, "value": self.stack.within(session), "url": self.base_url}
        tab.context.add_cookies([cookie])  # type: ignore[list-item]  # a dict of these keys
        if path is not None:
            tab.goto(f"{self.base_url}{path}")

    def start_worker(self) -> None:
        self.stack.start_worker()

    def start_stock_worker(self) -> None:
        self.stack.start_stock_worker()


def press_link(tab: Page, link: str) -> None:
    """Follow a login link, and press its button."""
    tab.goto(link)
    tab.get_by_role("button", name="Log in").click()
    tab.wait_for_url(lambda url: "/login/" not in url)


def press(tab: Page, keys: str) -> None:
    """Press one key after another, as somebody who sees the page: Chromium drops keys until it has painted it."""
    tab.evaluate(PAINTED)
    for key in keys.split():
        tab.keyboard.press(key)


@pytest.fixture(scope="package")
def server(grounds: Stack) -> Iterator[Web]:
    """The web server of all these tests."""
    port = free_port()
    address = f"127.0.0.1:{port}"
    stack = Stack(grounds.folder, grounds.redis_url, grounds.forker)
    try:
        stack.spawn("gunicorn", "crawler.settings.wsgi", "--bind", address, "--threads", "8", "--no-control-socket")
        stack.wait_for(lambda: answers(port))
        yield Web(stack, f"http://{address}")
    finally:
        stack.end()


@pytest.fixture
def web(server: Web, shared_stack: Stack) -> Web:
    """The same server before an empty database and an empty Redis; what a test starts beside it ends with the test."""
    return Web(shared_stack, server.base_url)


def answers(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().read() == b"ok"
    except OSError:
        return False
    finally:
        connection.close()


@pytest.fixture
def small_site() -> Iterator[Site]:
    """Four pages: one has markup in its title, one is missing."""
    pages = {
        "/": site.page("/a", "/b", "/missing", title="Start"),
        "/a": site.page(title="&lt;b&gt;A&lt;/b&gt; &amp; more"),
        "/b": site.page("/", title="Chapter B"),
    }
    with Site(pages).serving() as served:
        yield served


@pytest.fixture(scope="session")
def chromium_program() -> Path:
    program = install.find()
    if program is None:
        pytest.fail("No Chromium or Chrome was found: python -m crawler.capabilities.browser.install gets one")
    return program


@pytest.fixture(scope="package")
def chromium_running(chromium_program: Path) -> Iterator[Browser]:
    """For these tests and no longer: in a thread that has a Playwright, Django takes everything for asynchronous."""
    with ExitStack() as ending:
        playwright = ending.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=chromium_program, args=ARGUMENTS)
        ending.callback(browser.close)
        yield browser


@pytest.fixture(scope="package")
def reused_tab(chromium_running: Browser) -> Page:
    """A tab for one test after another: a new one is a process of the browser, which takes a second of CPU."""
    return chromium_running.new_context(viewport=VIEWPORT).new_page()


@pytest.fixture
def browser(chromium_running: Browser, reused_tab: Page) -> Iterator[Browser]:
    """A browser without a tab, but for the reused one. Cookies, permissions and all that belong to a context, and end
    with the test."""
    yield chromium_running
    for context in chromium_running.contexts:
        if context is not reused_tab.context:
            context.close()


@pytest.fixture
def complaints() -> list[str]:
    """Errors the tab has spoken of. A test takes out what it expects; what is left at its end fails it."""
    return []


@pytest.fixture
def tab(reused_tab: Page, browser: Browser, server: Web, complaints: list[str]) -> Iterator[Page]:
    """An empty tab. A script error or a style refused by the security policy fails the test at its end."""

    def note_error(error: Error) -> None:
        complaints.append(str(error))

    def note_message(message: ConsoleMessage) -> None:
        if message.type == "error":
            complaints.append(message.text)

    reused_tab.on("pageerror", note_error)
    reused_tab.on("console", note_message)
    try:
        yield reused_tab
    finally:
        reused_tab.remove_listener("pageerror", note_error)
        reused_tab.remove_listener("console", note_message)
        forget(reused_tab, f"{server.base_url}/healthz")
    assert [complaint for complaint in complaints if "400 (Bad Request)" not in complaint] == []


def forget(tab: Page, nowhere: str) -> None:
    """What a test did to the tab and its context is undone; `nowhere` is a page of the same site that does nothing."""
    for opened in tab.context.pages:
        if opened is not tab:
            opened.close()
    tab.unroute_all()
    tab.goto(nowhere)
    tab.evaluate("localStorage.clear(); sessionStorage.clear()")
    tab.context.clear_cookies()
    tab.context.clear_permissions()
    tab.emulate_media(color_scheme="null", reduced_motion="null")
    tab.set_viewport_size(VIEWPORT)
