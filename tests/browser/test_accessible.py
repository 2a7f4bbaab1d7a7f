"""Every page by axe, which finds what keeps people out of it: light and dark, wide and as narrow as a phone."""

import re
import time
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Browser, Page

from crawler.core.pages.outcomes import Outcome
from crawler.models import Crawl, Delivery, Schedule, Trap
from crawler.web import urls
from tests.browser.conftest import Web, press
from tests.routes import PEOPLE, WEB

PHONE = {"width": 360, "height": 780}
DESK = {"width": 1280, "height": 800}
VIEWS = (("light", DESK), ("dark", PHONE), ("light", PHONE), ("dark", DESK))
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
OPTIONS = {"resultTypes": ["violations"], "runOnly": RULES, "preload": False}

PLACE = re.compile(r"<\w+:(\w+)>")


@pytest.fixture
def tab(browser: Browser) -> Page:
    """With axe in every page of it. The security policy is lifted, because axe tries out styles."""
    context = browser.new_context(bypass_csp=True)
    context.add_init_script(Axe().axe_script)
    return context.new_page()


def failings(tab: Page) -> list[str]:
    """What axe calls serious or critical, each with an element it holds for."""
    found: list[dict[str, Any]] = tab.evaluate("(options) => axe.run(options)", OPTIONS)["violations"]
    grave = [failing for failing in found if failing["impact"] in {"serious", "critical"}]
    return [f"{failing['id']}: {failing['nodes'][0]['html'][:200]}" for failing in grave]


def look(tab: Page, colours: str, size: dict[str, int]) -> list[str]:
    """The failings of the page in this view, and whether it has to be scrolled sideways."""
    tab.emulate_media(color_scheme=colours, reduced_motion="reduce")  # type: ignore[arg-type]  # "light" or "dark"
    tab.set_viewport_size(size)  # type: ignore[arg-type]  # width and height
    wide = tab.evaluate("document.documentElement.scrollWidth") > size["width"]
    return failings(tab) + (["it is wider than the screen"] if wide else [])


def crawls(web: Web) -> dict[str, Crawl]:
    """One crawl that runs, one with everything a page can show, one that failed; and a schedule."""
    from tests.factories import a_crawl, a_delivery, a_finished_crawl, a_page  # Django is set up by now
    from tests.web.crawl.test_gallery import PICTURED, a_rendered_page

    def made() -> dict[str, Crawl]:
        owner = User.objects.get()
        now = time.time()
        running = a_crawl(owner, discovered=90, outcomes={"2xx": 40}, statuses={"200": 40})
        running.samples = [[now - 9 + at, 90, 4 * at] for at in range(10)]
        running.save()
        full = a_finished_crawl(owner, discovered=7, outcomes={"2xx": 3, "4xx": 1, "5xx": 1, "trap": 1, "robots": 1})
        full.statuses = {"200": 3, "404": 1, "503": 1}
        full.options = PICTURED.to_plain()
        full.samples = [[now - 9 + at, 7, at / 2] for at in range(10)]
        full.save()
        a_rendered_page(full, "/", title="Start", depth=0)
        a_page(full, f"https://example.com/{'a-very-long-name-' * 12}.html", depth=1, linked=False, in_sitemap=True)
        a_page(full, "https://example.com/gone", 404, depth=2)
        a_page(full, "https://example.com/busy", 503, depth=2, given_up=True, error="503 three times")
        trap = Trap.objects.create(crawl=full, key=b"1", reason="dates", pattern="/calendar/*", quarantined=1)
        a_page(full, "https://example.com/calendar/1", Outcome.TRAP, trap_id=trap.pk, fetched_at=None)
        a_delivery(full, state=Delivery.GIVEN_UP, attempts=8, error="The webhook returned 500.")
        failed = a_finished_crawl(owner, discovered=1, outcomes={"dns": 1}, statuses={})
        a_page(failed, answer=Outcome.DNS, error="no such host")
        Schedule.objects.create(
            start_urls=["https://example.com/"], rule="every 6h", owner=owner, next_at=timezone.now() + timedelta(1)
        )
        return {"running": running, "full": full, "failed": failed}

    return web.stack.within(made)


@pytest.fixture
def seen(web: Web, tab: Page) -> dict[str, Crawl]:
    """Somebody is logged in, and there are crawls to look at."""
    web.log_in(tab, None)
    return crawls(web)


def shown_pages() -> dict[str, str]:
    """The pattern of every route that shows a page to somebody logged in, by the route's name."""
    patterns = {str(pattern.name): str(pattern.pattern) for pattern in urls.urlpatterns}
    opened = [route.name for route in WEB if route.method == "GET" and route.statuses[PEOPLE.index("owner")] == 200]
    return {name: patterns[name] for name in opened if patterns[name].endswith("/")}


STATES = {
    "list": "/",
    "running": "/crawls/{running}/",
    "why it runs": "/crawls/{running}/why/",
    "finished": "/crawls/{full}/",
    "figures": "/crawls/{full}/figures",
    "failed": "/crawls/{failed}/",
}


@pytest.mark.long
def test_axe_finds_nothing_grave_on_crawls_in_any_state(web: Web, tab: Page, seen: dict[str, Crawl]) -> None:
    found = {}
    named = {name: crawl.id for name, crawl in seen.items()}
    for name, address in STATES.items():
        tab.goto(web.base_url + address.format(**named))
        for colours, size in VIEWS if name in {"list", "finished"} else VIEWS[:2]:
            found[f"{name}, {colours}, {size['width']}"] = look(tab, colours, size)
    assert {view: said for view, said in found.items() if said} == {}


def test_axe_finds_nothing_grave_on_any_page(web: Web, tab: Page, seen: dict[str, Crawl]) -> None:
    """Each in one view, the views taking turns."""
    page_id = web.stack.within(lambda: seen["full"].pages.values_list("pk", flat=True)[0])
    places = {"crawl_id": seen["full"].id, "other_id": seen["failed"].id, "page_id": page_id, "key": "2xx-200"}
    found = {}
    for at, (name, pattern) in enumerate(shown_pages().items()):
        places["slug"] = "new" if "comparison" in name else "statuses"
        path = PLACE.sub(lambda place: str(places[place[1]]), pattern)
        response = tab.goto(f"{web.base_url}/{path}")
        assert response is not None
        assert response.status == 200, path
        found[path] = look(tab, *VIEWS[at % len(VIEWS)])
    assert len(found) > 15
    assert {path: said for path, said in found.items() if said} == {}


@pytest.mark.long
def test_axe_finds_nothing_grave_where_everything_is_unfolded_and_wrong(
    web: Web, tab: Page, seen: dict[str, Crawl]
) -> None:
    tab.goto(f"{web.base_url}/")
    tab.get_by_text("A list of URLs").click()
    tab.evaluate("document.querySelectorAll('details').forEach((folded) => { folded.open = true; })")
    tab.get_by_label("Delay").fill("soon")
    tab.get_by_label("Delay").focus()
    press(tab, "Tab")
    tab.get_by_text("Delay must be a number").wait_for()
    assert [look(tab, *view) for view in VIEWS[:2]] == [[], []]


def test_axe_finds_nothing_grave_before_the_login_nor_where_nothing_is(web: Web, tab: Page) -> None:
    nowhere = [f"{web.base_url}{path}" for path in ("/login/", "/login/a/b-c/", f"/nothing/{uuid4()}/")]
    for address in (*nowhere, web.login_link()):
        tab.goto(address)
        assert [look(tab, *view) for view in VIEWS[:2]] == [[], []]


@pytest.mark.long
def test_axe_finds_nothing_grave_where_there_is_no_crawl_yet(web: Web, tab: Page) -> None:
    web.log_in(tab)
    assert [look(tab, *view) for view in VIEWS[:2]] == [[], []]
