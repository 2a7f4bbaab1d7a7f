"""Pages of one site in the same browser context, one after the other: what they share, and what they do not."""

import time
from collections.abc import Iterator

import pytest

from crawler.capabilities.browser.kept_tabs import KeptTabs
from crawler.capabilities.browser.result import Rendering
from tests.capabilities.browser.pages import Pages
from tests.http.server import Server, Then, page

READY = {"wait_for": "#done", "seconds": 20.0}
VISITS = """<body><script>
  localStorage.visits = Number(localStorage.visits || 0) + 1;
  document.body.innerHTML = `<p id=done>${localStorage.visits} ${document.cookie}`;
  document.cookie = "seen=yes";
</script>"""
SHOP, BLOG = "shop", "blog"


@pytest.fixture
def server() -> Iterator[Server]:
    endless = page("x", then=Then.DRIP, content_length="", content_type="text/plain")
    with Server({"/api": page("data"), "/endless": endless}) as server:
        yield server


def shown(rendering: Rendering) -> str:
    return rendering.html.decode().partition('id="done">')[2].partition("</p>")[0]


def test_pages_of_a_site_share_cookies_and_storage(pages: Pages, server: Server) -> None:
    visits = [shown(pages.render(server, VISITS, site=site, **READY)) for site in (SHOP, SHOP, BLOG, SHOP)]
    assert visits == ["1 ", "2 seen=yes", "1 ", "3 seen=yes"]


def test_pages_without_a_site_share_nothing(pages: Pages, server: Server) -> None:
    assert [shown(pages.render(server, VISITS, **READY)) for _ in range(2)] == ["1 ", "1 "]


@pytest.mark.long
@pytest.mark.parametrize("virtual", [False, True])
def test_nothing_of_a_page_goes_on_while_its_tab_waits_for_the_next(
    pages: Pages, server: Server, virtual: bool
) -> None:
    asks = "<p id=done><script>setInterval(() => fetch('/api'), 10)</script>"
    pages.render(server, asks, site="asking", virtual_time=virtual, **READY)
    time.sleep(0.3)
    before = len(server.requests)
    time.sleep(0.7)
    assert len(server.requests) == before


@pytest.mark.long
def test_a_page_is_told_nothing_of_the_one_before(pages: Pages, server: Server) -> None:
    busy = "<script>for (let i = 0; i < 9; i++) fetch('/api?' + i); console.error('no')</script><p id=done>"
    first = pages.render(server, busy, site="busy", **READY)
    second = pages.render(server, "<p id=done>", site="busy", **READY)
    assert "no" in first.console
    assert (second.console, second.resources, second.requests) == ((), (), 0)


@pytest.mark.long
def test_what_a_page_may_load_is_counted_anew_for_the_next(pages: Pages, server: Server) -> None:
    loads = "<body><script>fetch('/api').then(() => document.body.innerHTML = '<p id=done>')</script>"
    renderings = [pages.render(server, loads, site="limited", max_requests=1, **READY) for _ in range(3)]
    assert [(rendering.requests, rendering.error) for rendering in renderings] == [(1, "")] * 3


@pytest.mark.long
def test_a_page_that_did_not_get_ready_leaves_its_tab_to_no_other(pages: Pages, server: Server) -> None:
    late = f"{VISITS}<script>fetch('/endless')</script>"
    errors = [pages.render(server, late, site="late", seconds=1.0).error for _ in range(2)]
    again = pages.render(server, VISITS, site="late", **READY)
    assert all("still open" in error for error in errors)
    assert shown(again) == "1 "


@pytest.mark.long
def test_pictures_leave_a_tab_whose_scripts_run(pages: Pages, server: Server) -> None:
    visits = [
        shown(pages.render(server, VISITS, site="seen", pictures=("screenshot",), screenshot_format="jpeg", **READY))
        for _ in range(2)
    ]
    assert visits == ["1 ", "2 seen=yes"]


def test_the_tab_that_came_last_is_taken_and_the_oldest_gives_way() -> None:
    kept = KeptTabs(2)
    first, second, other = (object() for _ in range(3))
    given_way = [kept.put(site, place) for site, place in ((SHOP, first), (SHOP, second), (BLOG, other))]  # type: ignore[arg-type]  # any object can be kept
    assert given_way == [None, None, first]
    assert [kept.take(site) for site in (SHOP, SHOP, BLOG, BLOG)] == [second, None, other, None]
