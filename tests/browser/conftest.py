"""The web server of a stack, a small site to crawl, and a real Chromium to look with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from crawler.launch import chromium
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
]


@dataclass(frozen=True)
class Web:
    """A stack with its web server; no worker yet."""

    stack: Stack
    base_url: str

    def login_link(self) -> str:
        return self.stack.run("python", "manage.py", "login_link", "--base-url", self.base_url).stdout.strip()

    def start_worker(self) -> None:
        """One stock worker, by the very words the page shows."""
        self.stack.spawn("rq", "worker", "crawl", "fetch")


@pytest.fixture
def web(stack: Stack) -> Web:
    port = free_port()
    address = f"127.0.0.1:{port}"
    server = ("gunicorn", "settings.wsgi", "--bind", address, "--threads", "8", "--no-control-socket")
    stack.spawn(*server)
    stack.wait_for(lambda: answers(port))
    return Web(stack, f"http://{address}")


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
    program = chromium.find()
    if program is None:
        pytest.fail("No Chromium, Chrome or Playwright browser was found: python -m crawler.launch.chromium gets one")
    return program


@pytest.fixture
def browser(chromium_program: Path) -> Iterator[Browser]:
    with ExitStack() as ending:
        playwright = ending.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=chromium_program, args=ARGUMENTS)
        ending.callback(browser.close)
        yield browser


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """An empty tab. A script error or a style refused by the security policy fails the test at its end."""
    opened = browser.new_context().new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    yield opened
    assert [complaint for complaint in complaints if "400 (Bad Request)" not in complaint] == []
