"""Saying where one is told of crawls, trying it, and sending a notice again, in a real browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests import site
from tests.browser.conftest import PATIENCE, Web
from tests.site import Reply, Site


@pytest.fixture
def forgetful_site() -> Iterator[Site]:
    """Its webhook is gone the first time, and well the second time."""
    hook = lambda before: Reply(status=200 if before else 410)  # noqa: E731
    with Site({"/": site.page(), "/hook": hook}).serving() as served:
        yield served


@pytest.mark.long
def test_a_channel_is_added_tried_and_switched_off(web: Web, tab: Page) -> None:
    web.log_in(tab)
    tab.locator(".menu summary").click()
    tab.get_by_role("link", name="Notifications").click()
    tab.get_by_label("Where").fill("nobody")
    tab.get_by_role("button", name="Add").click()
    expect(tab.get_by_text("'nobody' is not an e-mail address.")).to_be_visible()
    tab.get_by_label("Where").fill("me@example.com")
    tab.get_by_label("Started").check()
    tab.get_by_role("button", name="Add").click()
    expect(tab.get_by_text("Notified when a crawl is: started, finished, failed, cancelled.")).to_be_visible()

    tab.get_by_role("button", name="Test").click()
    expect(tab.get_by_text("A test was sent: the mail server took it.")).to_be_visible()
    (mail,) = (web.stack.folder / "mail").iterdir()
    assert "To: me@example.com" in mail.read_text()

    tab.get_by_role("button", name="Switch off").click()
    expect(tab.get_by_role("button", name="Switch on")).to_be_visible()


def test_a_notice_that_did_not_arrive_is_sent_again(web: Web, forgetful_site: Site, tab: Page) -> None:
    crawl = web.stack.start(f"{forgetful_site.url}/", notify_webhooks=[f"{forgetful_site.url}/hook"])
    web.start_worker()
    web.log_in(tab, f"/crawls/{crawl}/")
    expect(tab.get_by_text("the receiver answered 410")).to_be_visible(timeout=PATIENCE)
    tab.get_by_role("link", name="All deliveries and their results").click()
    tab.get_by_role("button", name="Send again").click()
    expect(tab.get_by_text("It is being sent again.")).to_be_visible()
    web.stack.wait_for(lambda: forgetful_site.hits["/hook"] == 2)
    tab.reload()
    first, second = (request for request in forgetful_site.requests if request.path == "/hook")
    assert first.headers["X-Crawler-Notice"] == second.headers["X-Crawler-Notice"]
    assert first.headers["X-Crawler-Delivery"] != second.headers["X-Crawler-Delivery"]


def test_the_form_says_what_was_ticked(web: Web, tab: Page) -> None:
    web.log_in(tab)
    tab.get_by_text("Options", exact=True).click()
    group = tab.locator("details.group", has=tab.locator(".heading", has_text="Notices"))
    expect(group.locator(".changed")).to_have_text("")
    group.locator("summary").click()
    group.get_by_label("Failed").uncheck()
    expect(group.locator(".changed")).to_have_text("Events: Finished, Cancelled")
