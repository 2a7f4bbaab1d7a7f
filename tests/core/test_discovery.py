"""A result leads to pages: links one deeper, redirect targets one hop on, limits closed at once."""

from __future__ import annotations

from typing import Any

from crawler.core.discovery import MAX_HOPS, Discovery, Place, discoveries
from crawler.core.options import CrawlOptions
from crawler.core.outcomes import Outcome
from crawler.core.scope import Scope
from crawler.core.work import PageResult

START = "http://example.com/"


def found(place: Place, options: CrawlOptions | None = None, **facts: Any) -> list[Discovery]:
    options = options or CrawlOptions()
    result = PageResult(id=7, attempt=1, outcome=Outcome.SUCCESS, **facts)
    return list(discoveries(result, place, Scope.of([START], options), options))


def test_links_are_one_deeper() -> None:
    assert found(Place(2, 3), links=(f"{START}a",)) == [Discovery(f"{START}a", 3, 0, 7)]


def test_links_out_of_scope_are_not_pages_of_the_crawl() -> None:
    assert found(Place(0, 0), links=("http://other.example/",)) == []


def test_links_beyond_the_depth_limit_are_closed_at_once() -> None:
    (page,) = found(Place(1, 0), CrawlOptions(max_depth=1), links=(f"{START}a",))
    assert page.outcome is Outcome.LIMIT


def test_links_at_the_depth_limit_are_open() -> None:
    (page,) = found(Place(0, 0), CrawlOptions(max_depth=1), links=(f"{START}a",))
    assert page.outcome is None


def test_a_redirect_target_stands_at_the_same_depth_one_hop_on() -> None:
    assert found(Place(1, 0), CrawlOptions(max_depth=1), redirect_to=f"{START}b") == [Discovery(f"{START}b", 1, 1, 7)]


def test_the_tenth_hop_is_asked_for_and_the_eleventh_is_not() -> None:
    (tenth,) = found(Place(0, MAX_HOPS - 1), redirect_to=f"{START}b")
    (eleventh,) = found(Place(0, MAX_HOPS), redirect_to=f"{START}b")
    assert tenth.outcome is None
    assert eleventh.outcome is Outcome.TOO_MANY_REDIRECTS


def test_a_redirect_out_of_scope_leads_nowhere() -> None:
    assert found(Place(0, 0), redirect_to="http://other.example/") == []
