"""The sites for browsers, read by our renderer: what its table says of each page, and no more, on both clocks."""

from collections.abc import Iterable, Iterator

import pytest

from crawler.capabilities.browser.result import Rendering
from crawler.capabilities.browser.shells import reason
from crawler.capabilities.browser.types import BrowserCrashed
from crawler.core.html.document import document_of
from crawler.core.html.links import extract
from tests.browser_sites.behaviours import BEHAVIOURS, SCROLL, behaviours
from tests.browser_sites.endless import ENDLESS, endless
from tests.browser_sites.expected import BrowserSite, Ending, Rendered
from tests.browser_sites.mixed import mixed
from tests.browser_sites.spa import SHELLS, spa
from tests.capabilities.browser.pages import Pages
from tests.site import Reply, Site

ENOUGH_S = 60.0  # for a page that comes to an end, on a machine that is busy
LIMIT_S = 6.0  # of one that does not
AT_MOST = 0.1  # of the browser's time, for pages that a server has written
QUICK = {("/lazy/", "virtual"), ("/pushed/", "wall"), ("/moved-late/", "virtual")}


def on_both_clocks(names: Iterable[str]) -> list[object]:
    """The parameters of a test; all but QUICK are left to long runs."""
    return [
        pytest.param(name, clock == "virtual", id=f"{name} {clock}", marks=[] if quick else pytest.mark.long)
        for name in names
        for clock in ("wall", "virtual")
        for quick in [(name, clock) in QUICK]
    ]


class Known:
    """A site that is served, and what is read of its pages."""

    def __init__(self, site: BrowserSite, served: Site, pages: Pages) -> None:
        self.site, self.served, self._pages = site, served, pages

    def html_of(self, path: str) -> str:
        answer = self.site.pages[path]
        body = answer.body if isinstance(answer, Reply) else answer
        assert isinstance(body, str)
        return body

    def render(self, path: str, **choices: object) -> Rendering:
        told = {"seconds": ENOUGH_S, **choices}
        return self._pages.visit(self.served.url + path, self.html_of(path), **told)  # type: ignore[arg-type]

    def read(self, rendering: Rendering, path: str, ending: Ending = Ending.QUIET) -> Rendered:
        """In the words of the table."""
        page = extract(rendering.html, self.served.url + path)
        return Rendered(
            page.title,
            links=self._paths(page.links),
            pushed=self._paths(rendering.links),
            redirect_to=rendering.redirect_to.removeprefix(self.served.url),
            ending=ending,
        )

    def expected(self, path: str, *, scrolls: bool = False) -> Rendered:
        """What is to be read of it."""
        page = self.site.expected[path]
        links = page.links | (page.by_scrolling if scrolls else frozenset())
        return Rendered(page.title, links, pushed=page.pushed, redirect_to=page.redirect_to, ending=page.ending)

    def _paths(self, urls: Iterable[str]) -> frozenset[str]:
        return frozenset(url.removeprefix(self.served.url) for url in urls)


@pytest.fixture
def behaving(pages: Pages) -> Iterator[Known]:
    with Site(behaviours().pages).serving() as served:
        yield Known(behaviours(), served, pages)


@pytest.fixture
def endlessly(pages: Pages) -> Iterator[Known]:
    with Site(endless().pages).serving() as served:
        yield Known(endless(), served, pages)


@pytest.mark.parametrize(("path", "virtual"), on_both_clocks(behaviour.path for behaviour in BEHAVIOURS))
def test_a_behaviour_is_read_as_the_table_says(behaving: Known, path: str, virtual: bool) -> None:
    rendering = behaving.render(path, virtual_time=virtual)
    assert rendering.error == ""
    assert behaving.read(rendering, path) == behaving.expected(path)


@pytest.mark.parametrize(("path", "virtual"), on_both_clocks([SCROLL.path]))
def test_what_comes_by_scrolling_is_read_too(behaving: Known, path: str, virtual: bool) -> None:
    rendering = behaving.render(path, virtual_time=virtual, scroll=True)
    assert rendering.error == ""
    assert behaving.read(rendering, path) == behaving.expected(path, scrolls=True)


@pytest.mark.parametrize(("framework", "virtual"), on_both_clocks(SHELLS))
def test_the_pages_of_a_framework_are_read(pages: Pages, framework: str, virtual: bool) -> None:
    site = spa(12, framework)
    with Site(site.pages).serving() as served:
        known = Known(site, served, pages)
        for path in ("/", "/about", "/list/1", "/item/1"):
            rendering = known.render(path, virtual_time=virtual)
            assert (rendering.error, rendering.requests) == ("", 2)  # its script and its data
            assert known.read(rendering, path) == known.expected(path)


@pytest.mark.parametrize(("path", "virtual"), on_both_clocks(one.path for one in ENDLESS))
def test_a_page_without_end_is_read_when_its_time_is_over(endlessly: Known, path: str, virtual: bool) -> None:
    expected = endlessly.expected(path)
    if expected.ending is Ending.CRASH:
        with pytest.raises(BrowserCrashed, match="the browser crashed on this page"):
            endlessly.render(path, virtual_time=virtual)
        return
    rendering = endlessly.render(path, virtual_time=virtual, seconds=LIMIT_S)
    read = endlessly.read(rendering, path, expected.ending)
    assert read.title == expected.title
    if expected.ending is Ending.BLOCKED:
        assert "a script did not end" in rendering.error
        assert read.links == expected.links
    else:
        assert f"after {LIMIT_S:g} s" in rendering.error
        assert read.links >= expected.links


@pytest.mark.long
def test_pages_that_a_server_has_written_take_at_most_a_tenth_of_the_browsers_time(pages: Pages) -> None:
    """Of a site of 200 pages, by those that `--render auto` gives to a browser."""
    site = mixed(guides=99, shells=50)
    ms: dict[str, int] = {}
    with Site(site.pages).serving() as served:
        known = Known(site, served, pages)
        for path in site.expected:
            if reason(document_of(known.html_of(path).encode())):
                ms[path] = known.render(path, virtual_time=True).elapsed_ms
    assert len(site.expected) == 200
    assert ms.keys() >= site.shells
    assert sum(ms[path] for path in ms.keys() - site.shells) <= AT_MOST * sum(ms.values())
