"""A trap on its crawl's page in a real browser: it appears while the crawl runs, and a button releases it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from crawler.capabilities.traps.bounds import MAX_SEGMENTS
from tests import site
from tests.browser.conftest import PATIENCE, Web
from tests.site import Site


@pytest.fixture
def circling_site() -> Iterator[Site]:
    """A relative link leads one folder deeper each time; at the bottom there is something to be found."""
    pages = {
        "/": site.page("/docs/"),
        **{"/" + "docs/" * number: site.page("docs/") for number in range(1, MAX_SEGMENTS + 1)},
        "/" + "docs/" * (MAX_SEGMENTS + 1): site.page("/found"),
        "/found": site.page(title="Found after all"),
    }
    with Site(pages).serving() as served:
        yield served


@pytest.mark.long
def test_a_trap_is_shown_and_released(web: Web, circling_site: Site, tab: Page) -> None:
    crawl = web.stack.start(circling_site.url)
    web.log_in(tab, f"/crawls/{crawl}/")
    traps = tab.locator("#traps")
    expect(traps).to_be_hidden()
    web.start_worker()
    expect(traps).to_contain_text("URLs that grow from page to page", timeout=PATIENCE)
    expect(traps).to_contain_text(f"{circling_site.url}/docs/docs/docs/")
    expect(tab.locator(".finished")).to_have_text("Finished", timeout=PATIENCE)

    traps.locator("tbody").get_by_role("button", name="Release").click()
    expect(tab.get_by_text("Released: 1 trap with 1 page")).to_be_visible()
    expect(tab.get_by_text("Found after all")).to_be_visible(timeout=PATIENCE)
    expect(traps).to_be_hidden()

    tab.goto(f"{web.base_url}/crawls/{crawl}/traps/")
    expect(tab.locator("main")).to_contain_text("All released")
