"""What all pages share, in a real browser: colours, places, and the parts the server draws anew."""

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from playwright.sync_api import Page, Route, expect

from crawler.models import Crawl
from tests.browser.conftest import PATIENCE, Web, press
from tests.browser.test_control import open_crawl
from tests.site import Site

GROUND = "getComputedStyle(document.documentElement).backgroundColor"


def some_crawls(web: Web, *sites: str) -> list[Crawl]:
    from tests.factories import a_crawl  # Django is set up by now

    return web.stack.within(lambda: [a_crawl(User.objects.get(), start_urls=[site]) for site in sites])


@pytest.mark.long
def test_the_colours_follow_the_system_until_somebody_chooses_and_the_choice_is_remembered(web: Web, tab: Page) -> None:
    tab.emulate_media(color_scheme="dark")
    web.log_in(tab)
    dark = tab.evaluate(GROUND)
    tab.get_by_role("button", name="Colours: as the system has them. Change to light").click()
    light = tab.evaluate(GROUND)
    assert light != dark
    tab.goto(f"{web.base_url}/schedules/")
    assert tab.evaluate(GROUND) == light
    tab.get_by_role("button", name="Colours: light").click()
    tab.get_by_role("button", name="Colours: dark").click()
    tab.emulate_media(color_scheme="light")
    assert tab.evaluate(GROUND) == light
    expect(tab.get_by_role("button", name="Colours: as the system has them")).to_be_visible()


def test_by_keyboard_the_content_is_one_step_away_and_the_account_opens_and_closes(web: Web, tab: Page) -> None:
    web.log_in(tab, "/schedules/")
    press(tab, "Tab")
    expect(tab.get_by_role("link", name="Skip to the content")).to_be_focused()
    press(tab, "Enter")
    expect(tab.locator("main")).to_be_focused()

    account = tab.locator(".menu > summary")
    account.focus()
    press(tab, "Enter")
    expect(tab.get_by_role("button", name="Log out")).to_be_visible()
    press(tab, "Escape")
    expect(tab.get_by_role("button", name="Log out")).to_be_hidden()
    expect(account).to_be_focused()


@pytest.mark.long
def test_the_list_is_filtered_as_one_types_and_the_address_says_how(web: Web, tab: Page) -> None:
    web.log_in(tab, None)
    some_crawls(web, "https://one.example/", "https://two.example/")
    tab.goto(web.base_url)
    tab.evaluate("window.sameDocument = true")
    tab.get_by_label("Site or list").press_sequentially("two")
    expect(tab.locator(".crawl")).to_have_count(1)
    expect(tab.locator(".crawl")).to_contain_text("two.example")
    expect(tab).to_have_url(f"{web.base_url}/?q=two&state=&owner=")
    tab.get_by_label("State", exact=True).select_option("Finished")
    expect(tab.get_by_text("No crawl matches.")).to_be_visible()
    assert tab.evaluate("window.sameDocument") is True
    tab.get_by_role("link", name="Show all").click()
    expect(tab.locator(".crawl")).to_have_count(2)


def test_the_list_keeps_itself_up_to_date_and_the_keyboard_stays_where_it_is(web: Web, tab: Page) -> None:
    web.log_in(tab, None)
    (crawl,) = some_crawls(web, "https://one.example/")
    tab.goto(web.base_url)
    tab.locator(".crawl").focus()
    web.stack.within(lambda: call_command("cancel", str(crawl.id)))
    expect(tab.locator(".crawl .badge")).to_have_text("Cancelled", timeout=PATIENCE)
    expect(tab.locator(".crawl")).to_be_focused()


def test_a_field_that_cannot_be_used_says_so_as_it_is_left_and_is_quiet_when_it_can(web: Web, tab: Page) -> None:
    web.log_in(tab)
    url = tab.get_by_label("Start URL")
    url.fill("ftp://example.com/")
    url.focus()
    press(tab, "Tab")
    expect(tab.get_by_role("alert").filter(has_text="ftp")).to_be_visible()
    expect(url).to_have_attribute("aria-invalid", "true")
    expect(url).to_have_accessible_description("Only http and https can be crawled, not ftp: 'ftp://example.com/'.")
    url.fill("https://example.com/")
    url.focus()
    press(tab, "Tab")
    expect(url).not_to_have_attribute("aria-invalid", "true")
    tab.get_by_label("One section").check()
    expect(tab.get_by_text("is the whole site, not a section")).to_be_visible()


@pytest.mark.long
def test_one_section_is_crawled_and_nothing_beside_it(web: Web, tab: Page, small_site: Site) -> None:
    web.start_worker()
    web.log_in(tab)
    tab.get_by_label("One section").check()
    tab.get_by_text("Options", exact=True).click()
    tab.locator("summary").filter(has_text="Private networks").click()
    tab.get_by_label("Allow addresses that are not public").check()
    tab.get_by_label("Start URL").fill(f"{small_site.url}/b/")
    tab.get_by_role("button", name="Start").click()
    expect(tab.locator(".finished")).to_have_text("Finished", timeout=PATIENCE)
    expect(tab.get_by_role("table", name="Responses")).to_contain_text("404")
    assert [request.path for request in small_site.requests if request.path != "/robots.txt"] == ["/b/"]


@pytest.mark.long
def test_the_pictures_are_drawn_anew_while_the_crawl_runs(web: Web, small_site: Site, tab: Page) -> None:
    open_crawl(web, tab, small_site.url)
    expect(tab.get_by_text("None yet. If that lasts")).to_be_visible()
    web.start_worker()
    expect(tab.locator(".finished")).to_be_visible(timeout=PATIENCE)
    answers = tab.get_by_role("table", name="Responses")
    expect(answers.get_by_role("row", name="200")).to_contain_text("3")
    expect(tab.get_by_role("table", name="Depth").get_by_role("row")).to_have_count(3)  # its head, and two depths
    expect(tab.locator("#hosts")).to_contain_text(small_site.host)


@pytest.mark.long
def test_charts_that_failed_to_load_are_requested_again(
    web: Web, small_site: Site, tab: Page, complaints: list[str]
) -> None:
    failures = list[str]()

    def fail_the_last(route: Route) -> None:
        if failures or not web.stack.within(lambda: Crawl.objects.get().is_over):
            return route.continue_()
        failures.append(route.request.url)
        return route.fulfill(status=500)

    open_crawl(web, tab, small_site.url)
    tab.route("**/figures", fail_the_last)
    web.start_worker()
    expect(tab.locator(".finished")).to_be_visible(timeout=PATIENCE)
    expect(tab.get_by_role("table", name="Depth").get_by_role("row")).to_have_count(3, timeout=PATIENCE)
    assert len(failures) == 1
    complaints.clear()  # the browser's own, of the failure


@pytest.mark.long
def test_a_reader_who_was_logged_out_is_told_in_the_list(web: Web, tab: Page) -> None:
    web.log_in(tab, None)
    some_crawls(web, "https://one.example/")
    tab.goto(web.base_url)
    tab.get_by_label("Start URL").fill("https://half.typed/")
    tab.context.clear_cookies()
    expect(tab.get_by_text("You are logged out.")).to_be_visible(timeout=PATIENCE)
    expect(tab.get_by_label("Start URL")).to_have_value("https://half.typed/")
