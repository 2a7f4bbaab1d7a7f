"""Pages that say the same, and those that say nearly the same."""

import pytest

from crawler.models import Crawl
from crawler.reports.catalogue.entries import BY_SLUG
from tests.reports.catalogue.factories import SITE, behind, crawl_with, make, paths, rows, told

pytestmark = pytest.mark.django_db
SKETCH, NEAR_IT, FAR_AWAY = bytes(8), b"\x07" + bytes(7), bytes([255]) * 8


@pytest.fixture
def crawl() -> Crawl:
    return crawl_with(near_duplicates=True)


def test_pages_with_the_same_text_are_one_group(crawl: Crawl) -> None:
    for path, digest in {"/a": b"1", "/b": b"2", "/c": b"1", "/d": b"2", "/e": b"1", "/f": b"3"}.items():
        make(crawl, path, facts={"digest": digest})
    make(crawl, "/empty", facts={"digest": b"", "words": 0})
    make(crawl, "/void", facts={"digest": b"", "words": 0})
    assert told(crawl, "duplicate-content") == [(f"{SITE}/a", 3), (f"{SITE}/b", 2)]
    assert paths(behind(crawl, "duplicate-content", 1)) == ["/b", "/d"]
    assert [row[:2] for row in rows(crawl, "duplicate-content")] == [
        (f"{SITE}/{first}", f"{SITE}/{page}") for first, page in ("aa", "ac", "ae", "bb", "bd")
    ]


def test_pages_with_sketches_near_each_other_are_one_group(crawl: Crawl) -> None:
    for path, sketch in {"/a": FAR_AWAY, "/b": SKETCH, "/c": NEAR_IT, "/short": b""}.items():
        make(crawl, path, facts={"sketch": sketch})
    assert told(crawl, "near-duplicates") == [(f"{SITE}/b", 2)]
    assert paths(behind(crawl, "near-duplicates")) == ["/b", "/c"]
    assert [row[:2] for row in rows(crawl, "near-duplicates")] == [
        (f"{SITE}/b", f"{SITE}/b"),
        (f"{SITE}/b", f"{SITE}/c"),
    ]


def test_pages_that_are_the_same_are_left_to_the_other_report(crawl: Crawl) -> None:
    make(crawl, "/a", facts={"sketch": SKETCH, "digest": b"1"})
    make(crawl, "/b", facts={"sketch": SKETCH, "digest": b"1"})
    assert told(crawl, "near-duplicates") == []


def test_a_crawl_that_made_no_sketches_says_how_to() -> None:
    report = BY_SLUG["near-duplicates"]
    assert "--near-duplicates" in report.lacking(crawl_with())
    assert report.lacking(crawl_with(near_duplicates=True)) == ""
