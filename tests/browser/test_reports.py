"""Somebody looks for what is broken on a site and finds the page to mend, on a phone and at a desk; and compares."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PATIENCE, Web, press
from tests.site import Site

PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 800}


def finished(web: Web, tab: Page, url: str) -> str:
    crawl = web.stack.start(url)
    tab.goto(f"{web.base_url}/crawls/{crawl}/")
    expect(tab.locator(".finished")).to_have_text("Finished", timeout=PATIENCE)
    return str(crawl)


@pytest.mark.parametrize(
    "size", [pytest.param(PHONE, id="phone", marks=pytest.mark.long), pytest.param(DESK, id="desk")]
)
def test_from_the_reports_to_the_link_that_is_broken(
    web: Web, small_site: Site, tab: Page, size: dict[str, int]
) -> None:
    tab.set_viewport_size(size)  # type: ignore[arg-type]
    web.log_in(tab, None)
    web.start_worker()
    crawl = finished(web, tab, small_site.url)

    tab.goto(f"{web.base_url}/crawls/{crawl}/reports/")
    broken = tab.locator("li", has=tab.get_by_role("link", name="Broken links", exact=True))
    expect(broken).to_contain_text("1 page")
    assert is_within(tab, size)
    broken.get_by_role("link").focus()
    press(tab, "Enter")

    expect(tab.get_by_role("heading", level=1)).to_have_text("Broken links")
    expect(tab.locator("main")).to_contain_text("What to do")
    expect(tab.locator("tbody tr")).to_contain_text(f"{small_site.url}/missing")
    assert is_within(tab, size)
    tab.get_by_role("link", name="show them").click()

    expect(tab.locator("tbody tr")).to_contain_text("/missing")
    expect(tab.locator("tbody").get_by_role("link", name=f"{small_site.url}/", exact=True)).to_be_visible()
    assert is_within(tab, size)


def is_within(tab: Page, size: dict[str, int]) -> bool:
    """Whether nothing has to be scrolled sideways."""
    return bool(tab.evaluate("document.documentElement.scrollWidth") <= size["width"])
