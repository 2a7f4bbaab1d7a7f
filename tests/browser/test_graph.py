"""Somebody explores the graph of a crawl, by mouse, by keyboard, by its table, and on a phone."""

from uuid import UUID

import pytest
from playwright.sync_api import Browser, Page, expect

from crawler.accounts.login_links import first_account
from tests.browser.conftest import PATIENCE, Web, press
from tests.factories import make_linked_crawl

PHONE = {"width": 360, "height": 740}


def open_graph(web: Web, tab: Page) -> str:
    """The path of the page "A" of the crawl that is shown."""
    web.log_in(tab, None)
    crawl, page = web.stack.within(made)
    tab.goto(f"{web.base_url}/crawls/{crawl}/graph/")
    expect(tab.locator("#graph[data-settled]")).to_be_attached(timeout=PATIENCE)
    return f"/crawls/{crawl}/pages/{page}/"


def made() -> tuple[UUID, int]:
    crawl = make_linked_crawl(owner=first_account())
    return crawl.id, crawl.pages.get(url="http://site.test/a").id


@pytest.mark.long
def test_a_dot_that_is_clicked_says_what_it_is(web: Web, tab: Page) -> None:
    path = open_graph(web, tab)
    expect(tab.get_by_role("status").filter(has_text="4 pages.")).to_be_visible()
    tab.get_by_role("button", name="http://site.test/a", exact=True).click()
    details = tab.locator("#details")
    expect(details.get_by_role("heading")).to_have_text("A")
    expect(details).to_be_focused()
    expect(details.get_by_role("link", name="All about this page")).to_have_attribute("href", path)
    tab.get_by_role("button", name="Close the details").click()
    expect(details).to_be_hidden()
    tab.locator("#canvas").click()  # its middle is where the table brought that page
    expect(details.get_by_role("heading")).to_have_text("A")
    press(tab, "Escape")
    expect(details).to_be_hidden()


@pytest.mark.long
def test_what_is_searched_for_is_found_in_picture_and_table(web: Web, tab: Page) -> None:
    open_graph(web, tab)
    tab.get_by_label("Find").fill("gone")
    expect(tab.locator("#found")).to_have_text("1 found")
    expect(tab.locator("#list tbody tr")).to_have_count(1)
    expect(tab.locator("#list tbody tr")).to_contain_text("404")


@pytest.mark.long
def test_colours_are_explained(web: Web, tab: Page) -> None:
    open_graph(web, tab)
    expect(tab.get_by_role("list", name="Colours by response")).to_contain_text("Client error (4xx) 1")
    tab.get_by_role("radio", name="by depth").check()
    expect(tab.get_by_role("list", name="Colours by depth")).to_contain_text("0 (start) 1")
    expect(tab.get_by_role("list", name="Colours by response")).to_be_hidden()


@pytest.mark.long
def test_it_fits_a_phone(web: Web, browser: Browser) -> None:
    tab = browser.new_context(viewport=PHONE, color_scheme="dark").new_page()
    open_graph(web, tab)
    assert tab.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
