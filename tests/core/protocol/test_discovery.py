"""A result leads to pages: links one deeper, redirect targets one hop on, limits closed at once."""

from typing import Any

import pytest

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.discovery import MAX_HOPS, Discovery, Place, discoveries, with_not_followed
from crawler.core.protocol.messages import EXTERNAL, PageResult
from crawler.core.urls.crawl_scope import Scope

START = "http://example.com/"


def found(place: Place, options: CrawlOptions | None = None, **facts: Any) -> list[Discovery]:
    options = options or CrawlOptions()
    result = PageResult(id=7, attempt=1, outcome=Outcome.SUCCESS, **facts)
    return list(discoveries(result, place, Scope.of([START], options), options))


def test_links_are_one_deeper() -> None:
    assert found(Place(2, 3), links=(f"{START}a",)) == [Discovery(f"{START}a", 3, 0, 7)]


ELSEWHERE = "http://other.example/"


def test_links_that_leave_the_site_are_recorded() -> None:
    recorded = Discovery(ELSEWHERE, 3, 0, 7, Outcome.EXTERNAL, kind=EXTERNAL)
    assert found(Place(2, 0), links=(ELSEWHERE,)) == [recorded]


def test_links_that_leave_the_site_are_left_alone_when_a_person_wants_that() -> None:
    assert found(Place(0, 0), CrawlOptions(externals="ignore"), links=(ELSEWHERE,), redirect_to=ELSEWHERE) == []


def test_links_that_leave_the_site_are_open_when_they_are_to_be_checked() -> None:
    (page,) = found(Place(0, 0), CrawlOptions(externals="check"), links=(f"{ELSEWHERE}?utm_source=x",))
    assert page == Discovery(f"{ELSEWHERE}?utm_source=x", 1, 0, 7, kind=EXTERNAL)  # asked for as it is linked to


def test_links_that_leave_the_site_are_told_of_the_deepest_pages_too() -> None:
    (page,) = found(Place(1, 0), CrawlOptions(max_depth=1, externals="check"), links=(ELSEWHERE,))
    assert page.outcome is None


def test_what_is_excluded_is_not_even_recorded() -> None:
    assert found(Place(0, 0), CrawlOptions(exclude=("other",)), links=(ELSEWHERE,)) == []


def test_an_external_link_leads_nowhere() -> None:
    assert found(Place(1, 0, EXTERNAL, ELSEWHERE), links=(f"{START}a",), redirect_to=f"{START}b") == []


def test_without_recursion_nothing_is_followed() -> None:
    options = CrawlOptions(recursive=False)
    assert found(Place(0, 0), options, links=(f"{START}a", ELSEWHERE), redirect_to=f"{START}b") == []


def test_parameters_are_dropped_from_links_and_redirects() -> None:
    pages = found(Place(0, 0), links=(f"{START}a?utm_source=x&b=1",), redirect_to=f"{START}c?gclid=1")
    assert [page.url for page in pages] == [f"{START}c", f"{START}a?b=1"]


def test_a_redirect_to_the_same_page_with_a_session_id_is_followed_as_it_is() -> None:
    (page,) = found(Place(1, 0, url=f"{START}a"), redirect_to=f"{START}a?PHPSESSID=1")
    assert page.url == f"{START}a?PHPSESSID=1"


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


def test_a_redirect_that_leaves_the_site_is_recorded() -> None:
    assert found(Place(1, 0), redirect_to=ELSEWHERE) == [Discovery(ELSEWHERE, 1, 1, 7, Outcome.EXTERNAL, kind=EXTERNAL)]


# Words against following: recorded always, obeyed by option

LINKED: dict[str, Any] = {"links": (f"{START}a", f"{START}b"), "rels": {f"{START}a": "nofollow ugc"}}


def test_the_rel_of_a_link_is_noted_on_the_page_it_leads_to() -> None:
    assert [(page.url, page.rel) for page in found(Place(0, 0), **LINKED)] == [
        (f"{START}a", "nofollow ugc"),
        (f"{START}b", ""),
    ]


def test_the_rel_of_a_link_beyond_the_depth_limit_is_noted_too() -> None:
    pages = found(Place(1, 0), CrawlOptions(max_depth=1), **LINKED)
    assert [page.rel for page in pages] == ["nofollow ugc", ""]


def test_links_with_such_a_rel_are_followed_unless_it_is_obeyed() -> None:
    pages = found(Place(0, 0), CrawlOptions(obey_nofollow=True), **LINKED)
    assert [page.url for page in pages] == [f"{START}b"]


@pytest.mark.parametrize("max_depth", [None, 1])
def test_a_nofollow_page_leads_nowhere_when_that_is_obeyed(max_depth: int | None) -> None:
    options = CrawlOptions(obey_nofollow=True, max_depth=max_depth)
    assert found(Place(1, 0), options, directives="noindex nofollow", **LINKED) == []
    assert len(found(Place(1, 0), options, directives="noindex max-snippet:nofollow", **LINKED)) == 1
    assert len(found(Place(1, 0), CrawlOptions(max_depth=max_depth), directives="nofollow", **LINKED)) == 2


def test_a_redirect_of_a_nofollow_page_is_no_link_and_is_followed() -> None:
    pages = found(Place(0, 0), CrawlOptions(obey_nofollow=True), directives="nofollow", redirect_to=f"{START}b")
    assert [page.url for page in pages] == [f"{START}b"]


@pytest.mark.parametrize(
    ("obey", "directives", "number"), [(False, "nofollow", 0), (False, "", 0), (True, "", 1), (True, "nofollow", 2)]
)
def test_the_number_of_links_left_out_is_noted_on_the_page_that_has_them(
    obey: bool, directives: str, number: int
) -> None:
    result = PageResult(id=7, attempt=1, outcome=Outcome.SUCCESS, directives=directives, not_followed=99, **LINKED)
    assert with_not_followed(result, CrawlOptions(obey_nofollow=obey)).not_followed == number


def test_a_page_that_links_to_itself_is_not_linked_by_that() -> None:
    here = Place(1, 0, url=f"{START}a")
    assert [page.url for page in found(here, links=(f"{START}a", f"{START}b"))] == [f"{START}b"]
