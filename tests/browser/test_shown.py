"""Somebody looks at a crawl of a site that attacks whoever does: nothing of it runs, loads or opens anything."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from crawler.accounts.login_links import first_account
from tests.browser.conftest import PATIENCE, Web
from tests.content_storages import kept_in
from tests.evil import ADDRESSES, MARK, an_evil_crawl

WATCH = """
window.__refused = [];
document.addEventListener("securitypolicyviolation", (event) => window.__refused.push(event.effectiveDirective));
"""
PLANTED = "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.__pwned = 1'}))"


@dataclass
class Watched:
    """A tab, and what came of all that was opened in it."""

    tab: Page
    base_url: str
    happened: list[str] = field(default_factory=list)

    def open(self, path: str) -> None:
        self.tab.goto(self.base_url + path)
        expect(self.tab.locator("body")).to_contain_text(MARK, timeout=PATIENCE)
        assert self.what_ran() == [None, []]

    def what_ran(self) -> Any:
        return self.tab.evaluate("[window.__pwned ?? null, window.__refused]")


@pytest.fixture
def watched(web: Web, browser: Browser) -> Iterator[Watched]:
    context = browser.new_context()
    context.add_init_script(WATCH)
    watched = Watched(context.new_page(), web.base_url)
    context.on("page", lambda page: watched.happened.append(f"opened {page.url}"))
    context.on("request", lambda asked: watched.happened.append(asked.url))
    watched.tab.on("dialog", lambda dialog: watched.happened.append(f"dialog {dialog.message}"))
    watched.tab.on("pageerror", lambda error: watched.happened.append(f"error {error}"))
    web.log_in(watched.tab, None)
    yield watched
    assert [what for what in watched.happened if not what.startswith(f"{web.base_url}/")] == []


@pytest.fixture
def crawl(web: Web, watched: Watched, settings: Any) -> dict[str, Any]:
    """Its id, and those of an ordinary page, and of one whose address is a script."""
    kept_in(web.stack.folder / "content", settings)
    return web.stack.within(made)


def made() -> dict[str, Any]:
    crawl = an_evil_crawl(first_account())
    page = crawl.pages.order_by("pk").first()
    assert page is not None
    return {"crawl": crawl.pk, "page": page.pk, "script": crawl.pages.get(url=ADDRESSES[0]).pk}


PLACES = (
    "/",
    "/crawls/{crawl}/",
    "/crawls/{crawl}/pages/",
    "/crawls/{crawl}/pages/{page}/",
    "/crawls/{crawl}/pages/{script}/",
    "/crawls/{crawl}/pages/{page}/content/html",
    "/crawls/{crawl}/reports/duplicate-titles/",
    "/admin/crawler/page/",
)


def test_nothing_a_site_wrote_runs_or_loads_anything(watched: Watched, crawl: dict[str, Any], tmp_path: Path) -> None:
    for place in PLACES:
        watched.open(place.format(**crawl))
        assert watched.tab.locator("a[href^='javascript' i], a[href^='data' i]").count() == 0
    explore_the_graph(watched, crawl["crawl"])
    take_home(watched, crawl["crawl"], tmp_path / "pages.csv")
    watched.tab.evaluate(PLANTED)
    assert watched.what_ran() == [None, ["script-src-elem"]], "the watch sees what the policy refuses"


def explore_the_graph(watched: Watched, crawl: object) -> None:
    """Its labels lead to the site alone, and only by addresses of the web."""
    tab, address = watched.tab, watched.tab.locator("#details .address")
    tab.goto(f"{watched.base_url}/crawls/{crawl}/graph/")
    expect(tab.locator("#graph[data-settled]")).to_be_attached(timeout=PATIENCE)
    tab.get_by_label("Find").fill("https://xn--")
    tab.locator("#list tbody button").first.click()
    expect(address.locator("a")).to_have_attribute("rel", "noopener noreferrer nofollow")
    expect(address).to_contain_text(MARK)
    tab.get_by_label("Find").fill(ADDRESSES[0])
    tab.get_by_role("button", name=ADDRESSES[0], exact=True).click()
    expect(address).to_have_text(ADDRESSES[0])
    assert address.locator("a").count() == 0
    assert watched.what_ran() == [None, []]


def take_home(watched: Watched, crawl: object, file: Path) -> None:
    """The policy of a download does not forbid it."""
    watched.tab.goto(f"{watched.base_url}/crawls/{crawl}/exports/")
    with watched.tab.expect_download() as taken:
        watched.tab.get_by_role("link", name="CSV", exact=True).click()
    taken.value.save_as(file)
    assert MARK in file.read_text()
