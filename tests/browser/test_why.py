"""Somebody wonders why a crawl is not finished, looks, does what the page says, and looks again."""

from playwright.sync_api import Browser, expect

from tests.browser.conftest import PATIENCE, Web
from tests.browser.test_pages import start_crawl
from tests.site import Site

PHONE = {"width": 390, "height": 844}


def test_the_page_says_what_to_do_and_looking_again_shows_that_it_helped(
    web: Web, small_site: Site, browser: Browser
) -> None:
    tab = browser.new_context(java_script_enabled=False, viewport=PHONE).new_page()
    web.log_in(tab)
    start_crawl(tab, small_site.url)
    tab.get_by_role("link", name="Why is it not finished?").click()
    expect(tab.locator("#answer")).to_contain_text("bin/worker")
    expect(tab.locator("#open")).to_contain_text(small_site.url)
    assert tab.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]

    web.start_worker()
    for _ in range(PATIENCE // 200):
        tab.get_by_role("link", name="Look again").click()
        if tab.locator(".badge").inner_text() == "Finished":
            break
        tab.wait_for_timeout(200)

    expect(tab.locator("#answer")).to_have_text("It is finished: no page is open.")
