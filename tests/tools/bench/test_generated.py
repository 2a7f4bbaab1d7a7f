"""The generated site: the same for the same seed, of any size, and whole."""

from __future__ import annotations

import re

import pytest

from tools.bench.generated import Site

HREF = re.compile(r'href="(/[^"]*)"')


@pytest.mark.parametrize("pages", [1, 2, 9, 10, 500])
def test_every_page_can_be_reached_from_the_start_page(pages: int) -> None:
    site = Site(pages)
    found, waiting = {"/"}, ["/"]
    while waiting:
        page = site.page_at(waiting.pop())
        assert page is not None
        fresh = set(HREF.findall(site.html(page).decode())) - found
        found |= fresh
        waiting += fresh

    assert found == set(site)


def test_it_is_the_same_for_the_same_seed() -> None:
    assert Site(1000, seed=3).html(17) == Site(1000, seed=3).html(17)
    assert Site(1000, seed=3).html(17) != Site(1000, seed=4).html(17)


def test_its_pages_are_as_large_as_those_of_real_sites() -> None:
    site = Site(1_000_000)
    for page in range(0, site.pages, 9_973):
        assert 4_000 < len(site.html(page)) < 20_000
        assert 15 <= len(site.links(page)) <= 60


def test_a_path_names_one_page() -> None:
    site = Site(1_000_000)

    for page in (0, 1, 71, 999_999):
        assert site.page_at(site.path(page)) == page
    for path in ("", "/no", "/walnut/walnut-walnut-5.html", "/a-b-1000000.html", "/robots.txt", "/a-²-³.html"):
        assert site.page_at(path) is None
