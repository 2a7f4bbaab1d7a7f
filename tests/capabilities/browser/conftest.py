"""A real Chromium, started once, and pages to render in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.capabilities.browser.chromium import installed
from crawler.capabilities.browser.driver import Browser
from crawler.capabilities.browser.proxy import GuardProxy
from crawler.capabilities.browser.rules import BrowserLimits
from tests.bench import bench, database_and_redis, handlers_are_put_back
from tests.capabilities.browser.pages import Pages

__all__ = ["bench", "database_and_redis", "handlers_are_put_back"]


@pytest.fixture(scope="package")
def program() -> Path:
    found = installed()
    if found is None:
        pytest.skip("Chromium is not installed: python -m crawler.capabilities.browser.install")
    return found


@pytest.fixture(scope="package")
def proxy() -> Iterator[GuardProxy]:
    with GuardProxy() as proxy:
        yield proxy


@pytest.fixture(scope="package")
def browser(program: Path) -> Iterator[Browser]:
    """One that is not replaced between two pages."""
    browser = Browser(BrowserLimits(pages=1000))
    yield browser
    browser.close()


@pytest.fixture
def pages(browser: Browser, proxy: GuardProxy) -> Pages:
    return Pages(browser, proxy)
