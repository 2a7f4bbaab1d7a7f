"""The sites for browsers are what their tables say, as far as that is seen without a browser."""

import pytest

from crawler.capabilities.browser.shells import reason
from crawler.core.html.document import document_of
from crawler.core.html.links import extract
from crawler.core.urls.normalise import normalise
from tests.browser_sites.__main__ import SITES
from tests.browser_sites.behaviours import SCROLL
from tests.browser_sites.expected import BrowserSite, Ending
from tests.browser_sites.mixed import GUIDES, SHELLS, mixed
from tests.browser_sites.spa import GONE, spa
from tests.site import Reply

BASE = "http://site.test"
BUILT = {name: build() for name, build in SITES.items()}


@pytest.mark.parametrize("name", SITES)
def test_shells_are_known_as_such(name: str) -> None:
    site = BUILT[name]
    shells = {path: bool(reason(document_of(html_of(site, path)))) for path in site.expected}
    assert shells == {path: page.is_shell for path, page in site.expected.items()}


@pytest.mark.parametrize("name", SITES)
def test_links_are_there_without_a_browser_only_if_the_server_wrote_them(name: str) -> None:
    site = BUILT[name]
    for path, page in site.expected.items():
        found = {link.removeprefix(BASE) for link in extract(html_of(site, path), BASE + path).links}
        by_server = not page.is_shell or page.ending is Ending.BLOCKED
        assert found == (page.links if by_server else frozenset()), path


@pytest.mark.parametrize("name", SITES)
def test_each_link_leads_to_a_page_of_the_site(name: str) -> None:
    site = BUILT[name]
    for page in site.expected.values():
        for path in page.leads_to() | page.links | page.never:
            assert normalise(BASE + path) == BASE + path
            assert path in site.pages or path == GONE


@pytest.mark.parametrize("framework", ["react", "vue", "svelte"])
@pytest.mark.parametrize("pages", [3, 12, 13, 200])
def test_an_spa_has_so_many_pages_and_each_is_linked(pages: int, framework: str) -> None:
    site = spa(pages, framework)
    assert len(site.expected) == pages
    assert site.reachable() == set(site.expected) | {GONE}
    assert GONE not in site.pages


def test_parts_of_a_mixed_site_are_known_to_shells_only() -> None:
    site = mixed()
    assert len(site.reachable()) == len(site.expected) == 1 + GUIDES + 2 * SHELLS
    without_shells = {path: page for path, page in site.expected.items() if not page.is_shell}
    assert len(BrowserSite(site.pages, without_shells).reachable()) == 1 + GUIDES + SHELLS


def test_what_is_beyond_a_first_screen_is_reached_by_scrolling_alone() -> None:
    site = BUILT["behaviours"]
    assert site.reachable() - site.reachable(scrolls=False) == SCROLL.expected.by_scrolling


def html_of(site: BrowserSite, path: str) -> str:
    answer = site.pages[path]
    assert not callable(answer)
    body = answer.body if isinstance(answer, Reply) else answer
    assert isinstance(body, str)
    return body
