"""Somebody makes a token, copies it, looks up what it can do and tries it there, and revokes it."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Web


def make_token(tab: Page, web: Web, name: str) -> str:
    """The secret of a new token."""
    web.log_in(tab, "/account/tokens/")
    tab.get_by_label("Name").fill(name)
    tab.get_by_role("button", name="Create token").click()
    return tab.get_by_label("Token", exact=True).input_value()


@pytest.mark.long
def test_a_token_is_made_copied_and_revoked(web: Web, tab: Page) -> None:
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    secret = make_token(tab, web, "nightly build")
    tab.get_by_role("button", name="Copy").click()
    expect(tab.get_by_text("Copied.")).to_be_visible()
    assert tab.evaluate("navigator.clipboard.readText()") == secret

    tab.get_by_text("Revoke …").click()
    tab.get_by_role("button", name="Yes, revoke nightly build").click()
    expect(tab.get_by_text("None yet.")).to_be_visible()


@pytest.mark.long
def test_the_page_of_calls_shows_them_and_does_one_under_its_policy(web: Web, tab: Page) -> None:
    web.log_in(tab, "/api/v1/docs")
    tab.get_by_role("button", name="get /api/v1/me", exact=False).first.click()
    tab.get_by_role("button", name="Try it out").click()
    tab.get_by_role("button", name="Execute").click()
    expect(tab.locator(".live-responses-table .microlight").first).to_contain_text('"user": "admin"')
