"""The table of pages and a page's own view in a real browser: searched, sorted, filtered, leafed through."""

from playwright.sync_api import Page, expect

from crawler.models import Crawl
from tests.browser.conftest import Web, press
from tests.factories import a_finished_crawl, a_page

ROWS = 130  # more than one leaf shows
PHONE = {"width": 360, "height": 740}


NOTE_RESPONSE = """() => document.body.addEventListener("htmx:afterOnLoad", () => {
    document.body.dataset.answered = "yes";
})"""


def filled() -> Crawl:
    """A crawl with pages of 1 to ROWS bytes; every tenth is missing."""
    crawl = a_finished_crawl(discovered=ROWS, outcomes={"2xx": 117, "4xx": 13}, statuses={"200": 117, "404": 13})
    for number in range(1, ROWS + 1):
        answer = 200 if number % 10 else 404
        a_page(crawl, f"https://example.com/{number:03}", answer, title=f"Chapter {number}", bytes=number)
    return crawl


def addresses(tab: Page) -> list[str]:
    return [
        text.removeprefix("https://example.com/")
        for text in tab.locator(".page-cell > a:first-child").all_inner_texts()
    ]


def fits(tab: Page) -> bool:
    """Whether nothing has to be scrolled sideways."""
    return bool(tab.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))


def test_pages_are_searched_sorted_filtered_and_opened(web: Web, tab: Page) -> None:
    crawl = web.stack.within(filled)
    web.log_in(tab, f"/crawls/{crawl.id}/")
    tab.get_by_role("link", name="All pages as a table").click()
    expect(tab.get_by_role("heading", name="130 pages")).to_be_visible()
    assert addresses(tab) == [f"{number:03}" for number in range(1, 101)]

    tab.get_by_role("link", name="Later").click()
    expect(tab.get_by_role("link", name="Earlier")).to_be_visible()
    assert addresses(tab) == [f"{number:03}" for number in range(101, 131)]
    tab.get_by_role("link", name="First").click()
    expect(tab.get_by_role("link", name="Earlier")).to_be_hidden()

    tab.get_by_label("Text in URL or title").fill("chapter 12")
    tab.get_by_role("button", name="Show").focus()
    press(tab, "Enter")  # by keyboard
    expect(tab.get_by_role("heading", name="11 pages")).to_be_visible()
    tab.get_by_role("columnheader", name="Size").get_by_role("link").click()
    expect(tab.get_by_role("columnheader", name="Size")).to_have_attribute("aria-sort", "ascending")
    tab.get_by_role("columnheader", name="Size").get_by_role("link").click()
    expect(tab.get_by_role("columnheader", name="Size")).to_have_attribute("aria-sort", "descending")
    expect(tab.locator(".page-cell > a").first).to_have_text("https://example.com/129")
    assert addresses(tab) == ["129", "128", "127", "126", "125", "124", "123", "122", "121", "120", "012"]

    tab.get_by_label("Status").select_option("404")
    expect(tab.get_by_role("heading", name="1 page", exact=True)).to_be_visible()
    assert addresses(tab) == ["120"]

    link = tab.get_by_role("link", name="https://example.com/120", exact=True)
    link.evaluate("(node) => { node.dataset.kept = 'yes'; }")
    tab.evaluate(NOTE_RESPONSE)
    tab.get_by_role("button", name="Show").click()
    expect(tab.locator("body")).to_have_attribute("data-answered", "yes")
    expect(link).to_have_attribute("data-kept", "yes")  # the same part again would take the focus with it

    tab.set_viewport_size(PHONE)
    assert fits(tab)
    link.focus()
    expect(link).to_be_focused()  # also behind the resize
    press(tab, "Enter")
    expect(tab.get_by_role("heading", name="Chapter 120")).to_be_visible()
    expect(tab.get_by_text("No page of this crawl links to it.")).to_be_visible()
    assert fits(tab)
    itself = tab.get_by_role("link", name="https://example.com/120")
    expect(itself).to_have_attribute("href", "https://example.com/120")
    expect(itself).to_have_attribute("rel", "noopener noreferrer nofollow")
