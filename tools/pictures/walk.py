"""Which pages there are pictures of, and what a person does to see each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page

from crawler.reports.catalogue.entries import REPORTS

Act = Callable[[Page], None]


@dataclass(frozen=True)
class Place:
    """A page: in its address stand names of crawls, such as {whole}; `act` acts on the page."""

    name: str
    address: str
    act: Act | None = None


def prefers(preset: str) -> Act:
    return lambda tab: tab.get_by_label(preset).check()


def unfolds(tab: Page) -> None:
    tab.locator(".options").evaluate("options => { options.open = true; }")


def unfolds_all(tab: Page) -> None:
    tab.evaluate("document.querySelectorAll('details:not(.menu)').forEach((folded) => { folded.open = true; })")


def errs(tab: Page) -> None:
    unfolds(tab)
    tab.locator(".group:has([name=delay])").evaluate("group => { group.open = true; }")
    tab.get_by_label("Delay").fill("soon")
    tab.get_by_label("Start URL").fill("example.com")
    tab.get_by_role("button", name="Start").click()
    tab.get_by_role("alert").filter(has_text="delay").first.wait_for()


def tries_rules(tab: Page) -> None:
    unfolds(tab)
    tab.locator(".group:has([name=rules])").evaluate("group => { group.open = true; }")
    tab.get_by_role("button", name="Try on one page").click()
    tab.locator("[data-result]").wait_for()


def opens_menu(tab: Page) -> None:
    tab.locator(".menu > summary").click()


def asks_to_cancel(tab: Page) -> None:
    tab.get_by_text("Cancel …").click()


def settles(tab: Page) -> None:
    tab.locator("#graph[data-settled]").wait_for(timeout=60_000)


def chooses_dot(tab: Page) -> None:
    settles(tab)
    tab.locator("#list tbody button").nth(3).click()


def draws_all(tab: Page) -> None:
    """Also the images that are loaded when they come near."""
    for image in tab.locator("main img").all():
        image.scroll_into_view_if_needed()
    tab.evaluate("Promise.all([...document.images].map((image) => image.decode()))")
    tab.evaluate("window.scrollTo(0, 0)")


def follows(link: str) -> Act:
    """Opens the first link or button within this."""
    return lambda tab: tab.locator(link).first.click()


def makes_token(tab: Page) -> None:
    tab.get_by_label("Name").fill("deployment")
    tab.get_by_role("button", name="Create token").click()
    tab.get_by_label("Token", exact=True).wait_for()


def loads_calls(tab: Page) -> None:
    tab.locator(".opblock").first.wait_for()


BEFORE = (
    Place("login", "/login/"),
    Place("login-link-dead", "/login/a/b-c/"),
)
"""Seen by somebody who is not logged in."""

EMPTY = (
    Place("empty-list", "/"),
    Place("form-section", "/", prefers("One section")),
    Place("form-list", "/", prefers("A list of URLs")),
    Place("form-sitemap", "/", prefers("Sitemap only")),
    Place("empty-schedules", "/schedules/"),
    Place("empty-tokens", "/account/tokens/"),
    Place("empty-channels", "/account/notifications/"),
)
"""Where there is nothing yet."""

RUNNING = (
    Place("running", "/crawls/{running}/"),
    Place("running-cancel", "/crawls/{running}/", asks_to_cancel),
    Place("why", "/crawls/{running}/why/"),
    Place("running-reports", "/crawls/{running}/reports/"),
)
"""While a crawl runs."""

FULL = (
    Place("list", "/"),
    Place("list-none-like-that", "/?q=nothing+like+it"),
    Place("menu", "/", opens_menu),
    Place("form", "/", prefers("Whole site")),
    Place("options", "/", unfolds),
    Place("options-unfolded", "/", unfolds_all),
    Place("form-errors", "/", errs),
    Place("extraction", "/?again={whole}", tries_rules),
    Place("finished", "/crawls/{whole}/"),
    Place("faulty", "/crawls/{faulty}/"),
    Place("failed", "/crawls/{failed}/"),
    Place("paused", "/crawls/{paused}/"),
    Place("figures", "/crawls/{whole}/figures"),
    Place("pages", "/crawls/{whole}/pages/"),
    Place("pages-filtered", "/crawls/{faulty}/pages/?outcome=4xx"),
    Place("pages-none", "/crawls/{whole}/pages/?q=nothing+like+it"),
    Place(
        "pages-columns",
        "/crawls/{whole}/pages/?column=depth&column=time",
        follows(".sift-columns summary"),
    ),
    Place("page", "/crawls/{whole}/pages/", follows("tr:nth-child(4) .page-cell a")),
    Place("page-redirect", "/crawls/{faulty}/pages/?q=%2Folder", follows(".page-cell a")),
    Place("page-failed", "/crawls/{failed}/pages/", follows(".page-cell a")),
    Place("reports", "/crawls/{faulty}/reports/"),
    Place("reports-whole", "/crawls/{whole}/reports/"),
    *(Place(f"report-{report.slug}", f"/crawls/{{faulty}}/reports/{report.slug}/") for report in REPORTS),
    Place("broken-link", "/crawls/{faulty}/reports/broken-links/", follows(".report-table td[data-kind=number] a")),
    Place("statuses-one", "/crawls/{faulty}/reports/statuses/", follows(".report-table tbody a")),
    Place("duplicate-one", "/crawls/{faulty}/reports/duplicate-titles/", follows(".report-table tbody a")),
    Place("graph", "/crawls/{whole}/graph/", settles),
    Place("graph-chosen", "/crawls/{faulty}/graph/", chooses_dot),
    Place("gallery", "/crawls/{rendered}/gallery/", draws_all),
    Place("gallery-none", "/crawls/{whole}/gallery/"),
    Place("page-screenshot", "/crawls/{rendered}/gallery/", follows(".gallery a")),
    Place("compare", "/crawls/{faulty}/compare/"),
    Place("compare-none", "/crawls/{failed}/compare/"),
    Place("comparison", "/crawls/{faulty}/compare/{before}/"),
    Place("comparison-new", "/crawls/{faulty}/compare/{before}/", follows(".report-list a")),
    Place("exports", "/crawls/{whole}/exports/"),
    Place("all-dead-letters", "/dead-letters/"),
    Place("dead-letters", "/crawls/{before}/dead-letters/"),
    Place("dead-letters-none", "/crawls/{whole}/dead-letters/"),
    Place("traps", "/crawls/{faulty}/traps/"),
    Place("traps-none", "/crawls/{whole}/traps/"),
    Place("orphans", "/crawls/{faulty}/orphans/"),
    Place("notices", "/crawls/{faulty}/notices/"),
    Place("notices-none", "/crawls/{whole}/notices/"),
    Place("schedules", "/schedules/"),
    Place("account", "/account/"),
    Place("password", "/account/password/"),
    Place("tokens", "/account/tokens/"),
    Place("token-made", "/account/tokens/", makes_token),
    Place("channels", "/account/notifications/"),
    Place("channel", "/account/notifications/", follows(".channel .actions a")),
    Place("api", "/api/v1/docs", loads_calls),
    Place("nothing", "/nothing/"),
)
"""Where there are crawls of every kind."""
