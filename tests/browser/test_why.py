"""Somebody wonders why a crawl is not finished, looks, does what the page says, and looks again."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import PATIENCE, Web
from tests.browser.test_pages import start_crawl
from tests.site import Reply, Site

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


@pytest.mark.long
def test_a_button_ends_the_wait_that_a_server_asked_for(web: Web, tab: Page) -> None:
    paths = [f"/{number}" for number in range(6)]
    with Site(dict.fromkeys(paths, Reply("busy", status=429, headers={"Retry-After": "3600"}))).serving() as site:
        crawl = web.stack.start(*(site.url + path for path in paths))
        web.log_in(tab, None)
        web.start_worker()
        web.stack.wait_for(lambda: web.stack.redis.hexists(f"crawler:host:{site.host}", "until"))
        tab.goto(f"{web.base_url}/crawls/{crawl}/")
        expect(tab.locator("[data-text=waits]")).to_contain_text("asked to wait until", timeout=PATIENCE)
        tab.get_by_role("link", name="Why is it not finished?").click()
        expect(tab.locator("#answer")).to_contain_text("asked to wait until")
        expect(tab.locator("#answer")).not_to_contain_text("connections")

        site.pages |= dict.fromkeys(paths, "<title>Ready again</title>")
        tab.locator("#hosts").get_by_role("button", name=f"Do not wait for {site.host}").click()
        expect(tab.get_by_text(f"The wait for {site.host} is ended: 1 crawl with pages of it goes on.")).to_be_visible()
        for _ in range(PATIENCE // 200):
            if tab.locator(".badge").inner_text() == "Finished":
                break
            tab.wait_for_timeout(200)
            tab.get_by_role("link", name="Look again").click()
        expect(tab.locator("#answer")).to_have_text("It is finished: no page is open.")
        assert web.stack.receipt(crawl)["statuses"] == {"200": len(paths)}
