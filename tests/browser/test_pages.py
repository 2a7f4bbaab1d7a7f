"""A newcomer's way through the pages, in a real browser."""

import json

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import PATIENCE, Web, press, press_link
from tests.site import Site

# Chromium shows no notifications without a window, so this notes down what the page asked it to show.
NOTIFICATIONS = """
window.told = [];
window.Notification = class {
  constructor(title, more) { window.told.push(`${title}: ${more.body}`); }
  static get permission() { return "granted"; } // Chromium without a window has denied it at times
};
"""


def unfold(tab: Page, group: str) -> None:
    """Open the options, and the group of them with this heading."""
    tab.get_by_text("Options", exact=True).click()
    tab.locator("summary").filter(has_text=group).click()


def start_crawl(tab: Page, url: str) -> None:
    """Type a URL of this machine and press Start."""
    unfold(tab, "Private networks")
    tab.get_by_label("Allow addresses that are not public").check()
    tab.get_by_label("Start URL").fill(url)
    tab.get_by_role("button", name="Start").click()


def test_from_the_login_link_to_the_finished_notice_without_a_reload(web: Web, small_site: Site, tab: Page) -> None:
    link = web.stack.command("login_link", "--base-url", web.base_url).strip()
    press_link(tab, link)
    expect(tab).to_have_title("Crawls · Site Crawler")
    start_crawl(tab, small_site.url)
    expect(tab.get_by_text("No worker is running")).to_contain_text("bin/worker")
    tab.evaluate("window.sameDocument = true")

    web.start_stock_worker()
    expect(tab.locator(".finished")).to_be_visible(timeout=PATIENCE)

    assert tab.evaluate("window.sameDocument") is True
    expect(tab).to_have_title(f"Finished · {small_site.host}")
    expect(tab.locator(".summary")).to_contain_text("4 pages in")
    expect(tab.get_by_text("No worker is running")).to_be_hidden()
    expect(tab.get_by_text("<b>A</b> & more")).to_be_visible()
    tab.get_by_text("As JSON").click()
    receipt = json.loads(tab.locator("#receipt pre").inner_text())
    assert (receipt["state"], receipt["discovered"], receipt["fetched"]) == ("finished", 4, 4)
    assert receipt["statuses"] == {"200": 3, "404": 1}


def test_the_browser_tells_when_it_is_finished(web: Web, small_site: Site, browser: Browser) -> None:
    context = browser.new_context()
    context.add_init_script(NOTIFICATIONS)
    tab = context.new_page()
    web.log_in(tab)
    start_crawl(tab, small_site.url)
    expect(tab.get_by_text("This browser will notify you when the crawl is finished.")).to_be_visible()

    web.start_worker()
    expect(tab.locator(".finished")).to_be_visible(timeout=PATIENCE)

    (told,) = tab.evaluate("window.told")
    assert told.startswith(f"Finished · {small_site.host}: 4 pages in")


@pytest.mark.long
def test_the_responses_are_of_the_time_of_the_other_figures(web: Web, small_site: Site, tab: Page) -> None:
    """They come with the state, each second, and not with the charts."""
    web.log_in(tab)
    start_crawl(tab, small_site.url)
    tab.route("**/figures", lambda route: route.fulfill(status=204))  # htmx then changes nothing
    expect(tab.get_by_text("None yet.")).to_be_visible()

    web.start_worker()
    expect(tab.locator(".finished")).to_be_visible(timeout=PATIENCE)

    expect(tab.locator("[data-list=answers] .number")).to_have_text(["3", "1"])
    expect(tab.locator("[data-list=answers] rect").first).to_have_attribute("width", "100")


def test_bad_input_is_told_where_it_was_typed(web: Web, tab: Page) -> None:
    web.log_in(tab)
    tab.get_by_label("Start URL").fill("ftp://example.com/")
    tab.get_by_label("Start URL").focus()
    press(tab, "Enter")
    alert = tab.get_by_role("alert").filter(has_text="ftp")  # the other fields have one each, empty
    expect(alert).to_be_visible()
    expect(tab.get_by_label("Start URL")).to_have_value("ftp://example.com/")
    expect(tab.get_by_label("Start URL")).to_be_focused()

    tab.get_by_label("Start URL").fill("https://example.com/")
    tab.get_by_label("Start URL").blur()
    expect(alert).to_be_hidden()  # which moves what is below it
    unfold(tab, "Scope")
    tab.get_by_label("Only URLs that match").fill("(")
    tab.get_by_role("button", name="Start").click()
    expect(tab.get_by_text("is not a valid regular expression")).to_be_visible()
    expect(tab.get_by_label("Only URLs that match")).to_be_focused()
