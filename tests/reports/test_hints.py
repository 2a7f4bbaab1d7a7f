"""Hints are given for what is true of most pages, with how many, an example and what to do, and for nothing less."""

from typing import Any

import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.completion import State
from crawler.core.protocol.counters import tallied
from crawler.core.text.controls import Surface
from crawler.models import Crawl, Page
from crawler.reports.hints import hints_of, lines_of
from crawler.reports.receipt import receipt_of
from crawler.reports.text import receipt_table
from tests.reports.catalogue.factories import SITE, crawl_with, make, moved

pytestmark = pytest.mark.django_db


def ended(crawl: Crawl) -> Crawl:
    """The crawl as it is when these pages are all there are."""
    rows = Page.objects.filter(crawl=crawl).values_list("outcome", "http_status")
    tallies = tallied((outcome, status, 1) for outcome, status in rows)
    crawl.state, crawl.discovered = State.FINISHED, tallies.discovered
    crawl.outcomes, crawl.statuses = tallies.outcomes, tallies.statuses
    crawl.finished_at = crawl.created_at
    crawl.save()
    return crawl


def told(crawl: Crawl) -> dict[str, tuple[int, int, str]]:
    return {hint["hint"]: (hint["pages"], hint["of"], hint["example"]) for hint in hints_of(ended(crawl))}


def many(crawl: Crawl, number: int, answer: int | Outcome, begin: str = "/page", **more: Any) -> None:
    for at in range(number):
        make(crawl, f"{begin}-{at}", answer, **more)


def test_a_site_without_oddities_gives_none() -> None:
    crawl = crawl_with()
    many(crawl, 12, 200)
    assert told(crawl) == {}


@pytest.mark.parametrize(("forbidden", "is_told"), [(10, True), (9, False)])
def test_robots_txt_that_forbids_most(forbidden: int, is_told: bool) -> None:
    crawl = crawl_with()
    many(crawl, 9, 200, "/open")
    many(crawl, forbidden, Outcome.ROBOTS, "/closed")
    assert told(crawl) == ({"robots": (10, 19, f"{SITE}/closed-0")} if is_told else {})


def test_a_host_that_refuses_most_is_a_wall_though_others_respond() -> None:
    crawl = crawl_with()
    many(crawl, 11, 403, "https://shop.test/item")
    many(crawl, 4, 200, "https://shop.test/shown")
    many(crawl, 30, 200)
    assert told(crawl) == {"wall": (11, 15, "https://shop.test/item-0")}
    assert hints_of(crawl)[0]["message"] == "shop.test refused 11 of 15 requests: it may block crawlers."


def test_a_host_that_refuses_some_is_none() -> None:
    crawl = crawl_with()
    many(crawl, 11, 403)
    many(crawl, 12, 200, "/shown")
    assert told(crawl) == {}


def test_redirects_that_lead_home() -> None:
    crawl = crawl_with()
    make(crawl, "/", 200)
    for at in range(12):
        moved(crawl, f"/gone-{at}", "/")
    moved(crawl, "/old", "/new")
    assert told(crawl) == {"redirects-home": (12, 13, f"{SITE}/gone-0")}


def test_redirects_to_the_home_pages_of_other_sites_are_none() -> None:
    crawl = crawl_with()
    make(crawl, "/", 200)
    for at in range(12):
        moved(crawl, f"/go-{at}", f"https://partner-{at}.test/")
    assert told(crawl) == {}


def test_redirects_without_a_target_lead_nowhere() -> None:
    crawl = crawl_with()
    many(crawl, 12, 302)
    assert told(crawl) == {}


def test_a_sitemap_that_names_ten_times_what_links_reach() -> None:
    crawl = crawl_with(sitemaps=True)
    make(crawl, "/", 200)
    many(crawl, 20, 200, in_sitemap=True, linked=False)
    assert told(crawl) == {"sitemap": (20, 21, f"{SITE}/page-0")}


def test_a_crawl_that_was_cut_off_tells_nothing_of_its_sitemap() -> None:
    crawl = crawl_with(sitemaps=True, max_pages=21)
    make(crawl, "/", 200)
    many(crawl, 20, 200, in_sitemap=True, linked=False)
    make(crawl, "/more", Outcome.LIMIT)
    crawl.limits = {"pages": 1}
    assert told(crawl) == {}


def test_what_to_do_names_the_controls_of_each_surface() -> None:
    crawl = crawl_with()
    many(crawl, 10, Outcome.ROBOTS)
    found = hints_of(ended(crawl))
    assert "--ignore-robots" in lines_of(found, Surface.COMMAND)[0]
    assert "“Obey robots.txt” off" in lines_of(found, Surface.PAGE)[0]
    assert "`obey_robots` false" in found[0]["remedy"]


def test_a_hint_of_a_newer_version_keeps_its_words() -> None:
    newer = {"hint": "new", "message": "All is blue.", "remedy": "Paint it.", "example": f"{SITE}/sky"}
    assert lines_of([newer], Surface.PAGE) == [f"All is blue. Paint it. Example: {SITE}/sky"]


def test_the_receipt_has_them_once_the_crawl_is_over() -> None:
    crawl = crawl_with()
    many(crawl, 10, Outcome.ROBOTS)
    assert "hints" not in receipt_of(crawl)
    receipt = receipt_of(ended(crawl))
    assert [hint["hint"] for hint in receipt["hints"]] == ["robots"]
    assert "robots.txt forbids 10 of 10 pages." in receipt_table(receipt)
