"""Where one can go from a page."""

from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.test import Client

from crawler.web.navigation import parts_of, places
from tests.factories import a_crawl

CRAWL = UUID(int=7)
OVERVIEW = f"/crawls/{CRAWL}/"


def here(path: str) -> list[str]:
    return [place.name for place in parts_of(CRAWL, path) if place.is_here]


def test_a_part_that_exists_is_shown_with_its_address() -> None:
    parts = {place.name: place.address for place in parts_of(CRAWL, OVERVIEW)}
    assert parts["Overview"] == OVERVIEW
    assert parts["Reports"] == f"{OVERVIEW}reports/"


@pytest.mark.parametrize(
    ("path", "part"),
    [
        (OVERVIEW, "Overview"),
        (f"{OVERVIEW}dead-letters", "Overview"),
        (f"{OVERVIEW}reports/", "Reports"),
        (f"{OVERVIEW}reports/broken-links/", "Reports"),
    ],
)
def test_a_page_lies_in_the_nearest_part(path: str, part: str) -> None:
    assert here(path) == [part]


@pytest.mark.parametrize(("path", "place"), [("/", "Crawls"), (OVERVIEW, "Crawls"), ("/schedules/", "Schedules")])
def test_a_page_lies_in_one_place(path: str, place: str) -> None:
    assert [found.name for found in places(path) if found.is_here] == [place]


def test_a_page_below_a_crawl_says_where_it_is(as_ann: Client, ann: User) -> None:
    crawl = a_crawl(ann)
    html = as_ann.get(f"/crawls/{crawl.id}/traps/").content.decode()
    assert f'<li><a href="/crawls/{crawl.id}/">example.com</a></li><li aria-current="page">Traps</li>' in html


def test_a_page_below_a_part_says_so_and_the_part_leads_back(as_ann: Client, ann: User) -> None:
    crawl = a_crawl(ann)
    html = as_ann.get(f"/crawls/{crawl.id}/reports/broken-links/").content.decode()
    back = f'<li><a href="/crawls/{crawl.id}/reports/">Reports</a></li>'
    assert f'{back}<li aria-current="page">Broken links</li>' in html


def test_the_pages_of_an_account_stand_together(as_ann: Client) -> None:
    html = as_ann.get("/account/password/").content.decode()
    assert '<li><a href="/account/">Account</a></li><li aria-current="page">Password</li>' in html
    assert '<a href="/account/tokens/">Tokens</a>' in html
