"""Non-indexable pages are told with the first reason; canonical addresses with what is wrong with them."""

import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.models import Crawl
from crawler.reports.catalogue.entries import BY_SLUG
from tests.reports.catalogue.factories import SITE, behind, crawl_with, make, moved, paths, rows, told

pytestmark = pytest.mark.django_db


def named(crawl: Crawl, path: str, canonical: str, canonicals: int = 1, **more: object) -> None:
    make(crawl, path, facts={"canonical": f"{SITE}{canonical}", "canonicals": canonicals}, **more)  # type: ignore[arg-type]


@pytest.fixture
def crawl() -> Crawl:
    return crawl_with()


def test_each_reason_is_told_with_its_pages(crawl: Crawl) -> None:
    named(crawl, "/itself", "/itself")
    make(crawl, "/plain", directives="nofollow noarchive")
    named(crawl, "/copy", "/itself")
    named(crawl, "/hidden", "/itself", directives="noindex nofollow")
    make(crawl, "/error", 404, directives="noindex")
    moved(crawl, "/moved", "/plain")
    make(crawl, "/forbidden", Outcome.ROBOTS, error="robots.txt does not allow it: line 2")
    make(crawl, "/silent", Outcome.DNS, error="no such host")
    make(crawl, "/unasked", Outcome.LIMIT)
    assert [(line[0], line[1]) for line in told(crawl, "non-indexable")] == [
        ("responds with an error", 1),
        ("does not respond", 1),
        ("redirects", 1),
        ("forbidden by robots.txt", 1),
        ("marked noindex", 1),
        ("has another canonical URL", 1),
    ]
    assert behind(crawl, "non-indexable", 2) == [(f"{SITE}/moved", "301", f"{SITE}/plain")]
    assert [(row[0].removeprefix(SITE), row[3]) for row in rows(crawl, "non-indexable")] == [  # type: ignore[union-attr]
        ("/copy", f"{SITE}/itself"),
        ("/hidden", "noindex nofollow"),
        ("/error", ""),
        ("/moved", f"{SITE}/plain"),
        ("/forbidden", "robots.txt does not allow it: line 2"),
        ("/silent", "no such host"),
    ]
    assert BY_SLUG["non-indexable"].count(crawl) == 6


@pytest.mark.parametrize(
    ("target", "wrong"),
    [
        ({"answer": 200}, None),
        ({"answer": 404}, "cannot be loaded"),
        ({"answer": Outcome.TIMEOUT}, "cannot be loaded"),
        ({"answer": 301}, "a redirect"),
        ({"answer": Outcome.ROBOTS}, "robots.txt forbids"),
        ({"answer": 200, "directives": "noindex"}, "marked noindex"),
        ({"answer": Outcome.LIMIT}, None),
    ],
)
def test_a_canonical_address_must_lead_to_a_page_that_can_be_indexed(
    crawl: Crawl, target: dict[str, object], wrong: str | None
) -> None:
    named(crawl, "/copy", "/target")
    make(crawl, "/target", **target)  # type: ignore[arg-type]
    found = told(crawl, "canonical-conflicts")
    assert paths(found) == (["/copy"] if wrong else [])
    assert wrong is None or wrong in str(found[0][2])


def test_chains_loops_and_several_are_conflicts(crawl: Crawl) -> None:
    named(crawl, "/a", "/b")
    named(crawl, "/b", "/c")
    named(crawl, "/c", "/c")
    named(crawl, "/x", "/y")
    named(crawl, "/y", "/x")
    named(crawl, "/two", "/two", canonicals=2)
    named(crawl, "/abroad", "https://other.test/")
    assert [(str(line[0])[len(SITE) :], line[2]) for line in told(crawl, "canonical-conflicts")] == [
        ("/a", "The canonical page has another canonical URL"),
        ("/x", "The canonical page leads back here"),
        ("/y", "The canonical page leads back here"),
        ("/two", "Several canonical URLs"),
    ]
