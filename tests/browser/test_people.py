"""Two people in a real browser: one is invited, the other shares a crawl with their group."""

import pytest
from django.contrib.auth.models import Group, User
from playwright.sync_api import Browser, Page, expect

from crawler.accounts.login_links import invite, link_for
from tests.browser.conftest import Web
from tests.browser.test_control import open_crawl
from tests.site import Site


@pytest.mark.long
def test_a_crawl_is_shared_with_somebody_who_was_invited(
    web: Web, small_site: Site, browser: Browser, tab: Page
) -> None:
    def invitation() -> str:
        group = Group.objects.create(name="editors")
        return link_for(invite("bob@example.com", [group.name]), web.base_url)

    link = web.stack.within(invitation)
    crawl = open_crawl(web, tab, small_site.url)
    web.stack.within(lambda: User.objects.get(username="admin").groups.add(Group.objects.get()))
    tab.reload()
    tab.get_by_label("Share with").select_option("editors")
    tab.get_by_label("They may control it").check()
    tab.locator("#sharing").get_by_role("button", name="Save").click()
    expect(tab.get_by_text("Shared with editors.")).to_be_visible()

    bobs = browser.new_context().new_page()
    bobs.goto(link)
    bobs.get_by_label("New password", exact=True).fill("correct horse battery")
    bobs.get_by_label("New password confirmation").fill("correct horse battery")
    bobs.get_by_role("button", name="Log in").click()
    bobs.goto(f"{web.base_url}/crawls/{crawl}/")
    expect(bobs.get_by_role("button", name="Pause")).to_be_visible()
    expect(bobs.get_by_text("Delete …")).to_be_hidden()
    bobs.locator(".menu summary").click()
    bobs.get_by_role("link", name="Account").click()
    bobs.get_by_label("First name").fill("Bob")
    bobs.get_by_role("button", name="Save").click()
    expect(bobs.get_by_text("Saved.")).to_be_visible()
    bobs.get_by_role("button", name="Log out everywhere").click()
    expect(bobs.get_by_text("You are logged out everywhere.")).to_be_visible()
