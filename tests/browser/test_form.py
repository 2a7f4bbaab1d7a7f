"""The form that starts a crawl, in a real browser: folded, by keyboard, and without JavaScript."""

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import Web, press


def group(tab: Page, heading: str) -> Locator:
    return tab.locator("details.group").filter(has=tab.get_by_text(heading, exact=True))


def test_by_keyboard_alone_an_option_is_reached_and_its_group_says_what_was_changed(web: Web, tab: Page) -> None:
    web.log_in(tab)
    expect(tab.get_by_label("Start URL")).to_be_focused()
    box, first = tab.get_by_label("Include subdomains"), group(tab, "Scope")
    walk_to(tab, tab.locator("details.options > summary"))
    press(tab, "Enter")
    walk_to(tab, first.locator("summary"))
    press(tab, "Enter Tab Space")
    expect(box).to_be_checked()
    expect(box).to_have_accessible_description("Include subdomains of the start URLs' hosts.")

    press(tab, "Shift+Tab Enter")
    expect(box).to_be_hidden()
    expect(first.locator("summary")).to_have_text("Scope Include subdomains: on hosts, paths, patterns")
    expect(first.locator(".about")).to_be_hidden()

    press(tab, "Enter Tab Space Shift+Tab Enter")
    expect(first.locator(".changed")).to_be_empty()
    expect(first.locator(".about")).to_be_visible()


def walk_to(tab: Page, there: Locator) -> None:
    """Press Tab until this has the focus."""
    for _ in range(20):
        press(tab, "Tab")
        if there.evaluate("it => it === document.activeElement"):
            return
    raise AssertionError(f"{there} cannot be reached by keyboard")


def test_without_javascript_an_error_unfolds_its_group_and_the_others_say_what_was_typed(
    web: Web, browser: Browser
) -> None:
    tab = browser.new_context(java_script_enabled=False).new_page()
    web.log_in(tab)
    tab.get_by_text("Options", exact=True).click()
    for heading, label, typed in (
        ("Sitemaps", "Further sitemaps", "map.xml"),
        ("Politeness", "Requests a minute", "30"),
    ):
        group(tab, heading).locator("summary").click()
        tab.get_by_label(label).fill(typed)
    tab.get_by_label("Start URL").fill("https://example.com/")
    tab.get_by_role("button", name="Start").click()

    expect(tab.get_by_label("Further sitemaps")).to_be_focused()
    expect(tab.get_by_role("alert").filter(has_text="is a site, not a sitemap")).to_be_visible()
    expect(group(tab, "Politeness").locator(".changed")).to_have_text("Requests a minute: 30")
    expect(tab.get_by_label("Requests a minute")).to_be_hidden()


@pytest.mark.long
def test_a_secret_is_summed_up_as_given_and_must_be_typed_again_after_an_error(web: Web, tab: Page) -> None:
    web.log_in(tab)
    tab.get_by_text("Options", exact=True).click()
    signing_in = group(tab, "Authentication")
    signing_in.locator("summary").click()
    tab.get_by_label("Headers").fill("X-Key: swordfish")
    tab.get_by_label("User and password").fill("ann:swordfish")
    signing_in.locator("summary").click()
    expect(signing_in.locator(".changed")).to_have_text("Headers: given · User and password: given")

    tab.get_by_label("Start URL").fill("ftp://example.com/")
    tab.get_by_role("button", name="Start").click()
    expect(tab.get_by_label("Start URL")).to_be_focused()
    expect(signing_in.get_by_text("Type this again")).to_have_count(2)
    expect(tab.get_by_label("Headers")).to_be_empty()
    assert "swordfish" not in tab.content()


@pytest.mark.long
def test_the_form_says_which_events_were_ticked(web: Web, tab: Page) -> None:
    web.log_in(tab)
    tab.get_by_text("Options", exact=True).click()
    notices = group(tab, "Notices")
    expect(notices.locator(".changed")).to_have_text("")
    notices.locator("summary").click()
    notices.get_by_label("Failed").uncheck()
    expect(notices.locator(".changed")).to_have_text("Events: Finished, Cancelled")


@pytest.mark.long
def test_of_a_list_an_upload_is_offered_and_no_depth(web: Web, tab: Page) -> None:
    web.log_in(tab)
    expect(tab.get_by_label("Or upload a list")).to_be_hidden()
    expect(tab.get_by_label("Depth limit")).to_be_visible()
    tab.get_by_label("A list of URLs").check()
    expect(tab.get_by_label("Or upload a list")).to_be_visible()
    expect(tab.get_by_label("Depth limit")).to_be_hidden()
