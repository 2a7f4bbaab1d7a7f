"""The sites for browsers do in a real Chromium what their tables say."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, Page, Route, expect
from playwright.sync_api import TimeoutError as OutOfTime

from crawler.core.html.links import extract
from tests.browser.conftest import ARGUMENTS, PATIENCE, VIEWPORT
from tests.browser_sites.behaviours import BEHAVIOURS, behaviours
from tests.browser_sites.endless import ENDLESS, endless
from tests.browser_sites.expected import BrowserSite, Ending
from tests.browser_sites.mixed import mixed
from tests.browser_sites.spa import GONE, spa
from tests.site import Site

ENOUGH = 700  # ms; what has not come by then is taken never to come


def mostly_long(values: Iterable[str], quick: str) -> list[object]:
    """The parameters of a test; all but one are left to long runs."""
    return [value if value == quick else pytest.param(value, marks=pytest.mark.long) for value in values]


FRAMEWORKS = mostly_long(("react", "vue", "svelte"), "react")
NOTE_PUSHED = """window.pushed = [];
for (const name of ["pushState", "replaceState"]) {
  const original = history[name];
  history[name] = function (state, title, url) {
    window.pushed.push(new URL(url, location.href).pathname); return original.apply(this, arguments); };
}"""


@pytest.fixture(scope="module")
def visitor(chromium_running: Browser) -> Iterator[Page]:
    """A tab for one test after another: a new one takes a second of CPU."""
    context = chromium_running.new_context(viewport=VIEWPORT)
    context.set_default_timeout(PATIENCE)
    context.add_init_script(NOTE_PUSHED)
    yield context.new_page()
    context.close()


@pytest.fixture
def further_tab(visitor: Page) -> Iterator[Page]:
    """For a page that does not let go of its tab."""
    tab = visitor.context.new_page()
    yield tab
    for opened in visitor.context.pages:
        if opened is not visitor:
            opened.close()


@pytest.fixture(scope="module")
def behaving() -> Iterator[Site]:
    with Site(behaviours().pages).serving() as served:
        yield served


@pytest.fixture(scope="module")
def endless_site() -> Iterator[Site]:
    with Site(endless().pages).serving() as served:
        yield served


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_an_spa_shows_a_page_of_each_kind(visitor: Page, framework: str) -> None:
    assert_spa(visitor, spa(15, framework), ["/", "/about", "/list/1", "/item/1"])


@pytest.mark.long
@pytest.mark.parametrize(("framework", "pages"), [("react", 200), ("vue", 30), ("svelte", 30)])
def test_an_spa_shows_all_of_its_pages(visitor: Page, framework: str, pages: int) -> None:
    site = spa(pages, framework)
    assert_spa(visitor, site, site.expected)


@pytest.mark.long
def test_a_mixed_site_shows_what_only_its_shells_lead_to(visitor: Page) -> None:
    assert_spa(visitor, mixed(), ["/", "/guide/1", "/app/1", "/guide/from-app-1"])


def assert_spa(tab: Page, site: BrowserSite, paths: Iterable[str]) -> None:
    with Site(site.pages).serving() as served:
        for path in paths:
            tab.goto(served.url + path)
            expect(tab).to_have_title(site.expected[path].title, timeout=PATIENCE)
            assert links_of(tab) == site.expected[path].links


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_an_spa_takes_its_routes_without_loading_a_page(visitor: Page, framework: str) -> None:
    site = spa(15, framework)
    with Site(site.pages).serving() as served:
        visitor.goto(served.url)
        visitor.get_by_text("To /list/1", exact=True).click()
        expect(visitor).to_have_title("List 1 · Shop", timeout=PATIENCE)
        visitor.get_by_text("To /item/2", exact=True).click()
        expect(visitor).to_have_title("Item 2 · Shop", timeout=PATIENCE)
        assert visitor.url == f"{served.url}/item/2"
        visitor.go_back()
        expect(visitor).to_have_title("List 1 · Shop", timeout=PATIENCE)
        assert [path for path in served.hits if path in site.expected] == ["/"]
        gone = visitor.goto(served.url + GONE)
        assert gone is not None
        assert gone.status == 404


@pytest.mark.parametrize("path", mostly_long([behaviour.path for behaviour in BEHAVIOURS], "/lazy/"))
def test_a_behaviour_is_as_the_table_says(visitor: Page, behaving: Site, path: str) -> None:
    url, expected = behaving.url + path, behaviours().expected[path]
    refused: list[str] = []

    def stay(route: Route) -> None:
        """With an error other than "aborted" the browser's error page would come in the place of this one."""
        request = route.request
        if request.is_navigation_request() and request.frame.parent_frame is None and request.url != url:
            refused.append(request.url)
            route.abort("aborted")
        else:
            route.fallback()

    visitor.route("**", stay)
    try:
        visitor.goto(url, wait_until="networkidle")
        assert visitor.title() == expected.title
        assert links_of(visitor, path) == expected.links
        assert set(visitor.evaluate("window.pushed")) == expected.pushed
        assert refused == [behaving.url + expected.redirect_to] * bool(expected.redirect_to)
    finally:
        visitor.unroute("**")


@pytest.mark.long
def test_infinite_scroll_shows_the_rest_to_those_who_scroll(visitor: Page, behaving: Site) -> None:
    expected = behaviours().expected["/scroll/"]
    visitor.goto(f"{behaving.url}/scroll/")
    anchors = visitor.locator("a")
    expect(anchors).to_have_count(len(expected.links), timeout=PATIENCE)
    while anchors.count() < len(expected.links | expected.by_scrolling):
        before = anchors.count()
        visitor.evaluate("scrollTo(0, document.body.scrollHeight)")
        expect(anchors).not_to_have_count(before, timeout=PATIENCE)
    assert links_of(visitor) == expected.links | expected.by_scrolling


@pytest.mark.long
def test_dialogs_are_opened_before_the_link_is_written(visitor: Page, behaving: Site) -> None:
    dialogs: list[str] = []

    def note(dialog: Dialog) -> None:
        dialogs.append(dialog.type)
        dialog.dismiss()

    visitor.on("dialog", note)
    try:
        visitor.goto(f"{behaving.url}/dialogs/")
    finally:
        visitor.remove_listener("dialog", note)
    assert dialogs == ["alert", "confirm", "prompt"]


@pytest.mark.long
def test_what_no_crawl_finds_is_there_for_visitors(visitor: Page, behaving: Site) -> None:
    visitor.goto(f"{behaving.url}/hash/")
    visitor.get_by_text("#/about").click()
    expect(visitor.get_by_text("/hash/from-about")).to_be_visible()
    visitor.goto(f"{behaving.url}/consent/")
    visitor.get_by_role("button").click()
    expect(visitor.get_by_text("/consent/accepted")).to_be_visible()
    visitor.goto(f"{behaving.url}/shadow/")
    expect(visitor.get_by_text("Inside")).to_have_attribute("href", "/shadow/inside")
    for name, target in (("Go", "/buttons/pressed"), ("Here", "/buttons/clicked")):
        visitor.goto(f"{behaving.url}/buttons/")
        visitor.get_by_text(name, exact=True).click()
        visitor.wait_for_url(behaving.url + target)


def of_ending(ending: Ending, quick: str) -> list[object]:
    return mostly_long([one.path for one in ENDLESS if one.ending is ending], quick)


@pytest.mark.parametrize("path", of_ending(Ending.TIME_LIMIT, "/never-quiet/"))
def test_a_page_that_goes_on_has_its_link_at_once(further_tab: Page, endless_site: Site, path: str) -> None:
    further_tab.goto(endless_site.url + path, wait_until="load")
    assert links_of(further_tab) >= endless().expected[path].links
    with pytest.raises(OutOfTime):
        further_tab.wait_for_load_state("networkidle", timeout=ENOUGH)


@pytest.mark.parametrize("path", of_ending(Ending.BLOCKED, "/busy/"))
def test_a_page_that_is_busy_cannot_be_asked(further_tab: Page, endless_site: Site, path: str) -> None:
    further_tab.goto(endless_site.url + path, wait_until="commit")
    further_tab.wait_for_timeout(ENOUGH)  # a question that is open when the page becomes busy would never end
    with pytest.raises(OutOfTime):
        further_tab.wait_for_function("true", timeout=ENOUGH)


@pytest.mark.long
def test_a_page_that_takes_memory_crashes(
    chromium_running: Browser, chromium_program: Path, endless_site: Site
) -> None:
    """In a browser of its own, in which a page may have 64 MB."""
    limit = "--js-flags=--max-old-space-size=64"
    limited = chromium_running.browser_type.launch(executable_path=chromium_program, args=[*ARGUMENTS, limit])
    try:
        tab = limited.new_page()
        with tab.expect_event("crash", timeout=PATIENCE):
            tab.goto(f"{endless_site.url}/memory/", wait_until="commit")
    finally:
        limited.close()


def links_of(tab: Page, path: str = "/") -> set[str]:
    """The links in the tab's DOM as it is now, as a crawl would read them at this address."""
    site = "/".join(tab.url.split("/", 3)[:3])
    return {link.removeprefix(site) for link in extract(tab.content().encode(), site + path).links}
