"""The buttons of a crawl's page in a real browser: with the mouse, with the keyboard, and without JavaScript."""

from collections.abc import Iterator
from uuid import UUID

import pytest
from django.core.management import call_command
from playwright.sync_api import Page, expect

from tests import site
from tests.browser.conftest import PATIENCE, Web, press
from tests.site import Reply, Site


@pytest.fixture
def ailing_site() -> Iterator[Site]:
    """Two pages answer 503 the first time they are asked for, and are well the second time."""

    def at_first_busy(asked_before: int) -> Reply:
        return Reply(site.page()) if asked_before else Reply("busy", status=503)

    with Site({"/": site.page("/a", "/b"), "/a": at_first_busy, "/b": at_first_busy}).serving() as served:
        yield served


def open_crawl(web: Web, tab: Page, url: str) -> UUID:
    """A new crawl that nobody works on yet, and its page."""
    crawl = web.stack.start(url)
    web.log_in(tab, f"/crawls/{crawl}/")
    return crawl


def test_a_crawl_is_paused_resumed_and_finished(web: Web, small_site: Site, tab: Page) -> None:
    open_crawl(web, tab, small_site.url)
    tab.get_by_role("button", name="Pause").click()
    expect(tab.get_by_text("Paused. Dispatched pages are still processed")).to_be_visible()
    expect(tab.locator(".badge")).to_have_text("Paused")
    expect(tab.get_by_role("button", name="Pause")).to_be_hidden()

    tab.get_by_role("button", name="Resume").click()
    expect(tab.get_by_text("Resumed. It continues where it stopped.")).to_be_visible()
    web.start_worker()
    expect(tab.locator(".finished")).to_have_text("Finished", timeout=PATIENCE)


@pytest.mark.long
def test_the_buttons_follow_the_crawl_without_a_reload(web: Web, small_site: Site, tab: Page) -> None:
    crawl = open_crawl(web, tab, small_site.url)
    tab.evaluate("window.sameDocument = true")
    tab.get_by_role("button", name="Pause").focus()

    web.stack.within(lambda: call_command("pause", str(crawl)))
    expect(tab.get_by_role("button", name="Resume")).to_be_visible()
    expect(tab.get_by_role("button", name="Pause")).to_be_hidden()
    expect(tab.locator("#actions")).to_be_focused()  # the keyboard is not left on a button that has gone

    web.stack.within(lambda: call_command("cancel", str(crawl)))
    expect(tab.locator(".finished")).to_have_text("Cancelled")
    expect(tab.get_by_role("button", name="Resume")).to_be_hidden()
    expect(tab.get_by_text("Cancel …")).to_be_hidden()
    expect(tab.get_by_text("Delete …")).to_be_visible()
    assert tab.evaluate("window.sameDocument") is True


def test_cancelling_asks_first_and_can_be_done_by_keyboard(web: Web, small_site: Site, tab: Page) -> None:
    open_crawl(web, tab, small_site.url)
    question, yes = tab.get_by_text("Cancel …"), tab.get_by_role("button", name="Yes, cancel the crawl")
    question.focus()
    expect(yes).to_be_hidden()
    press(tab, "Enter")
    expect(yes).to_be_visible()
    press(tab, "Escape")
    expect(yes).to_be_hidden()
    expect(question).to_be_focused()
    press(tab, "Enter")
    press(tab, "Tab")
    expect(yes).to_be_focused()
    press(tab, "Enter")

    expect(tab.get_by_text("Cancelled. Open pages will no longer be requested.")).to_be_visible()
    expect(tab.locator(".finished")).to_have_text("Cancelled")
    expect(tab.locator(".summary")).to_contain_text("with 1 of 1 page not requested")
    expect(tab.locator("#receipt")).to_be_visible()


@pytest.mark.long
def test_a_question_closes_when_another_is_opened(web: Web, small_site: Site, tab: Page) -> None:
    open_crawl(web, tab, small_site.url)
    tab.get_by_text("Cancel …").click()
    tab.get_by_text("Delete …").click()
    expect(tab.get_by_role("button", name="Yes, cancel the crawl")).to_be_hidden()
    expect(tab.get_by_role("button", name="Yes, delete the crawl")).to_be_visible()
    tab.get_by_role("heading", level=1).click()
    expect(tab.get_by_role("button", name="Yes, delete the crawl")).to_be_hidden()


@pytest.mark.long
def test_deleting_leads_to_the_list_and_a_page_left_open_says_that_it_is_gone(
    web: Web, small_site: Site, tab: Page, complaints: list[str]
) -> None:
    open_crawl(web, tab, small_site.url)
    left_open = tab.context.new_page()
    left_open.goto(tab.url)
    tab.get_by_text("Delete …").click()
    tab.get_by_role("button", name="Yes, delete the crawl").click()
    expect(tab.get_by_text(f"Deleted: the crawl of {small_site.host} with its 1 page.")).to_be_visible()
    expect(tab.get_by_text("None yet.")).to_be_visible()
    expect(left_open.get_by_text("This crawl is gone.")).to_be_visible(timeout=20_000)  # it looks now and then
    # The page with the button may ask how the crawl is doing between its end and the list.
    complaints[:] = [one for one in complaints if "404 (Not Found)" not in one and "Error Code 404" not in one]


@pytest.mark.long
def test_dead_letters_turn_up_and_are_sent_again(web: Web, ailing_site: Site, tab: Page) -> None:
    web.stack.env["CRAWLER_MAX_ATTEMPTS"] = "1"
    open_crawl(web, tab, ailing_site.url)
    expect(tab.get_by_role("heading", name="Dead letters")).to_be_hidden()
    web.start_worker()
    expect(tab.locator(".finished")).to_be_visible(timeout=PATIENCE)
    expect(tab.get_by_text("2 pages failed at the last attempt.")).to_be_visible()

    tab.get_by_role("button", name=f"Retry {ailing_site.url}/a").click()
    expect(tab.get_by_text("1 page queued for retry.")).to_be_visible()
    expect(tab.get_by_text("1 page failed at the last attempt.")).to_be_visible(timeout=PATIENCE)
    expect(tab.locator(".finished")).to_be_visible(timeout=PATIENCE)

    tab.get_by_role("link", name="See all").click()
    tab.get_by_role("button", name="Retry all").click()
    expect(tab.get_by_text("1 page queued for retry.")).to_be_visible()
    expect(tab.get_by_text("No dead letters")).to_be_visible()
    tab.get_by_role("navigation", name="Breadcrumb").get_by_role("link", name=ailing_site.host).click()
    expect(tab.locator(".finished")).to_have_text("Finished", timeout=PATIENCE)
    expect(tab.get_by_role("heading", name="Dead letters")).to_be_hidden()
    assert ailing_site.hits["/a"] == ailing_site.hits["/b"] == 2
