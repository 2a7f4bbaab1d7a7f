"""Trying extraction rules in a real browser: in place, and without JavaScript in a tab of its own."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Web
from tests.site import Site

RULES = "heading: h1\nprice: {selector: b, type: number}\nlinks: {selector: a, attribute: href, many: true}"
PAGE = "<h1>A kettle &lt;img src=x onerror=alert(1)&gt;</h1><b>EUR 12,50</b><a href=/a></a><a href=/b></a>"


@pytest.fixture
def shop() -> Site:
    return Site({"/": PAGE, "/robots.txt": ""})


def fill(tab: Page, shop: Site) -> None:
    tab.get_by_label("Start URL").fill(shop.url)
    tab.get_by_text("Options", exact=True).click()
    for heading in ("Extraction", "Private networks"):
        tab.locator("details.group > summary", has_text=heading).click()
    tab.get_by_label("Allow addresses that are not public").check()
    tab.get_by_label("Fields to read from each page").fill(RULES)


@pytest.mark.long
def test_the_rules_are_tried_in_place_and_what_was_typed_stays(
    web: Web, tab: Page, shop: Site, complaints: list[str]
) -> None:
    with shop.serving():
        web.log_in(tab)
        fill(tab, shop)
        tab.get_by_role("button", name="Try on one page").click()
        found = tab.get_by_role("table")
        expect(found.get_by_role("row", name="heading")).to_contain_text("A kettle <img src=x onerror=alert(1)>")
        expect(found.get_by_role("row", name="price")).to_contain_text("12.5")
        expect(found.get_by_role("listitem")).to_have_text(["/a", "/b"])
        expect(tab.get_by_label("Fields to read from each page")).to_have_value(RULES)

        tab.get_by_label("Fields to read from each page").fill("a: h1[")
        tab.get_by_role("button", name="Try on one page").click()
        expect(tab.get_by_role("status").filter(has_text="Rule 1 ('a'), selector")).to_be_visible()
        tab.get_by_label("Fields to read from each page").fill(RULES)
        tab.get_by_role("button", name="Start").click()
        expect(tab.get_by_role("heading", level=1)).to_contain_text(shop.host)


@pytest.mark.long
def test_without_javascript_what_was_found_opens_in_a_tab_of_its_own(web: Web, browser: Browser, shop: Site) -> None:
    with shop.serving():
        tab = browser.new_context(java_script_enabled=False).new_page()
        web.log_in(tab)
        fill(tab, shop)
        with tab.context.expect_page() as opened:
            tab.get_by_role("button", name="Try on one page").click()
        expect(opened.value.get_by_role("row", name="price")).to_contain_text("12.5")
        expect(tab.get_by_label("Fields to read from each page")).to_have_value(RULES)
